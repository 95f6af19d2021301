/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * target: reads the first bytes of a file, unless a sandbox may forbid that. A file that cannot be read or makes
 * no sense is not foreign: then exec itself will say what is wrong.
 */
#include "probe/target.h"

#include "base/digits.h"
#include "probe/arch.h"
#include "probe/life.h"
#include "probe/memory.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    TARGET_HEAD = 256,
    TARGET_INTERPRETER = 128,
    TARGET_SEGMENTS_MAX = 256,
    TARGET_ENTRIES_MAX = 1024, /* of the dynamic section */
    TARGET_ENTRIES = 16,       /* read at a time */
    TARGET_LIBRARY = 128,      /* as much of a library's name as tells */
};

static bool target_contains(const char *text, const char *part)
{
    for (; *text != '\0'; text++) {
        unsigned i = 0;
        while (part[i] != '\0' && text[i] == part[i])
            i++;
        if (part[i] == '\0')
            return true;
    }
    return false;
}

bool target_names_runtime(const char *libraries)
{
    static const char *const runtimes[] = {"libasan.so",       "libhwasan.so",       "libtsan.so",
                                           "liblsan.so",       "libclang_rt.asan",   "libclang_rt.hwasan",
                                           "libclang_rt.tsan", "libclang_rt.memprof"};
    for (unsigned i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
        if (target_contains(libraries, runtimes[i]))
            return true;
    }
    return false;
}

/* Up to room - 1 bytes from there on, as a string. */
static bool target_read_text(int fd, uint64_t offset, char *text, size_t room)
{
    long n = offset > INT64_MAX ? -1 : sys_pread(fd, text, room - 1, (long)offset);
    text[sys_failed(n) ? 0 : n] = '\0';
    return !sys_failed(n);
}

/* The first segment of that type which holds the address (any, for 0). */
static bool target_segment(int fd, const Elf64_Ehdr *ehdr, uint32_t type, uint64_t address, Elf64_Phdr *found)
{
    if (ehdr->e_phoff > INT64_MAX / 2 || ehdr->e_phentsize != sizeof *found)
        return false;
    for (unsigned i = 0; i < ehdr->e_phnum && i < TARGET_SEGMENTS_MAX; i++) {
        if (sys_pread(fd, found, sizeof *found, (long)(ehdr->e_phoff + i * sizeof *found)) !=
            (long)sizeof *found)
            return false;
        if (found->p_type == type &&
            (address == 0 || (address >= found->p_vaddr && address - found->p_vaddr < found->p_filesz)))
            return true;
    }
    return false;
}

/* One look through the dynamic section.  With `address`: finds where the names of libraries will
 * be.  Without: whether one of those that are needed is a runtime; `names` is where names are in the file. */
static bool target_dynamic(int fd, const Elf64_Phdr *dynamic, uint64_t *address, uint64_t names)
{
    Elf64_Dyn entry[TARGET_ENTRIES];
    char library[TARGET_LIBRARY];
    for (unsigned i = 0; i < TARGET_ENTRIES_MAX && (i + 1) * sizeof *entry <= dynamic->p_filesz; i++) {
        if (i % TARGET_ENTRIES == 0) {
            memory_zero(entry, sizeof entry); /* DT_NULL, where the file ends */
            if (dynamic->p_offset > INT64_MAX / 2 ||
                sys_failed(sys_pread(fd, entry, sizeof entry, (long)(dynamic->p_offset + i * sizeof *entry))))
                return false;
        }
        const Elf64_Dyn *e = &entry[i % TARGET_ENTRIES];
        if (e->d_tag == DT_NULL)
            return false;
        if (e->d_tag == DT_STRTAB && address != NULL) {
            *address = e->d_un.d_ptr;
            return true;
        }
        if (e->d_tag == DT_NEEDED && address == NULL && e->d_un.d_val <= INT64_MAX / 2 &&
            target_read_text(fd, names + e->d_un.d_val, library, sizeof library) &&
            target_names_runtime(library))
            return true;
    }
    return false;
}

/* A runtime that is a library refuses to stand behind another, or crashes there.  One that is part of
 * the program stands in front of us whatever we do, and is left alone. */
