/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * file: see file.h.
 *
 * In a folder that others may write to (/tmp), a name can be a trap: a link to
 * a file of ours, or a file made beforehand to be read by somebody else.  So a
 * new file is made under an unused name with O_EXCL and mode 0600, and rename
 * puts it in place: rename acts on the name itself and follows nothing.
 */
#include "tool/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/memory.h"
#include "tool/strbuf.h"

int file_code(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return ERR_FULL;
    case ENOENT:
    case ENOTDIR:
        return ERR_ABSENT;
    case ENOMEM:
        return ERR_MEMORY;
    default:
        return ERR_IO;
    }
}

/* Moves fd above the standard three; -1 with errno when that fails. */
static int file_lift(int fd)
{
    if (fd < 0 || fd > 2)
        return fd;
    int lifted = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int saved = errno;
    close(fd);
    errno = saved;
    return lifted;
}

/* "folder/.name.XXXXXX" for path; NULL: no memory. */
static char *file_temp_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    struct strbuf temp;
    strbuf_init(&temp);
    strbuf_add(&temp, path, (size_t)(name - path));
    /* A name may be 255 bytes long: of a long one, the beginning will do. */
    strbuf_addf(&temp, ".%.200s.XXXXXX", name);
    return strbuf_detach(&temp);
}

/* Does this link lead to the descriptors of whoever looks? */
static bool file_is_descriptor(const char *path)
{
    static const char place[] = "/proc/";
    char target[sizeof place];
    return readlink(path, target, sizeof target) == sizeof target &&
           memcmp(target, place, sizeof place - 1) == 0;
}

int file_new_check(const char *path, struct err *err)
{
    struct stat st;
    if (path[0] == '\0')
        return err_set(err, ERR_USAGE, "The name of the file to write is empty.");
    if (lstat(path, &st) != 0)
        return 0;
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_INPUT, "%s is a directory; a file name is needed.", path);
    /* A link is replaced, not followed: but not one that stands for a device or, as /dev/stdout does, for a
     * descriptor, whatever that may be just now. */
    if (S_ISLNK(st.st_mode) && !file_is_descriptor(path) && stat(path, &st) != 0)
        return 0;
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "%s is not a regular file and is not replaced by one.", path);
    return 0;
}

int file_new_open(struct file_new *f, const char *path, struct err *err)
{
    *f = (struct file_new){.fd = -1};
    int code = file_new_check(path, err);
    if (code != 0)
        return code;
    f->path = memory_copy_text(path);
    f->temp = file_temp_name(path);
    if (f->path == NULL || f->temp == NULL) {
        code = err_no_memory(err);
        goto out;
    }
    f->fd = file_lift(mkostemp(f->temp, O_CLOEXEC));
    if (f->fd < 0) {
        code = err_set(err, file_code(errno), "%s cannot be created: %s.", path, strerror(errno));
        goto out;
    }
    return 0;
out:
    free(f->path);
    free(f->temp);
    *f = (struct file_new){.fd = -1};
    return code;
}

int file_new_open_readable(struct file_new *f, const char *path, struct err *err)
{
    int code = file_new_open(f, path, err);
    if (code != 0)
        return code;
    mode_t mask = umask(S_IRWXG | S_IRWXO); /* there is no way to read it alone */
    umask(mask);
    (void)fchmod(f->fd, 0666 & ~mask); /* file systems without modes have none to give */
    return 0;
}

int file_new_publish(struct file_new *f, struct err *err)
{
    if (f->temp == NULL)
        return 0;
    if (rename(f->temp, f->path) != 0)
        return err_set(err, file_code(errno), "%s cannot be created: %s.", f->path, strerror(errno));
    free(f->temp);
    f->temp = NULL;
    return 0;
}

int file_new_close(struct file_new *f, struct err *err)
{
    int code = 0;
    if (f->fd >= 0 && close(f->fd) != 0 && errno != EINTR)
        code = err_set(err, file_code(errno), "%s cannot be closed: %s.", f->path, strerror(errno));
    if (f->temp != NULL)
        unlink(f->temp);
    free(f->temp);
    free(f->path);
    *f = (struct file_new){.fd = -1};
    return code;
}

