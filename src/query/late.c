/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * late: see late.h.
 */
#include "query/late.h"

#include "query/ahead.h"
#include "query/histogram.h"
#include "store/weight.h"

/* A live block that passes the conditions at birth. */
struct late_block {
    uint64_t size, slack;
    uint64_t born_ns;
    uint32_t row;
    uint32_t slot, made;    /* as in struct scan_dated */
    uint32_t group : 31;    /* in the ridge */
    uint32_t is_leaked : 1; /* as the file has it */
};

bool late_suits(const struct query *q, const struct filter *f)
{
    return q->ticks == 0 && (f->checks & CHECK_AT_DEATH) != 0 &&
           (f->checks & (CHECK_CHAIN | CHECK_GROUPS)) == 0;
}

/* -------------------------------------------------------------------- counting */

static void late_count_birth(struct late *l, struct tally_row *r, const struct late_block *b,
                             struct weight weight)
{
    if (r->allocated_blocks == 0 || b->born_ns < r->first_ns)
        r->first_ns = b->born_ns;
    if (r->allocated_blocks == 0 || b->born_ns > r->last_ns)
        r->last_ns = b->born_ns;
    r->allocated_blocks += weight.blocks;
    r->allocated_bytes += weight.bytes;
    r->slack_bytes += b->slack * weight.blocks;
    if ((l->query->want & WANT_HISTOGRAMS) != 0)
        histogram_add(&l->result->sizes, b->size, weight.blocks, weight.bytes);
}

static void late_count_death(struct late *l, struct tally_row *r, uint32_t row, const struct fate *fate,
                             struct weight weight)
{
    uint64_t lifetime = fate->died_ns - fate->born_ns;
    tally_lived(r, lifetime);
    r->freed_blocks += weight.blocks;
    r->freed_bytes += weight.bytes;
    if (fate->temporary) {
        r->temporary_blocks += weight.blocks;
        r->temporary_bytes += weight.bytes;
    }
    if ((l->query->want & WANT_HISTOGRAMS) != 0)
        histogram_add(&l->result->lifetimes, lifetime, weight.blocks, weight.bytes);
    if ((l->query->want & WANT_MEDIAN) != 0)
        medians_add(&l->medians, row, lifetime);
}

static void late_count(struct late *l, const struct late_block *b, uint64_t number, const struct fate *fate)
{
    const struct when *w = l->when;
    struct tally_row *r = &l->tally.rows.data[b->row];
    struct weight weight = weight_of(&l->rule, number, b->size);
    bool born_inside = range_has(&w->window, fate->born_ns);
    if (born_inside)
        late_count_birth(l, r, b, weight);
    if (fate->freed && range_has(&w->window, fate->died_ns))
        late_count_death(l, r, b->row, fate, weight);
    if (fate->born_ns <= w->moment && !(fate->freed && fate->died_ns <= w->moment)) {
        r->noted_blocks += weight.blocks;
        r->noted_bytes += weight.bytes;
    }
    if (b->is_leaked && born_inside) {
        r->leaked_blocks += weight.blocks;
        r->leaked_bytes += weight.bytes;
    }
    if (b->group != RIDGE_NONE && !(fate->freed && fate->died_ns < w->window.min))
        ridge_count(&l->ridge, b->group, b->row, weight, fate->born_ns,
                    !fate->freed || fate->died_ns > w->window.max);
}

/* A block that is born: what it is to the peak. */
static uint32_t late_group(struct late *l, uint64_t number, uint64_t born_ns, uint64_t size)
{
    const struct query_range *window = &l->when->window;
    if (l->query->sums_only || born_ns > window->max)
        return RIDGE_NONE;
    uint64_t bytes = weight_of(&l->rule, number, size).bytes;
    return born_ns < window->min ? ridge_birth_before(&l->ridge, bytes) : ridge_birth(&l->ridge, bytes);
}

static void late_decide(struct late *l, const struct late_block *b, uint64_t number, const struct fate *fate)
{
    if (filter_fate(l->filter, fate))
        late_count(l, b, number, fate);
    if (b->group != RIDGE_NONE)
        ridge_drop(&l->ridge, b->group);
}

/* --------------------------------------------------------------------- events */