static bool target_needs_runtime(int fd, const Elf64_Ehdr *ehdr)
{
    Elf64_Phdr dynamic, load;
    uint64_t address = 0;
    return target_segment(fd, ehdr, PT_DYNAMIC, 0, &dynamic) && target_dynamic(fd, &dynamic, &address, 0) &&
           address != 0 && target_segment(fd, ehdr, PT_LOAD, address, &load) &&
           load.p_offset <= INT64_MAX / 4 &&
           target_dynamic(fd, &dynamic, NULL, load.p_offset + (address - load.p_vaddr));
}

/* Whether the file names a loader that has musl in its name. */
static bool target_is_musl(int fd, const Elf64_Ehdr *ehdr)
{
    Elf64_Phdr interpreter;
    char name[TARGET_INTERPRETER];
    return target_segment(fd, ehdr, PT_INTERP, 0, &interpreter) &&
           target_read_text(fd, interpreter.p_offset, name, sizeof name) && target_contains(name, "musl");
}

/* "#! /bin/sh -e" names /bin/sh. */
static bool target_interpreter(const char *head, size_t length, char *name)
{
    size_t at = 2, n = 0;
    while (at < length && (head[at] == ' ' || head[at] == '\t'))
        at++;
    while (at < length && n + 1 < TARGET_INTERPRETER && head[at] > ' ')
        name[n++] = head[at++];
    name[n] = '\0';
    return n > 0;
}

/* A script's interpreter goes to name, which may be path itself. */
static bool target_look(const char *path, char *name, bool *is_script)
{
    _Alignas(Elf64_Ehdr) char head[TARGET_HEAD];
    bool is_foreign = false;
    *is_script = false;
    long fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (sys_failed(fd))
        return false;
    long n = sys_pread((int)fd, head, sizeof head, 0);
    size_t length = sys_failed(n) ? 0 : (size_t)n;
    const Elf64_Ehdr *ehdr = (const void *)head;
    if (length >= 2 && head[0] == '#' && head[1] == '!') {
        *is_script = target_interpreter(head, length, name);
    } else if (length >= sizeof *ehdr && head[0] == 0x7f && head[1] == 'E' && head[2] == 'L' &&
               head[3] == 'F') {
        is_foreign = head[EI_CLASS] != ELFCLASS64 || ehdr->e_machine != ARCH_ELF_MACHINE ||
                     target_is_musl((int)fd, ehdr) || target_needs_runtime((int)fd, ehdr);
    }
    sys_close((int)fd);
    return is_foreign;
}

const char *target_of_descriptor(int fd, char room[TARGET_PATH_MAX])
{
    static const char folder[] = "/proc/self/fd/";
    if (fd < 0)
        return NULL;
    memory_copy(room, folder, sizeof folder - 1);
    *digits_put(room + sizeof folder - 1, (uint64_t)fd) = '\0';
    return room;
}

bool target_is_foreign(const char *path)
{
    char name[TARGET_INTERPRETER];
    bool is_script;
    if (path == NULL || life_is_caged())
        return false;
    bool is_foreign = target_look(path, name, &is_script);
    return is_script ? target_look(name, name, &is_script) : is_foreign;
}

/* The value of PATH as it is now, which is what the real exec will look at. */
static const char *target_search_path(void)
{
    for (char *const *e = environ; e != NULL && *e != NULL; e++) {
        const char *t = *e;
        if (t[0] == 'P' && t[1] == 'A' && t[2] == 'T' && t[3] == 'H' && t[4] == '=')
            return t + 5;
    }
    return "/bin:/usr/bin";
}

const char *target_find(const char *file, char room[TARGET_PATH_MAX])
{
    size_t length = file == NULL ? 0 : memory_string_length(file);
    for (size_t i = 0; i < length; i++) {
        if (file[i] == '/')
            return file;
    }
    for (const char *path = target_search_path(); length > 0 && !life_is_caged();) {
        size_t folder = 0;
        while (path[folder] != ':' && path[folder] != '\0')
            folder++;
        if (folder + length + 2 <= TARGET_PATH_MAX) {
            memory_copy(room, path, folder);
            room[folder] = '/';
            memory_copy(room + (folder == 0 ? 0 : folder + 1), file, length + 1);
            if (!sys_failed(SYS_CALL(SYS_faccessat, -100 /* AT_FDCWD */, room, 1 /* X_OK */, 0, 0, 0)))
                return room;
        }
        if (path[folder] == '\0')
            break;
        path += folder + 1;
    }
    return NULL;
}
