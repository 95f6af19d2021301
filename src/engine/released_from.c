/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * released_from: see released_from.h.
 */
#include "engine/released_from.h"

#include <stdlib.h>

#include "engine/pattern.h"
#include "tool/memory.h"
#include "wire/record.h"

struct released_from {
    struct filter *filter;
    struct watch *watch;
    uint8_t *allowed;     /* by number of the stack */
    struct bitset moving; /* released by realloc, and not yet continued */
};

int released_from_allow(const struct filter *f, uint32_t process, uint8_t **allowed, struct err *err)
{
    const struct query_filter *q = &f->query->filter;
    *allowed = memory_new(f->stack_count);
    if (*allowed == NULL)
        return err_no_memory(err);
    filter_name_stacks(*allowed, f->stack_count, q->freeing_stacks.data, q->freeing_stacks.count,
                       q->not_freeing_stacks.data, q->not_freeing_stacks.count);
    return pattern_narrow(f->query, q->freeing_patterns.data, q->freeing_patterns.count, f->process, process,
                          *allowed, f->stack_count, err);
}

/* A block was released from a stack.  False: no memory. */
static bool released_from_from(struct released_from *r, uint64_t number, uint32_t stack)
{
    struct filter *f = r->filter;
    stack = filter_stack(f, stack);
    f->releases_without_stack += stack == 0;
    return stack == 0 || !r->allowed[stack] || bitset_set(&f->released, number);
}

static int released_from_events(const struct wake_block *b, void *context)
{
    struct released_from *r = context;
    bool fine = true;
    for (uint32_t i = 0; i < b->count && fine; i++) {
        if (b->event[i] == WAKE_FREE) {
            bool is_moving = b->stack[i] == 0 && b->detail[i] == HOW_REALLOC;
            r->filter->releases_without_stack += is_moving;
            fine = is_moving ? bitset_set(&r->moving, b->number[i])
                             : released_from_from(r, b->number[i], b->stack[i]);
        } else if (b->event[i] == WAKE_ALLOC && b->previous[i] != 0 &&
                   bitset_take(&r->moving, b->previous[i] - 1)) {
            r->filter->releases_without_stack--;
            fine = released_from_from(r, b->previous[i] - 1, b->stack[i]);
        }
    }
    return fine ? watch_advance(r->watch, b->count) : ERR_MEMORY;
}

int released_from_run(struct filter *f, struct watch *watch, struct wake_reader *reader, uint32_t process,
                      struct err *err)
{
    struct released_from r = {.filter = f, .watch = watch};
    if ((f->checks & CHECK_RELEASE) == 0)
        return 0;
    bitset_init(&r.moving);
    int code = released_from_allow(f, process, &r.allowed, err);
    if (code == 0) {
        watch->total += f->process->events;
        code = wake_reader_visit_columns(reader, process, 0, UINT64_MAX,
                                         WAKE_STACK | WAKE_FREE_STACK | WAKE_PREVIOUS, released_from_events,
                                         &r, err);
        if (code == ERR_MEMORY)
            err_no_memory(err);
    }
    bitset_release(&r.moving);
    free(r.allowed);
    return code;
}