static void late_alloc(struct late *l, const struct wake_block *b, uint32_t i)
{
    uint32_t slot = slots_get(&l->slots, b->thread[i]);
    uint32_t made = ++l->slots.all.data[slot].made;
    if (!l->pass[i])
        return;
    uint32_t row = tally_find(&l->tally, filter_stack(l->filter, b->stack[i]), b->thread[i], b->detail[i]);
    struct late_block *block = row == TALLY_NONE ? NULL : numbered_add(&l->live, b->number[i], sizeof *block);
    if (block == NULL) {
        l->failed = true;
        return;
    }
    uint64_t size = b->size[i];
    while (*l->leaked < b->number[i])
        l->leaked++;
    bool has_slack = (l->query->want & WANT_DETAIL) != 0 && b->usable[i] > size;
    *block = (struct late_block){.size = size,
                                 .slack = has_slack ? b->usable[i] - size : 0,
                                 .born_ns = b->time_ns[i],
                                 .row = row,
                                 .slot = slot,
                                 .made = made,
                                 .group = late_group(l, b->number[i], b->time_ns[i], size),
                                 .is_leaked = *l->leaked == b->number[i]};
}

static void late_free(struct late *l, const struct wake_block *b, uint32_t i)
{
    const struct late_block *was = numbered_take(&l->live, b->number[i], sizeof *was);
    if (was == NULL)
        return;
    const struct query *q = l->query;
    uint32_t slot = slots_get(&l->slots, b->thread[i]);
    const struct slot *freer = &l->slots.all.data[slot];
    uint64_t now = b->time_ns[i];
    bool is_soon = q->temporary_ns != 0
                       ? now - was->born_ns <= q->temporary_ns
                       : freer->made - was->made < q->temporary_allocations && l->filter->knows_order;
    const struct fate fate = {
        .born_ns = was->born_ns,
        .died_ns = now,
        .freed = true,
        .temporary = was->slot == slot && is_soon,
        .by_wanted_thread = freer->may_free,
    };
    late_decide(l, was, b->number[i], &fate);
}

static int late_events(const struct wake_block *b, void *context)
{
    struct late *l = context;
    filter_flag_births(l->filter, &l->slots, b, l->pass);
    struct ahead ahead = {0};
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->event[i] == WAKE_ALLOC) {
            late_alloc(l, b, i);
        } else if (b->event[i] == WAKE_FREE) {
            ahead_release(&ahead, &l->live, b, sizeof(struct late_block));
            late_free(l, b, i);
        }
    }
    l->seen_ns = b->time_ns[b->count - 1];
    l->failed = l->failed || l->slots.failed || l->ridge.failed;
    if (l->ridge.is_over && !l->failed)
        return LATE_OVER;
    return l->failed ? ERR_MEMORY : watch_advance(l->watch, b->count);
}

/* Blocks that nobody freed. */
static void late_rest(struct late *l)
{
    const struct late_block *block;
    uint64_t number;
    for (struct numbered_walk at = {0};
         (block = numbered_next(&l->live, &at, &number, sizeof *block)) != NULL;) {
        const struct fate fate = {.born_ns = block->born_ns};
        late_decide(l, block, number, &fate);
    }
}

int late_run(struct late *l, const struct query *q, const struct when *w, struct filter *f,
             struct watch *watch, struct wake_reader *reader, uint32_t process, struct query_result *result,
             struct err *err)
{
    unsigned columns = WAKE_TIME | WAKE_SIZE | WAKE_STACK | WAKE_THREAD | filter_columns(f);
    *l = (struct late){.query = q,
                       .when = w,
                       .filter = f,
                       .result = result,
                       .watch = watch,
                       .leaked = f->leaked.data,
                       .rule = f->process->rule};
    numbered_init(&l->live);
    medians_init(&l->medians);
    filter_restart(f);
    int code = ERR_MEMORY;
    if (slots_init(&l->slots, q, wake_reader_process(reader, process)) &&
        tally_init(&l->tally, q->split, f->stack_count) && ridge_init(&l->ridge, &l->tally, w->window.min))
        code = wake_reader_visit_columns(reader, process, 0, UINT64_MAX,
                                         (q->want & WANT_DETAIL) != 0 ? columns | WAKE_USABLE : columns,
                                         late_events, l, err);
    if (code == 0)
        late_rest(l);
    if (code == ERR_MEMORY || l->failed || l->ridge.failed)
        return err_set(err, ERR_MEMORY, "There is no memory for the live blocks of the query.");
    if (code < 0 || code == LATE_OVER)
        return code;
    ridge_finish(&l->ridge);
    return 0;
}

void late_release(struct late *l)
{
    numbered_release(&l->live);
    medians_release(&l->medians);
    slots_release(&l->slots);
    tally_release(&l->tally);
    ridge_release(&l->ridge);
}
