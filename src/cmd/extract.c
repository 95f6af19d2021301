/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * extract: gets the binaries out of a recording, below a folder.
 *
 *     -C DIR, binary /usr/lib/libc.so.6  ->  DIR/usr/lib/libc.so.6
 *
 * A recording may come from anywhere, so paths in it are not believed: folders
 * are made and entered one by one, none of them through a link, ".." is
 * refused, and a file that is there stays unless the user insists.  A file is
 * kept only when it has the build id that the recording says.
 */
#include "cmd/command.h"
#include "cmd/recording_file.h"
#include "present/safe.h"
#include "symbol/elf_id.h"
#include "tool/file.h"
#include "tool/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXTRACT_NAME_MAX = 256 };

struct extract {
    const char *file;
    struct wake_reader *reader;
    const char *folder;
    bool list, force;
};

static void extract_add_id(struct strbuf *out, const struct wake_binary *b)
{
    for (size_t i = 0; i < b->build_id_length; i++)
        strbuf_addf(out, "%02x", b->build_id[i]);
}

/* Whether there are any; else says why not. */
static bool extract_has_some(struct extract *x)
{
    size_t count = wake_reader_binary_count(x->reader);
    if (memory_has_failed())
        command_say(ERR_NO_MEMORY);
    else if (count == 0)
        command_say(
            "There are no binaries in this recording; 'heapwake record --embed-binaries' puts them in.");
    return count != 0 && !memory_has_failed();
}

static int extract_list(struct extract *x)
{
    struct strbuf out;
    strbuf_init(&out);
    for (size_t i = 0; i < wake_reader_binary_count(x->reader); i++) {
        const struct wake_binary *b = wake_reader_binary(x->reader, i);
        strbuf_addf(&out, "%12llu  ", (unsigned long long)b->length);
        if (b->build_id_length == 0)
            strbuf_add_char(&out, '-');
        extract_add_id(&out, b);
        strbuf_add_text(&out, "  ");
        safe_add_text(&out, b->path);
        strbuf_add_text(&out, b->is_whole ? "\n" : "  (not whole)\n");
    }
    bool done = command_print(&out);
    strbuf_release(&out);
    return done ? EXIT_DONE : EXIT_FAILED;
}

/* The next part of a path, into name; false: no more.  *path moves on. */
static bool extract_part(const char **path, char *name, bool *is_sound)
{
    const char *at = *path;
    size_t length;
    for (;;) {
        at += strspn(at, "/");
        length = strcspn(at, "/");
        if (length != 1 || at[0] != '.')
            break;
        at += length;
    }
    *path = at + length;
    *is_sound = length < EXTRACT_NAME_MAX && !(length == 2 && at[0] == '.' && at[1] == '.');
    if (*is_sound) {
        memcpy(name, at, length);
        name[length] = '\0';
    }
    return length > 0;
}

/* Makes and enters the folders of a path; the descriptor of the last, and the
 * file's own name.  -1: errno, EINVAL for a path that leads elsewhere. */
static int extract_enter(const char *folder, const char *path, char *name)
{
    char next[EXTRACT_NAME_MAX];
    bool is_sound;
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return -1;
    if (!extract_part(&path, name, &is_sound) || !is_sound)
        goto refuse;
    while (extract_part(&path, next, &is_sound)) {
        if (!is_sound)
            goto refuse;
        if (mkdirat(at, name, 0777) != 0 && errno != EEXIST)
            goto out;
        int inside = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inside < 0)
            goto out;
        close(at);
        at = inside;
        memcpy(name, next, sizeof next);
    }
    if (is_sound)
        return at;
refuse:
    errno = EINVAL;
out:;
    int error = errno;
    close(at);
    errno = error;
    return -1;
}

static int extract_write(const uint8_t *bytes, size_t length, void *context)
{
    const int *fd = context;
    int error = file_write_all(*fd, bytes, length, NULL);
    errno = -error;
    return error == 0 ? 0 : 1;
}

