/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * follow: see follow.h.
 */
#include "engine/follow.h"

#include <stdlib.h>

#include "engine/bitset.h"
#include "engine/fate_pass.h"
#include "engine/filter.h"
#include "engine/in_mapping.h"
#include "engine/is_mmapped.h"
#include "engine/pairing.h"
#include "engine/released_from.h"
#include "engine/stack_group.h"
#include "engine/watch.h"
#include "engine/when.h"
#include "store/weight.h"
#include "tool/memory.h"
#include "tool/vec.h"

struct follow {
    struct filter *filter;
    struct bitset *chosen; /* what conditions at death decided; NULL: there are none */
    struct watch *watch;
    int code; /* what a call gave that ends it all */
    const struct follow_calls *calls;
    void *context;
    unsigned columns;
    struct pairing blocks; /* struct follow_block */
    bool is_open;          /* the window has begun */
    uint64_t open_ns;
    const uint64_t *leaked; /* in the filter's list: not below the latest number */
    uint8_t pass[WAKE_BLOCK_MAX];
};

/* ------------------------------------------------------------- live blocks */

typedef VEC(uint64_t) follow_numbers;

static int follow_compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool follow_list_live(const struct follow *f, follow_numbers *numbers)
{
    uint64_t number;
    if (!vec_reserve(numbers, numbered_count(&f->blocks.live) + 1))
        return false;
    for (struct numbered_walk at = {0};
         numbered_next(&f->blocks.live, &at, &number, sizeof(struct follow_block)) != NULL;)
        numbers->data[numbers->count++] = number;
    qsort(numbers->data, numbers->count, sizeof *numbers->data, follow_compare);
    return true;
}

/* All that are live now: as allocations before the window, or as what is left. */
static int follow_tell_live(struct follow *f, bool as_left)
{
    follow_numbers numbers = {0};
    int code = follow_list_live(f, &numbers) ? 0 : ERR_MEMORY;
    for (size_t i = 0; i < numbers.count && code == 0; i++) {
        struct follow_block *b = numbered_find(&f->blocks.live, numbers.data[i], sizeof *b);
        if (b != NULL)
            code = as_left ? f->calls->left(f->context, b) : f->calls->alloc(f->context, b, true);
    }
    vec_release(&numbers);
    return code;
}

static int follow_open(struct follow *f)
{
    f->is_open = true;
    return numbered_count(&f->blocks.live) > 0 ? follow_tell_live(f, false) : 0;
}

/* ------------------------------------------------------------------ events */

/* A call may give anything: what is not 0 ends the reading. */
static int follow_note(struct follow *f, int code)
{
    f->code = code;
    return code == 0 ? 0 : ERR_LIMIT;
}

static int follow_each(void *context, const struct wake_block *b, uint32_t i)
{
    struct follow *f = context;
    return f->is_open || b->time_ns[i] < f->open_ns ? 0 : follow_note(f, follow_open(f));
}

static int follow_birth(void *context, const struct wake_block *b, uint32_t i, void *entry)
{
    struct follow *f = context;
    struct follow_block *block = entry;
    uint64_t number = b->number[i];
    if (!f->pass[i] || (f->chosen != NULL && !bitset_has(f->chosen, number)))
        return 0;
    while (*f->leaked < number)
        f->leaked++;
    struct weight weight = weight_of(&f->filter->process->rule, number, b->size[i]);
    *block = (struct follow_block){
        .number = number,
        .blocks = weight.blocks,
        .bytes = weight.bytes,
        .born_ns = b->time_ns[i],
        .size = b->size[i],
        .usable = b->usable[i],
        .address = b->address[i],
        .previous = b->previous[i],
        .stack = filter_stack(f->filter, b->stack[i]),
        .thread = b->thread[i],
        .kind = b->detail[i],
        .is_leaked = *f->leaked == number,
    };
    int code = f->is_open ? follow_note(f, f->calls->alloc(f->context, block, false)) : 0;
    return code == 0 ? PAIRING_KEEP : code;
}