static const char *file_type_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    default:
        return "not a regular file";
    }
}

int file_open(int *fd, uint64_t *size, const char *path, struct err *err)
{
    /* Looked at first: opening a device can have effects of its own. */
    struct stat st;
    *fd = -1;
    *size = 0;
    if (path[0] == '\0')
        return err_set(err, ERR_INPUT, "The name of the file to read is empty.");
    if (stat(path, &st) != 0)
        return err_set(err, file_code(errno), "%s cannot be opened: %s.", path, strerror(errno));
    if (S_ISREG(st.st_mode)) {
        /* O_NONBLOCK: it may have become a FIFO meanwhile. */
        *fd = file_lift(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
        if (*fd < 0 || fstat(*fd, &st) != 0) {
            int code = errno == EMFILE ? err_set(err, ERR_IO,
                                                 "%s cannot be opened: more files are open than 'ulimit -n' "
                                                 "allows; raise that, or take fewer at once.",
                                                 path)
                                       : err_set(err, file_code(errno), "%s cannot be opened: %s.", path,
                                                 strerror(errno));
            file_close(*fd);
            *fd = -1;
            return code;
        }
    }
    if (!S_ISREG(st.st_mode)) {
        file_close(*fd);
        *fd = -1;
        return err_set(err, ERR_INPUT, "%s is %s; a file is needed.", path, file_type_name(st.st_mode));
    }
    *size = (uint64_t)st.st_size;
    return 0;
}

void file_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

int file_write_all(int fd, const void *bytes, size_t length, size_t *written)
{
    const char *at = bytes;
    size_t done = 0;
    int error = 0;
    while (done < length) {
        ssize_t n = write(fd, at + done, length - done);
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            error = n == 0 ? -ENOSPC : -errno;
            break;
        }
    }
    if (written != NULL)
        *written = done;
    return error;
}

int file_read_at(int fd, void *bytes, size_t length, uint64_t offset, size_t *got)
{
    char *to = bytes;
    *got = 0;
    while (*got < length) {
        ssize_t n = pread(fd, to + *got, length - *got, (off_t)(offset + *got));
        if (n == 0)
            return 0;
        if (n > 0)
            *got += (size_t)n;
        else if (errno != EINTR)
            return -errno;
    }
    return 0;
}

/* Reads on until the end, with room that doubles. */
static int file_read_on(int fd, char **text, size_t *length, size_t most)
{
    size_t room = 4096;
    *text = NULL;
    *length = 0;
    for (;;) {
        size_t got, want = room < most + 1 ? room : most + 1;
        char *moved = memory_resize(*text, want + 1);
        if (moved == NULL)
            return -ENOMEM;
        *text = moved;
        int error = file_read_at(fd, *text + *length, want - *length, *length, &got);
        *length += got;
        (*text)[*length] = '\0';
        if (error != 0 || *length < want || want > most)
            return error;
        room *= 2;
    }
}

int file_read_text(char **text, size_t *length, const char *path, size_t most, struct err *err)
{
    int fd;
    uint64_t size;
    *text = NULL;
    int code = file_open(&fd, &size, path, err);
    if (code != 0)
        return code;
    int error = file_read_on(fd, text, length, most);
    file_close(fd);
    if (error == -ENOMEM)
        code = err_no_memory(err);
    else if (error != 0)
        code = err_set(err, file_code(-error), "%s cannot be read: %s.", path, strerror(-error));
    else if (*length > most)
        code = err_set(err, ERR_LIMIT, "%s is too large: more than %zu bytes.", path, most);
    if (code != 0) {
        free(*text);
        *text = NULL;
    }
    return code;
}

bool file_is_of_a_process(const char *path, size_t length)
{
    static const char *const folders[] = {"/proc/", "/dev/fd/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t part = strlen(folders[i]);
        if (length >= part && memcmp(path, folders[i], part) == 0)
            return true;
    }
    return false;
}