/* Fills a new file; false: it has been said why not. */
static bool extract_fill(struct extract *x, size_t i, int fd)
{
    const struct wake_binary *b = wake_reader_binary(x->reader, i);
    struct elf_id id;
    struct err err;
    int code = wake_reader_copy_binary(x->reader, i, extract_write, &fd, &err);
    if (code < 0)
        command_say("%s", err.text);
    else if (code > 0)
        command_say("%s cannot be written: %s.", b->path, strerror(errno));
    else if (b->build_id_length > 0 &&
             (!elf_id_read(&id, fd) || !elf_id_fits(&id, b->build_id, b->build_id_length)))
        command_say("%s in the recording does not have the build id that it should; it is left out.",
                    b->path);
    else
        return true;
    return false;
}

/* The path below the folder.  Of two binaries with one path the later has its build id behind it. */
static void extract_target(struct extract *x, size_t i, struct strbuf *path)
{
    const struct wake_binary *b = wake_reader_binary(x->reader, i);
    strbuf_add_text(path, b->path);
    for (size_t k = 0; k < i; k++) {
        if (strcmp(wake_reader_binary(x->reader, k)->path, b->path) == 0) {
            strbuf_add_char(path, '.');
            extract_add_id(path, b);
            break;
        }
    }
}

static bool extract_one(struct extract *x, size_t i)
{
    char name[EXTRACT_NAME_MAX];
    struct strbuf path;
    bool done = false;
    strbuf_init(&path);
    extract_target(x, i, &path);
    int fd = -1, folder = -1;
    errno = ENOMEM;
    if (!path.failed)
        folder = extract_enter(x->folder, strbuf_get(&path), name);
    if (folder >= 0 && x->force)
        (void)unlinkat(folder, name, 0);
    if (folder >= 0)
        fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd >= 0)
        done = extract_fill(x, i, fd);
    else if (errno == EINVAL)
        command_say("%s leads out of the folder and is left out.", strbuf_get(&path));
    else
        command_say("%s cannot be made below %s: %s%s.", strbuf_get(&path), x->folder, strerror(errno),
                    errno == EEXIST ? " (--force replaces it)" : "");
    if (fd >= 0 && !done)
        (void)unlinkat(folder, name, 0);
    file_close(fd);
    file_close(folder);
    strbuf_release(&path);
    return done;
}

static int extract_all(struct extract *x)
{
    struct strbuf out;
    bool done = true;
    size_t count = wake_reader_binary_count(x->reader);
    strbuf_init(&out);
    for (size_t i = 0; i < count; i++) {
        if (!extract_one(x, i)) {
            done = false;
            continue;
        }
        extract_target(x, i, &out);
        struct strbuf safe;
        strbuf_init(&safe);
        safe_add_text(&safe, strbuf_get(&out));
        strbuf_add_char(&safe, '\n');
        done = command_print(&safe) && done;
        strbuf_release(&safe);
        strbuf_clear(&out);
    }
    strbuf_release(&out);
    return done ? EXIT_DONE : EXIT_FAILED;
}

static int extract_take(void *options, char *word, struct err *err)
{
    struct extract *x = options;
    return command_take_recording(&command_extract, &x->file, word, err);
}

static int extract_main(const struct command *self, int argc, char **argv)
{
    struct extract x = {.folder = "."};
    struct err err;
    err_init(&err);
    if (options_parse(self, &x, argc, argv, NULL, &err) != 0 ||
        command_needs_recording(self, x.file, &err) != 0)
        return command_misused("%s", err.text);
    command_bear_limits();
    x.reader = recording_file_open(x.file);
    if (x.reader == NULL)
        return EXIT_FAILED;
    int status = !extract_has_some(&x) ? EXIT_FAILED : x.list ? extract_list(&x) : extract_all(&x);
    wake_reader_close(x.reader);
    return status;
}

static const struct option extract_options[] = {
    {.names = "-C",
     .argument = "DIR",
     .help = "below this folder (default: the current one)",
     .set = options_set_text,
     .at = offsetof(struct extract, folder)},
    {.names = "--list",
     .help = "only say what there is: length, build id, path",
     .set = options_set_flag,
     .at = offsetof(struct extract, list)},
    {.names = "--force",
     .help = "replace files that are there",
     .set = options_set_flag,
     .at = offsetof(struct extract, force)},
    {0},
};

const struct command command_extract = {
    .name = "extract",
    .summary = "get the binaries out of a recording",
    .usage = "[-C DIR] [--list] [--force] FILE",
    .options = extract_options,
    .run = extract_main,
    .take = extract_take,
};
