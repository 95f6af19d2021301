/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * gather: see gather.h.
 */
#include "query/gather.h"

#include <stdlib.h>

#include "query/ahead.h"
#include "query/cohort.h"
#include "store/numbered.h"

/* A live block. */
struct gather_block {
    uint64_t bytes; /* that it stands for */
    struct cohort *group;
};

struct gather {
    const struct filter *filter;
    struct watch *watch;
    struct cohort *groups;
    struct numbered live; /* for peaks */
    bool failed;          /* no memory */
};

bool gather_suits(const struct filter *f)
{
    return (f->checks & CHECK_GROUPS) != 0 && (f->checks & CHECK_AT_DEATH) == 0;
}

/* Counts and times of allocations. */
static int gather_births(const struct wake_block *b, void *context)
{
    struct gather *g = context;
    for (uint32_t j = 0; j < b->alloc_count; j++) {
        uint32_t i = b->alloc_at[j];
        cohort_born(&g->groups[filter_stack(g->filter, b->stack[i])], 1, b->time_ns[i]);
    }
    return watch_advance(g->watch, b->count);
}

static inline void gather_alloc(struct gather *g, const struct wake_block *b, uint32_t i)
{
    struct gather_block *block = numbered_add(&g->live, b->number[i], sizeof *block);
    if (block == NULL) {
        g->failed = true;
        return;
    }
    struct cohort *group = &g->groups[filter_stack(g->filter, b->stack[i])];
    struct weight weight = weight_of(&g->filter->process->rule, b->number[i], b->size[i]);
    *block = (struct gather_block){weight.bytes, group};
    cohort_alloc(group, weight, b->time_ns[i]);
}

static inline void gather_free(struct gather *g, uint64_t number)
{
    const struct gather_block *was = numbered_take(&g->live, number, sizeof *was);
    if (was != NULL)
        was->group->bytes -= was->bytes;
}

/* Their peaks too. */
static int gather_levels(const struct wake_block *b, void *context)
{
    struct gather *g = context;
    struct ahead ahead = {0};
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->event[i] == WAKE_ALLOC) {
            gather_alloc(g, b, i);
        } else if (b->event[i] == WAKE_FREE) {
            ahead_release(&ahead, &g->live, b, sizeof(struct gather_block));
            gather_free(g, b->number[i]);
        }
    }
    return g->failed ? ERR_MEMORY : watch_advance(g->watch, b->count);
}

int gather_run(struct filter *f, struct watch *watch, struct wake_reader *reader, uint32_t process,
               struct err *err)
{
    struct gather g = {.filter = f, .watch = watch, .groups = cohort_new(f)};
    /* Samples are followed as well: their sizes say what they stand for. */
    bool has_peaks = !range_is_whole(&f->when->group_peak) || f->process->omitted.sample_rate != 0;
    int code = ERR_MEMORY;
    numbered_init(&g.live);
    if (g.groups != NULL)
        code = wake_reader_visit_columns(reader, process, 0, UINT64_MAX,
                                         (has_peaks ? WAKE_SIZE : 0) | WAKE_STACK | WAKE_TIME,
                                         has_peaks ? gather_levels : gather_births, &g, err);
    if (code == 0)
        cohort_narrow(f, g.groups);
    if (code == ERR_MEMORY)
        err_set(err, code, "There is no memory for the live blocks of the query.");
    numbered_release(&g.live);
    free(g.groups);
    return code;
}
