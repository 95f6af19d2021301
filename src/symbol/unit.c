/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unit: see unit.h.
 *
 * C and C++ put the functions of a unit below the unit itself or below its
 * namespaces, so that is where we look first, and skip everything else unread.
 * An address that is not found there may be in a function inside a function or a
 * class (nested functions of GNU C, Ada, D, Fortran), so before we give up we
 * read the whole unit, once.
 */
#include "symbol/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

void unit_init(struct unit *u, const Dwarf_Die *die, struct halves *halves)
{
    *u = (struct unit){.die = *die, .body = *die, .halves = halves};
}

void unit_release(struct unit *u)
{
    for (size_t i = 0; i < u->functions.count; i++)
        function_release(&u->functions.data[i]);
    vec_release(&u->functions);
    spans_release(&u->spans);
    linerows_release(&u->rows);
    half_close(&u->half, u->halves);
}

void unit_forget(struct unit *u)
{
    bool says_where = u->says_where;
    unit_release(u);
    unit_init(u, &u->die, u->halves);
    u->says_where = says_where;
}

/* ------------------------------------------------------------------- functions */

static void unit_add_function(struct unit *u, struct die_limits *l, Dwarf_Die *die)
{
    size_t index = u->functions.count;
    if (index < SPAN_NONE && vec_reserve(&u->functions, index + 1) &&
        die_add_ranges(l, die, &u->spans, (uint32_t)index))
        function_init(&u->functions.data[u->functions.count++], die);
}

static void unit_walk(struct unit *u, struct die_limits *l, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die child;
    if (depth > DIE_DEPTH_MAX || !die_child(l, parent, &child))
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram)
            unit_add_function(u, l, &child);
        if (u->state == UNIT_DEEP || tag == DW_TAG_namespace || tag == DW_TAG_module)
            unit_walk(u, l, &child, depth + 1);
    } while (die_next(l, &child));
}

/* The file that the unit names as its other half (-gsplit-dwarf).  False: it names none. */
static bool unit_get_half(struct unit *u, char *path, size_t size)
{
    const char *name = die_text(&u->die, DW_AT_dwo_name);
    if (name == NULL)
        name = die_text(&u->die, DW_AT_GNU_dwo_name);
    if (name == NULL)
        return false;
    const char *folder = die_text(&u->die, DW_AT_comp_dir);
    if (name[0] == '/' || folder == NULL)
        snprintf(path, size, "%s", name);
    else
        snprintf(path, size, "%s/%s", folder, name);
    return true;
}

/* libdw opens that file without asking what it is; a pipe would keep us waiting. */
static bool unit_is_split(struct unit *u)
{
    struct stat there;
    char path[UNIT_PATH_MAX];
    return unit_get_half(u, path, sizeof path) && (stat(path, &there) != 0 || S_ISREG(there.st_mode));
}

bool unit_lacks_half(struct unit *u, char *path, size_t size)
{
    struct stat there;
    uint64_t id;
    return half_get_id(&u->die, &id) && unit_get_half(u, path, size) && stat(path, &there) != 0 &&
           !halves_has(u->halves, id);
}

/* What libdw finds itself is not looked for in a package of ours. */
static void unit_begin(struct unit *u, struct die_limits *l)
{
    Dwarf_Die body;
    uint64_t id;
    if (!half_get_id(&u->die, &id))
        return;
    bool is_found = unit_is_split(u) &&
                    dwarf_cu_info(u->die.cu, NULL, NULL, NULL, &body, NULL, NULL, NULL) == 0 &&
                    dwarf_tag(&body) == DW_TAG_compile_unit;
    if (!is_found && !half_open(&u->half, u->halves, &u->die, &body))
        return;
    die_limits_add(l, u->half.bytes);
    (void)dwarf_new_oom_handler(dwarf_cu_getdwarf(body.cu), u->halves->no_memory);
    u->body = body;
}

static void unit_walk_as(struct unit *u, struct die_limits *l, enum unit_state state)
{
    for (size_t i = 0; i < u->functions.count; i++)
        function_release(&u->functions.data[i]);
    u->functions.count = 0;
    u->spans.list.count = 0;
    u->state = state;
    u->is_learnt = false;
    unit_walk(u, l, &u->body, 0);
    spans_seal(&u->spans);
}

void unit_read(struct unit *u, struct die_limits *l)
{
    if (u->state == UNIT_NEW)
        unit_begin(u, l);
    if (u->state != UNIT_DEEP)
        unit_walk_as(u, l, UNIT_DEEP);
}

struct function *unit_find(struct unit *u, struct die_limits *l, uint64_t address)
{
    if (u->state == UNIT_NEW) {
        unit_begin(u, l);
        unit_walk_as(u, l, UNIT_SHALLOW);
    }
    uint32_t index = spans_find(&u->spans, address);
    if (index == SPAN_NONE && u->state == UNIT_SHALLOW) {
        unit_walk_as(u, l, UNIT_DEEP);
        index = spans_find(&u->spans, address);
    }
    return index != SPAN_NONE ? &u->functions.data[index] : NULL;
}

/* ----------------------------------------------------------------------- lines */

/* Are rows of code that the linker has dropped in the table? */
static bool unit_has_dropped_rows(struct unit *u, const struct die_limits *l)
{
    Dwarf_Lines *lines;
    Dwarf_Addr first;
    size_t count;
    return dwarf_getsrclines(&u->die, &lines, &count) == 0 && count > 0 &&
           dwarf_lineaddr(dwarf_onesrcline(lines, 0), &first) == 0 && first < l->text_low;
}

/* Where libdw would confuse the rows of the code with others. */
static bool unit_find_row(struct unit *u, struct die_limits *l, uint64_t address, const char **file,
                          uint32_t *line)
{
    Dwarf_Files *files;
    size_t count;
    if (!u->has_rows)
        linerows_read(&u->rows, u->halves->program, &u->die, l);
    u->has_rows = true;
    const struct linerow *row = linerows_find(&u->rows, address);
    if (row == NULL || dwarf_getsrcfiles(&u->die, &files, &count) != 0 || row->file >= count)
        return false;
    const char *path = dwarf_filesrc(files, row->file, NULL, NULL);
    if (path == NULL)
        return false;
    *file = path;
    *line = row->line <= INT32_MAX ? row->line : 0;
    return true;
}

bool unit_find_line(struct unit *u, struct die_limits *l, uint64_t address, const char **file, uint32_t *line)
{
    int number;
    if (unit_has_dropped_rows(u, l))
        return unit_find_row(u, l, address, file, line);
    Dwarf_Line *row = dwarf_getsrc_die(&u->die, address);
    if (row == NULL)
        return false;
    const char *path = dwarf_linesrc(row, NULL, NULL);
    if (path == NULL) /* the table names a file that it does not have */
        return false;
    *file = path;
    *line = dwarf_lineno(row, &number) == 0 && number > 0 ? (uint32_t)number : 0;
    return true;
}
