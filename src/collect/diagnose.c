/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * diagnose: see diagnose.h.  Reads the head of the ELF file; nothing in it is
 * trusted, and what does not make sense ends in the general sentence.
 */
#include "collect/diagnose.h"

#include "base/cursor.h"
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

enum {
    DIAGNOSE_HEAD = 16384,
    DIAGNOSE_SCRIPTS = 4,
    DIAGNOSE_DYNAMIC = 256, /* entries */
    DIAGNOSE_NAMES_MAX = 64 << 20,
};

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

static size_t diagnose_read(const char *path, uint8_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, DIAGNOSE_HEAD);
    if (fd >= 0)
        close(fd);
    return got < 0 ? 0 : (size_t)got;
}

/* The interpreter of a script replaces *path; false: it is no script. */
static bool diagnose_follow_script(const uint8_t *bytes, size_t length, struct strbuf *path)
{
    if (length < 3 || bytes[0] != '#' || bytes[1] != '!')
        return false;
    size_t at = 2;
    while (at < length && (bytes[at] == ' ' || bytes[at] == '\t'))
        at++;
    size_t end = at;
    while (end < length && bytes[end] != ' ' && bytes[end] != '\t' && bytes[end] != '\n' &&
           bytes[end] != '\0')
        end++;
    strbuf_clear(path);
    strbuf_add(path, bytes + at, end - at);
    return end > at;
}

/* Part i of a 64-bit ELF file; false: there is none, or not in these bytes. */
static bool diagnose_part(const uint8_t *bytes, size_t length, unsigned i, Elf64_Phdr *part)
{
    Elf64_Ehdr head;
    struct cursor c;
    if (length < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    if (head.e_phentsize != sizeof *part || head.e_phoff > length || i >= head.e_phnum)
        return false;
    cursor_init(&c, bytes + head.e_phoff, length - head.e_phoff);
    (void)cursor_take(&c, i * sizeof *part);
    const uint8_t *at = cursor_take(&c, sizeof *part);
    if (at != NULL)
        memcpy(part, at, sizeof *part);
    return at != NULL;
}

/* The dynamic loader named by a 64-bit ELF file; "" = none, NULL = cannot be told. */
static const char *diagnose_loader(const uint8_t *bytes, size_t length)
{
    Elf64_Phdr part;
    unsigned i = 0;
    for (; diagnose_part(bytes, length, i, &part); i++) {
        if (part.p_type != PT_INTERP)
            continue;
        if (part.p_offset > length || part.p_filesz == 0 || part.p_filesz > length - part.p_offset ||
            bytes[part.p_offset + part.p_filesz - 1] != '\0')
            return NULL;
        return (const char *)bytes + part.p_offset;
    }
    return i == 0 ? NULL : "";
}

/* -------------------------------------------------------------------- sanitizers */

/* Where in the file the memory at `address` comes from; 0: cannot be told. */
static uint64_t diagnose_offset(const uint8_t *bytes, size_t length, uint64_t address)
{
    Elf64_Phdr part;
    for (unsigned i = 0; diagnose_part(bytes, length, i, &part); i++)
        if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
            return part.p_offset + (address - part.p_vaddr);
    return 0;
}

/* The names that a program shares with its libraries: at *offset, *size bytes. */
static bool diagnose_find_names(int fd, const uint8_t *bytes, size_t length, uint64_t *offset, uint64_t *size)
{
    Elf64_Phdr part;
    Elf64_Dyn list[DIAGNOSE_DYNAMIC];
    unsigned i = 0;
    do {
        if (!diagnose_part(bytes, length, i++, &part))
            return false;
    } while (part.p_type != PT_DYNAMIC);
    size_t wanted = part.p_filesz < sizeof list ? part.p_filesz : sizeof list;
    if (pread(fd, list, wanted, (off_t)part.p_offset) != (ssize_t)wanted)
        return false;
    *offset = *size = 0;
    for (size_t k = 0; k < wanted / sizeof *list && list[k].d_tag != DT_NULL; k++) {
        if (list[k].d_tag == DT_STRTAB)
            *offset = diagnose_offset(bytes, length, list[k].d_un.d_ptr);
        if (list[k].d_tag == DT_STRSZ)
            *size = list[k].d_un.d_val;
    }
    return *offset != 0 && *size != 0 && *size <= DIAGNOSE_NAMES_MAX;
}

/* The sanitizer that a program is built with, or NULL.  It calls its start, whether the
 * runtime is a library or part of the program. */
static const char *diagnose_sanitizer(const char *path, const uint8_t *bytes, size_t length)
{
    static const struct {
        const char *start, *name;
    } list[] = {{"__asan_init", "AddressSanitizer"},
                {"__tsan_init", "ThreadSanitizer"},
                {"__msan_init", "MemorySanitizer"}};
    const char *found = NULL;
    uint64_t offset, size;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *names = NULL;
    if (fd >= 0 && diagnose_find_names(fd, bytes, length, &offset, &size))
        names = malloc(size);
    if (names != NULL && pread(fd, names, size, (off_t)offset) == (ssize_t)size)
        for (size_t i = 0; i < sizeof list / sizeof *list && found == NULL; i++)
            if (memmem(names, size, list[i].start, strlen(list[i].start) + 1) != NULL)
                found = list[i].name;
    free(names);
    if (fd >= 0)
        close(fd);
    return found;
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
    const char *sanitizer = diagnose_sanitizer(path, bytes, length);
    if (sanitizer != NULL) {
        err_set(err, ERR_UNSUPPORTED,
                "'%s' is built with %s, which wants the same calls for itself; it has run as if alone.",
                argv0, sanitizer);
        return DIAGNOSE_FOREIGN;
    }
    return DIAGNOSE_NOTHING;
}

static enum diagnose_result diagnose_look(const char *argv0, struct err *err)
{
    struct strbuf path;
    strbuf_init(&path);
    uint8_t *bytes = malloc(DIAGNOSE_HEAD);
    size_t length = 0;
    enum diagnose_result result = DIAGNOSE_NOTHING;
    diagnose_find(argv0, &path);
    for (int i = 0; bytes != NULL && i < DIAGNOSE_SCRIPTS; i++) {
        length = diagnose_read(strbuf_get(&path), bytes);
        if (!diagnose_follow_script(bytes, length, &path))
            break;
    }
    if (bytes != NULL && !path.failed)
        result = diagnose_elf(argv0, strbuf_get(&path), bytes, length, err);
    free(bytes);
    strbuf_release(&path);
    return result;
}

bool diagnose_is_foreign(const char *argv0, struct err *err)
{
    return diagnose_look(argv0, err) == DIAGNOSE_FOREIGN;
}

void diagnose_silence(const char *argv0, struct err *err)
{
    if (diagnose_look(argv0, err) == DIAGNOSE_NOTHING)
        err_set(err, ERR_SYSTEM, "The probe could not be loaded into '%s', or could not reach the collector.",
                argv0);
}
