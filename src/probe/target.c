/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * target: reads the first bytes of a file. A file that cannot be read or makes
 * no sense is not foreign: then exec itself will say what is wrong.
 */
#include "probe/target.h"

#include "probe/arch.h"
#include "probe/memory.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

enum { TARGET_HEAD = 1024, TARGET_INTERPRETER = 128 };

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

/* The loader that an ELF file names, into `name`; false when it names none. */
static bool target_loader(int fd, const char *head, size_t length, char *name)
{
    const Elf64_Ehdr *ehdr = (const void *)head;
    const Elf64_Phdr *phdr = (const void *)(head + ehdr->e_phoff);
    if (ehdr->e_phoff > length || ehdr->e_phentsize != sizeof *phdr)
        return false;
    for (unsigned i = 0; i < ehdr->e_phnum && (const char *)(phdr + i + 1) <= head + length; i++) {
        if (phdr[i].p_type != PT_INTERP)
            continue;
        long n = sys_pread(fd, name, TARGET_INTERPRETER - 1, (long)phdr[i].p_offset);
        if (sys_failed(n))
            return false;
        name[n] = '\0';
        return true;
    }
    return false;
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
                     (target_loader((int)fd, head, length, name) && target_contains(name, "musl"));
    }
    sys_close((int)fd);
    return is_foreign;
}

bool target_is_foreign(const char *path)
{
    char name[TARGET_INTERPRETER];
    bool is_script;
    if (path == NULL)
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
    for (const char *path = target_search_path(); length > 0;) {
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