static int follow_death(void *context, const struct wake_block *b, uint32_t i, const void *entry)
{
    struct follow *f = context;
    const struct follow_end end = {b->time_ns[i], b->thread[i], b->detail[i]};
    return entry == NULL || !f->is_open ? 0 : follow_note(f, f->calls->release(f->context, entry, &end));
}

static int follow_events(const struct wake_block *b, void *context)
{
    struct follow *f = context;
    filter_flag(b, f->pass);
    int code = pairing_visit(b, &f->blocks);
    return f->code != 0 ? f->code : code;
}

/* --------------------------------------------------------------------- run */

static int follow_read(struct follow *f, const struct when *w, struct wake_reader *reader, uint32_t process,
                       struct err *err)
{
    pairing_init(&f->blocks, sizeof(struct follow_block), follow_birth, follow_death, f);
    f->blocks.each = follow_each;
    f->blocks.watch = f->watch;
    f->code = 0;
    f->leaked = f->filter->leaked.data;
    f->open_ns = w->window.min;
    int code = f->calls->begin != NULL ? f->calls->begin(f->context, process) : 0;
    /* Of what it had nothing may be left in the window. */
    bool is_gone = when_is_gone(w, f->filter->process, w->window.min);
    if (code == 0 && !is_gone)
        code = filter_visit(f->filter, reader, process, w->window.max, WAKE_TIME | f->columns, follow_events,
                            f, err);
    if (code == 0 && !is_gone && !f->is_open)
        code = follow_open(f);
    if (code == 0 && !is_gone && f->calls->left != NULL)
        code = follow_tell_live(f, true);
    pairing_release(&f->blocks);
    return code;
}

static int follow_process(struct follow *f, const struct query *q, const struct when *w,
                          struct wake_reader *reader, uint32_t process, struct err *err)
{
    struct filter filter;
    struct bitset chosen;
    bitset_init(&chosen);
    int code = filter_init(&filter, q, w, reader, process, err);
    if (code == 0)
        code = is_mmapped_check(&filter, f->watch, reader, process, err);
    if (code == 0)
        code = released_from_run(&filter, f->watch, reader, process, err);
    if (code == 0)
        code = in_mapping_run(&filter, f->watch, reader, process, err);
    if (code == 0 && wake_reader_totals_agree(reader, process))
        stack_group_count(&filter);
    if (code == 0 && fate_pass_is_needed(&filter))
        code = fate_pass_run(&filter, &chosen, f->watch, reader, process, err);
    f->filter = &filter;
    f->chosen = (filter.checks & CHECK_AT_DEATH) != 0 ? &chosen : NULL;
    f->is_open = false;
    if (code == 0)
        code = follow_read(f, w, reader, process, err);
    filter_release(&filter);
    bitset_release(&chosen);
    return code;
}

int follow_run(const struct query *q, struct wake_reader *reader, uint32_t process, unsigned columns,
               const struct follow_calls *calls, void *context, struct err *err)
{
    struct when when = {0};
    struct watch watch = {.query = q};
    struct follow *f = memory_new_zeroed(1, sizeof *f);
    int code = f == NULL ? ERR_MEMORY : query_suits_blocks(q, err);
    if (code == 0)
        code = when_resolve(&when, q, reader, err);
    for (size_t i = 0; i < when.processes.count && code == 0; i++)
        if (process == FOLLOW_ALL || process == when.processes.data[i])
            watch.total += wake_reader_process(reader, when.processes.data[i])->events;
    for (size_t i = 0; i < when.processes.count && code == 0; i++) {
        if (process != FOLLOW_ALL && process != when.processes.data[i])
            continue;
        f->watch = &watch;
        f->calls = calls;
        f->context = context;
        f->columns = columns;
        code = follow_process(f, q, &when, reader, when.processes.data[i], err);
    }
    when_release(&when);
    free(f);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    return watch.interrupted ? 0 : code;
}
