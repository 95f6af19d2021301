/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * scope: see scope.h.
 */
#include "symbol/scope.h"

#include <string.h>

/* All that is ever spent on finding scopes in one file. */
static const uint64_t SCOPE_BYTES = UINT64_C(8) << 20;

/* Where the children begin, in bytes from the beginning of the unit, in order. */
struct scope_children {
    size_t count;
    uint32_t at[];
};

void scopes_init(struct scopes *s)
{
    *s = (struct scopes){0};
    die_limits_init(&s->limits, SCOPE_BYTES);
    arena_init(&s->arena);
    map_init(&s->children);
}

void scopes_release(struct scopes *s)
{
    map_release(&s->children);
    arena_release(&s->arena);
    vec_release(&s->found);
}

void scopes_forget(struct scopes *s)
{
    map_release(&s->children);
    arena_release(&s->arena);
}

static const struct scope_children *scopes_children(struct scopes *s, Dwarf_Die *parent, Dwarf_Off unit)
{
    Dwarf_Die child;
    const uint64_t *known = map_find(&s->children, (uintptr_t)parent->addr);
    if (known != NULL)
        return (const struct scope_children *)(uintptr_t)*known;
    s->found.count = 0;
    if (die_child(&s->limits, parent, &child)) {
        do {
            Dwarf_Off at = dwarf_dieoffset(&child) - unit;
            if (at > UINT32_MAX || !vec_push(&s->found, (uint32_t)at))
                return NULL;
        } while (die_next(&s->limits, &child));
    }
    size_t bytes = s->found.count * sizeof s->found.data[0];
    struct scope_children *list = arena_push(&s->arena, sizeof *list + bytes);
    if (list == NULL || !map_set(&s->children, (uintptr_t)parent->addr, (uintptr_t)list))
        return NULL;
    list->count = s->found.count;
    if (bytes > 0)
        memcpy(list->at, s->found.data, bytes);
    return list;
}

size_t scopes_find(struct scopes *s, Dwarf_Die *unit, Dwarf_Die *entry, Dwarf_Die *around)
{
    Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
    Dwarf_Off start = dwarf_dieoffset(unit), wanted = dwarf_dieoffset(entry) - start;
    Dwarf_Die parent = *unit;
    size_t depth = 0;
    while (depth < SCOPE_DEPTH_MAX) {
        const struct scope_children *list = scopes_children(s, &parent, start);
        size_t begin = 0, end = list != NULL ? list->count : 0;
        while (begin < end) {
            size_t middle = begin + (end - begin) / 2;
            if (list->at[middle] <= wanted)
                begin = middle + 1;
            else
                end = middle;
        }
        if (begin == 0 || list->at[begin - 1] == wanted ||
            dwarf_offdie(dwarf, start + list->at[begin - 1], &parent) == NULL)
            break;
        around[depth++] = parent;
    }
    return depth;
}
