/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * modmap: see modmap.h.
 *
 *     entries by start:   [a......]   [b..]  [b'.]   [c.........]
 *     reach:                 |a.end     |b.end |...     |c.end
 *
 * A lookup starts at the last entry that begins at or before the address and
 * goes back while an earlier one can still reach it.
 */
#include "collect/modmap.h"

#include <stdlib.h>

void modmap_init(struct modmap *m)
{
    *m = (struct modmap){0};
}

void modmap_release(struct modmap *m)
{
    vec_release(&m->entries);
}

bool modmap_add(struct modmap *m, uint64_t start, uint64_t end, uint64_t generation, uint32_t number)
{
    struct modmap_entry e = {start, end, generation, 0, number};
    m->dirty = true;
    return vec_push(&m->entries, e);
}

static int modmap_compare(const void *a, const void *b)
{
    const struct modmap_entry *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void modmap_sort(struct modmap *m)
{
    uint64_t reach = 0;
    qsort(m->entries.data, m->entries.count, sizeof *m->entries.data, modmap_compare);
    for (size_t i = 0; i < m->entries.count; i++) {
        if (m->entries.data[i].end > reach)
            reach = m->entries.data[i].end;
        m->entries.data[i].reach = reach;
    }
    m->dirty = false;
}

uint32_t modmap_find(struct modmap *m, uint64_t address, uint64_t generation)
{
    if (m->dirty)
        modmap_sort(m);
    size_t low = 0, high = m->entries.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->entries.data[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct modmap_entry *best = NULL;
    while (low-- > 0) {
        const struct modmap_entry *e = &m->entries.data[low];
        if (e->reach <= address)
            break;
        if (address < e->end && e->generation <= generation &&
            (best == NULL || e->generation > best->generation ||
             (e->generation == best->generation && e->number > best->number)))
            best = e;
    }
    return best == NULL ? 0 : best->number;
}
