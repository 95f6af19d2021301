/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * diagnose: see diagnose.h.  Reads the head of the ELF file; nothing in it is
 * trusted, and what does not make sense ends in the general sentence.
 */
#include "collect/diagnose.h"

#include "base/cursor.h"
#include "collect/sanitizer.h"
#include "collect/script.h"
#include "tool/memory.h"
#include "tool/strbuf.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIAGNOSE_HEAD = 16384 };

static bool diagnose_is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The path of argv0 as execvp would find it; "" = not found. */
static void diagnose_find(const char *argv0, struct strbuf *path)
{
    strbuf_clear(path);
    if (strchr(argv0, '/') != NULL) {
        strbuf_add_text(path, argv0);
        return;
    }
    const char *list = getenv("PATH");
    list = list == NULL ? "/bin:/usr/bin" : list;
    for (;;) {
        size_t length = strcspn(list, ":");
        strbuf_clear(path);
        if (length == 0)
            strbuf_add_char(path, '.');
        strbuf_add(path, list, length);
        strbuf_add_char(path, '/');
        strbuf_add_text(path, argv0);
        if (diagnose_is_program(strbuf_get(path)))
            return;
        if (list[length] == '\0')
            break;
        list += length + 1;
    }
    strbuf_clear(path);
}

bool diagnose_has_program(const char *argv0)
{
    struct strbuf path;
    strbuf_init(&path);
    diagnose_find(argv0, &path);
    bool found = path.length > 0 && !path.failed && diagnose_is_program(strbuf_get(&path));
    strbuf_release(&path);
    return found;
}

static size_t diagnose_read(const char *path, uint8_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, DIAGNOSE_HEAD);
    if (fd >= 0)
        close(fd);
    return got < 0 ? 0 : (size_t)got;
}

/* The program headers of a 64-bit ELF file, how many; 0: they cannot be told. */
static unsigned diagnose_list_parts(struct cursor *c, const uint8_t *bytes, size_t length)
{
    Elf64_Ehdr head;
    if (length < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > length)
        return 0;
    cursor_init(c, bytes + head.e_phoff, length - head.e_phoff);
    return head.e_phnum;
}

static bool diagnose_take_part(struct cursor *c, Elf64_Phdr *part)
{
    const uint8_t *at = cursor_take(c, sizeof *part);
    if (at != NULL)
        memcpy(part, at, sizeof *part);
    return at != NULL;
}

/* Has it the note that Go's linker puts into every program? */
static bool diagnose_is_go(const uint8_t *bytes, size_t length)
{
    static const char note[] = "\4\0\0\0Go\0"; /* the type of the note, then its name */
    struct cursor c;
    Elf64_Phdr part;
    for (unsigned i = diagnose_list_parts(&c, bytes, length); i > 0 && diagnose_take_part(&c, &part); i--) {
        if (part.p_type != PT_NOTE || part.p_offset >= length)
            continue;
        size_t left = length - part.p_offset, size = part.p_filesz < left ? part.p_filesz : left;
        if (memmem(bytes + part.p_offset, size, note, sizeof note) != NULL)
            return true;
    }
    return false;
}

/* The dynamic loader named by a 64-bit ELF file; "" = none, NULL = cannot be told. */
static const char *diagnose_loader(const uint8_t *bytes, size_t length)
{
    struct cursor c;
    unsigned count = diagnose_list_parts(&c, bytes, length);
    if (count == 0)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        Elf64_Phdr part;
        if (!diagnose_take_part(&c, &part))
            return NULL;
        if (part.p_type != PT_INTERP)
            continue;
        if (part.p_offset > length || part.p_filesz == 0 || part.p_filesz > length - part.p_offset ||
            bytes[part.p_offset + part.p_filesz - 1] != '\0')
            return NULL;
        return (const char *)bytes + part.p_offset;
    }
    return "";
}

enum diagnose_result { DIAGNOSE_NOTHING, DIAGNOSE_HARMLESS, DIAGNOSE_FOREIGN };

