/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * parts: see parts.h.
 */
#include "cmd/parts.h"

#include "store/series.h"
#include "tool/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct parts_file {
    const char *path;
    uint64_t series;
    uint32_t part;
    bool is_taken;
};

static int parts_compare(const void *a, const void *b)
{
    const struct parts_file *x = *(const struct parts_file *const *)a,
                            *y = *(const struct parts_file *const *)b;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* All files of the series that files[i] begins. */
static bool parts_gather(struct parts *p, struct parts_file *files, size_t count, size_t i,
                         struct parts_file **list)
{
    size_t found = 0;
    for (size_t n = i; n < count; n++) {
        bool same = n == i || (files[i].series != 0 && files[n].series == files[i].series);
        if (!same || files[n].is_taken)
            continue;
        files[n].is_taken = true;
        list[found++] = &files[n];
    }
    qsort(list, found, sizeof(struct parts_file *), parts_compare);
    bool fine = vec_push(&p->first, p->paths.count);
    for (size_t n = 0; n < found && fine; n++)
        if (n == 0 || list[n]->part != list[n - 1]->part) /* given twice */
            fine = vec_push(&p->paths, list[n]->path);
    return fine;
}

int parts_init(struct parts *p, const char *const *files, size_t count, struct err *err)
{
    *p = (struct parts){0};
    struct parts_file *all = memory_new_zeroed(count + 1, sizeof *all);
    struct parts_file **list = memory_new_zeroed(count + 1, sizeof(struct parts_file *));
    bool fine = all != NULL && list != NULL;
    for (size_t i = 0; i < count && fine; i++) {
        all[i].path = files[i];
        wake_series_find(files[i], &all[i].series, &all[i].part);
    }
    for (size_t i = 0; i < count && fine; i++)
        if (!all[i].is_taken)
            fine = parts_gather(p, all, count, i, list);
    free(all);
    free(list);
    return fine ? 0 : err_set(err, ERR_MEMORY, "There is no memory for the recordings.");
}

void parts_release(struct parts *p)
{
    vec_release(&p->paths);
    vec_release(&p->first);
}

size_t parts_count(const struct parts *p, size_t i)
{
    return (i + 1 < p->first.count ? p->first.data[i + 1] : p->paths.count) - p->first.data[i];
}
