/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * series_files: see series_files.h.
 */
#include "session/series_files.h"

#include "store/series.h"
#include "tool/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct series_file {
    const char *path;
    uint64_t series;
    uint32_t part;
    bool is_taken;
};

static int series_files_compare(const void *a, const void *b)
{
    const struct series_file *x = *(const struct series_file *const *)a,
                             *y = *(const struct series_file *const *)b;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* All files of the series that files[i] begins. */
static bool series_files_gather(struct series_files *p, struct series_file *files, size_t count, size_t i,
                                struct series_file **list)
{
    size_t found = 0;
    for (size_t n = i; n < count; n++) {
        bool same = n == i || (files[i].series != 0 && files[n].series == files[i].series);
        if (!same || files[n].is_taken)
            continue;
        files[n].is_taken = true;
        list[found++] = &files[n];
    }
    qsort(list, found, sizeof(struct series_file *), series_files_compare);
    bool fine = vec_push(&p->first, p->paths.count);
    for (size_t n = 0; n < found && fine; n++)
        if (n == 0 || list[n]->part != list[n - 1]->part) /* given twice */
            fine = vec_push(&p->paths, list[n]->path);
    return fine;
}

int series_files_init(struct series_files *p, const char *const *files, size_t count, struct err *err)
{
    *p = (struct series_files){0};
    struct series_file *all = memory_new_zeroed(count + 1, sizeof *all);
    struct series_file **list = memory_new_zeroed(count + 1, sizeof(struct series_file *));
    bool fine = all != NULL && list != NULL;
    for (size_t i = 0; i < count && fine; i++) {
        all[i].path = files[i];
        wake_series_find(files[i], &all[i].series, &all[i].part);
    }
    for (size_t i = 0; i < count && fine; i++)
        if (!all[i].is_taken)
            fine = series_files_gather(p, all, count, i, list);
    free(all);
    free(list);
    return fine ? 0 : err_no_memory(err);
}

void series_files_release(struct series_files *p)
{
    vec_release(&p->paths);
    vec_release(&p->first);
}

size_t series_files_count(const struct series_files *p, size_t i)
{
    return (i + 1 < p->first.count ? p->first.data[i + 1] : p->paths.count) - p->first.data[i];
}