static enum diagnose_result diagnose_elf(const char *argv0, const char *path, const uint8_t *bytes,
                                         size_t length, struct err *err)
{
    struct stat st;
    if (length < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return DIAGNOSE_NOTHING;
    if (bytes[EI_CLASS] != ELFCLASS64) {
        err_set(err, ERR_UNSUPPORTED, "'%s' is a 32-bit program; the probe is for 64-bit ones.", argv0);
        return DIAGNOSE_FOREIGN;
    }
    const char *loader = diagnose_loader(bytes, length);
    if (loader != NULL && strstr(loader, "ld-musl") != NULL) {
        err_set(err, ERR_UNSUPPORTED, "'%s' uses the musl C library; the probe needs glibc.", argv0);
        return DIAGNOSE_FOREIGN;
    }
    if (loader != NULL && loader[0] == '\0' && diagnose_is_go(bytes, length)) {
        err_set(err, ERR_UNSUPPORTED,
                "'%s' is a Go program, which has an allocator of its own; 'heapwake import' reads the heap "
                "profiles that Go's runtime/pprof writes.",
                argv0);
        return DIAGNOSE_HARMLESS;
    }
    if (loader != NULL && loader[0] == '\0') {
        err_set(err, ERR_UNSUPPORTED,
                "'%s' is statically linked, so the probe cannot be preloaded into it; it can be linked in, "
                "with @heapwake.ld.",
                argv0);
        return DIAGNOSE_HARMLESS;
    }
    if (stat(path, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)) != 0) {
        err_set(err, ERR_UNSUPPORTED,
                "'%s' is set-user-ID or set-group-ID, so the system does not load the probe into it.", argv0);
        return DIAGNOSE_HARMLESS;
    }
    return DIAGNOSE_NOTHING;
}

/* The file that is executed in the end; its head goes to bytes (room for DIAGNOSE_HEAD). */
static size_t diagnose_resolve(const char *argv0, struct strbuf *path, uint8_t *bytes)
{
    size_t length = 0;
    diagnose_find(argv0, path);
    for (int i = 0; i < SCRIPT_DEPTH; i++) {
        length = diagnose_read(strbuf_get(path), bytes);
        if (!script_follow(bytes, length, path))
            break;
    }
    return length;
}

static enum diagnose_result diagnose_look(const char *argv0, struct err *err)
{
    struct strbuf path;
    strbuf_init(&path);
    uint8_t *bytes = memory_new(DIAGNOSE_HEAD);
    enum diagnose_result result = DIAGNOSE_NOTHING;
    if (bytes != NULL) {
        size_t length = diagnose_resolve(argv0, &path, bytes);
        if (!path.failed)
            result = diagnose_elf(argv0, strbuf_get(&path), bytes, length, err);
    }
    free(bytes);
    strbuf_release(&path);
    return result;
}

bool diagnose_is_sanitized(const char *argv0, struct err *err)
{
    struct strbuf path;
    strbuf_init(&path);
    uint8_t *bytes = memory_new(DIAGNOSE_HEAD);
    const char *sanitizer = NULL;
    if (bytes != NULL && diagnose_resolve(argv0, &path, bytes) != 0 && !path.failed) {
        int fd = open(strbuf_get(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        sanitizer = fd < 0 ? NULL : sanitizer_find(fd);
        if (fd >= 0)
            close(fd);
    }
    free(bytes);
    strbuf_release(&path);
    if (sanitizer != NULL)
        err_set(err, ERR_UNSUPPORTED,
                "'%s' is built with %s, which has an allocator of its own; build it without to record it.",
                argv0, sanitizer);
    return sanitizer != NULL;
}

bool diagnose_is_foreign(const char *argv0, struct err *err)
{
    return diagnose_look(argv0, err) == DIAGNOSE_FOREIGN;
}

void diagnose_silence(const char *argv0, struct err *err)
{
    if (diagnose_look(argv0, err) == DIAGNOSE_NOTHING)
        err_set(err, ERR_SYSTEM,
                "'%s' ended before its first allocation, or the probe was not loaded or found no collector.",
                argv0);
}
