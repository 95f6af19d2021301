/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * environment: see environment.h.
 */
#include "probe/environment.h"

#include "probe/memory.h"
#include "probe/real.h"

#include <elf.h>

enum {
    ENVIRONMENT_KEPT = 64, /* variables; there are not half as many that mean anything */
    ENVIRONMENT_TEXTS = 8192,
};

static char *const *environment_argv(void)
{
    return real.stack_end == NULL ? NULL : (char *const *)(real.stack_end + 1);
}

static long environment_argc(void)
{
    return real.stack_end == NULL ? 0 : (long)(intptr_t)real.stack_end[0];
}

static char *const *environment_list(void)
{
    char *const *argv = environment_argv();
    return argv == NULL ? NULL : argv + environment_argc() + 1;
}

/* What stands behind "name=", if that is what the variable begins with. */
static const char *environment_value(const char *variable, const char *name)
{
    while (*name != '\0' && *variable == *name) {
        variable++;
        name++;
    }
    return *name == '\0' && *variable == '=' ? variable + 1 : NULL;
}

static bool environment_is_ours(const char *variable)
{
    const char *ours = "HEAPWAKE_";
    while (*ours != '\0' && *variable == *ours) {
        variable++;
        ours++;
    }
    return *ours == '\0';
}

/* Ours, with a NULL behind the last.  Copies, as far as there is room: programs write their titles over the first ones. */
static const char *environment_kept[ENVIRONMENT_KEPT + 1];
static char environment_texts[ENVIRONMENT_TEXTS];
static bool environment_is_kept;

bool environment_is_trusted(void)
{
    return environment_auxiliary(AT_SECURE) == 0;
}

void environment_keep(void)
{
    char *const *list = environment_is_trusted() ? environment_list() : NULL;
    size_t count = 0, used = 0;
    for (; list != NULL && *list != NULL && count < ENVIRONMENT_KEPT; list++) {
        if (!environment_is_ours(*list))
            continue;
        size_t length = memory_string_length(*list) + 1;
        bool fits = length <= sizeof environment_texts - used;
        environment_kept[count++] = fits ? environment_texts + used : *list;
        if (fits)
            memory_copy(environment_texts + used, *list, length);
        used += fits ? length : 0;
    }
    __atomic_store_n(&environment_is_kept, true, __ATOMIC_RELEASE);
}

const char *environment_find(const char *name)
{
    bool is_kept = __atomic_load_n(&environment_is_kept, __ATOMIC_ACQUIRE) && environment_is_ours(name);
    const char *const *list = is_kept                    ? environment_kept
                              : environment_is_trusted() ? (const char *const *)environment_list()
                                                         : NULL;
    const char *value = NULL;
    for (; list != NULL && *list != NULL && value == NULL; list++)
        value = environment_value(*list, name);
    return value;
}

bool environment_is(const char *name, const char *value)
{
    const char *text = environment_find(name);
    if (text == NULL)
        return false;
    while (*text != '\0' && *text == *value) {
        text++;
        value++;
    }
    return *text == *value;
}

/* Digits up to `unit`, which is what follows them; false: none, or too many. */
static bool environment_digits(const char *text, uint64_t *value, const char **unit)
{
    const char *from = text;
    *value = 0;
    for (; text != NULL && *text >= '0' && *text <= '9'; text++) {
        if (*value > UINT64_MAX / 16)
            return false;
        *value = *value * 10 + (uint64_t)(*text - '0');
    }
    *unit = text;
    return text != from;
}

uint64_t environment_number(const char *name, uint64_t low, uint64_t high, uint64_t otherwise)
{
    uint64_t value;
    const char *unit;
    if (!environment_digits(environment_find(name), &value, &unit) || *unit != '\0')
        return otherwise;
    return value >= low && value <= high ? value : otherwise;
}

uint64_t environment_size(const char *name, uint64_t low, uint64_t high, uint64_t otherwise)
{
    static const char units[] = "KMGT";
    uint64_t value;
    const char *unit;
    if (!environment_digits(environment_find(name), &value, &unit))
        return otherwise;
    unsigned shift = 0;
    for (unsigned i = 0; units[i] != '\0' && *unit != '\0'; i++) {
        if ((*unit & ~0x20) == units[i])
            shift = 10 * (i + 1);
    }
    if ((*unit != '\0') != (shift != 0) || (shift != 0 && unit[1] != '\0') || value > UINT64_MAX >> shift)
        return otherwise;
    value <<= shift;
    return value >= low && value <= high ? value : otherwise;
}

size_t environment_arguments(char *to, size_t room, int *is_cut)
{
    char *const *argv = environment_argv();
    size_t used = 0;
    *is_cut = 0;
    for (; argv != NULL && *argv != NULL; argv++) {
        size_t length = memory_string_length(*argv) + 1;
        if (length > room - used) {
            *is_cut = 1;
            break;
        }
        memory_copy(to + used, *argv, length);
        used += length;
    }
    return used;
}

uint64_t environment_auxiliary(uint64_t type)
{
    char *const *list = environment_list();
    if (list == NULL)
        return 0;
    while (*list != NULL)
        list++;
    while (*list == NULL) /* one, and one more for each variable that was taken out */
        list++;
    for (const Elf64_auxv_t *aux = (const void *)list; aux->a_type != AT_NULL; aux++) {
        if (aux->a_type == type)
            return aux->a_un.a_val;
    }
    return 0;
}

static char environment_path[2048]; /* empty: as the kernel has it */

const char *environment_exe(void)
{
    const char *path = (const char *)(uintptr_t)environment_auxiliary(AT_EXECFN);
    if (environment_path[0] != '\0')
        return environment_path;
    return path != NULL ? path : "";
}

void environment_place_exe(void)
{
    const char *name = environment_exe();
    if (name[0] == '/' || name[0] == '\0')
        return;
    while (name[0] == '.' && name[1] == '/') {
        name += 2;
        while (name[0] == '/')
            name++;
    }
    long folder = SYS_CALL(SYS_getcwd, environment_path, sizeof environment_path, 0, 0, 0, 0);
    size_t used = folder == sizeof "/" ? 0 : (size_t)folder - 1, length = memory_string_length(name);
    bool is_known = !sys_failed(folder) && folder > 1 && environment_path[0] == '/';
    if (!is_known || used + 1 + length >= sizeof environment_path) {
        environment_path[0] = '\0';
        return;
    }
    environment_path[used] = '/';
    memory_copy(environment_path + used + 1, name, length + 1);
}
