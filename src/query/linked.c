/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * linked: see linked.h.
 */
#include "query/linked.h"

#include "query/ahead.h"
#include "query/chain.h"
#include "store/numbered.h"
#include "wire/record.h"

/* A live block: four fill a line of the cache. */
struct linked_block {
    uint64_t born_ns;
    uint32_t size;       /* of a chain of its own; larger ones are in a chain from their birth on */
    uint32_t chain : 31; /* CHAIN_NONE: so far it is one of its own */
    uint32_t passes : 1; /* at birth */
};

/* What is asked of a block that is a chain of its own and was freed: by the chain and by the block at once. */
struct linked_single {
    bool may_pass;
    bool has_more;                           /* than is here */
    struct query_range lifetime, died, size; /* never empty, see may_pass */
};

/* The loop over events is compiled twice, with sizes and without. */
#define LINKED_INLINE inline __attribute__((always_inline))

struct linked {
    struct filter *filter;
    struct bitset *chosen;
    struct watch *watch;
    struct numbered live;
    struct slots slots;
    struct chains chains;
    struct linked_single single;
    bool has_sizes; /* the size column is read */
    bool failed;    /* no memory */
    uint8_t pass[WAKE_BLOCK_MAX];
};

bool linked_suits(const struct filter *f)
{
    return (f->checks & CHECK_CHAIN) != 0 &&
           (f->checks & (CHECK_GROUPS | CHECK_TEMPORARY | CHECK_FREER)) == 0;
}

/* A block that continues a chain, or is too large to be kept. */
static __attribute__((noinline)) uint32_t linked_join(struct linked *l, const struct wake_block *b,
                                                      uint32_t i, uint64_t size)
{
    uint32_t chain = chains_add(&l->chains, b->number[i], b->previous[i], size, b->time_ns[i]);
    l->failed = l->failed || chain == CHAIN_NONE;
    return chain;
}

static LINKED_INLINE void linked_alloc(struct linked *l, const struct wake_block *b, uint32_t i,
                                       bool has_sizes)
{
    struct linked_block *block = numbered_add(&l->live, b->number[i], sizeof *block);
    if (block == NULL) {
        l->failed = true;
        return;
    }
    uint64_t size = has_sizes ? b->size[i] : 0;
    bool joins = b->previous[i] != 0 || size > UINT32_MAX;
    *block =
        (struct linked_block){.born_ns = b->time_ns[i],
                              .size = (uint32_t)size,
                              .chain = __builtin_expect(joins, 0) ? linked_join(l, b, i, size) : CHAIN_NONE,
                              .passes = l->pass[i]};
}

/* The link of a chain dies, or a block with which one begins. */
static __attribute__((noinline)) void linked_end(struct linked *l, const struct linked_block *was,
                                                 const struct wake_block *b, uint32_t i)
{
    const struct fate fate = {.born_ns = was->born_ns, .died_ns = b->time_ns[i], .freed = true};
    bool passes = was->passes && filter_fate(l->filter, &fate);
    if (!chains_end_link(&l->chains, was->chain, b->number[i], was->size, passes, &fate,
                         b->detail[i] == HOW_REALLOC))
        l->failed = true;
}

/* Conditions that a single has no range for. */
static __attribute__((noinline)) bool linked_has_fate(const struct linked *l, uint64_t born_ns,
                                                      uint64_t died_ns)
{
    return filter_fate(l->filter, &(struct fate){.born_ns = born_ns, .died_ns = died_ns, .freed = true});
}

static LINKED_INLINE bool linked_is_in(const struct query_range *range, uint64_t value)
{
    return value - range->min <= range->max - range->min;
}

/* one: that of l. */
static LINKED_INLINE void linked_free(struct linked *l, const struct linked_single *one,
                                      const struct wake_block *b, uint32_t i, bool has_sizes)
{
    const struct linked_block *was = numbered_take(&l->live, b->number[i], sizeof *was);
    if (was == NULL)
        return;
    if (__builtin_expect(was->chain != CHAIN_NONE || b->detail[i] == HOW_REALLOC, 0)) {
        linked_end(l, was, b, i);
        return;
    }
    uint64_t born_ns = was->born_ns, died_ns = b->time_ns[i];
    bool passes = one->may_pass && was->passes && linked_is_in(&one->lifetime, died_ns - born_ns) &&
                  linked_is_in(&one->died, died_ns) && (!has_sizes || linked_is_in(&one->size, was->size)) &&
                  (!one->has_more || linked_has_fate(l, born_ns, died_ns));
    if (passes && !bitset_set(l->chosen, b->number[i]))
        l->failed = true;
}

/* In order: where a realloc continues a chain, the release before it has to be known. */
static LINKED_INLINE void linked_events(struct linked *l, const struct wake_block *b, bool has_sizes)
{
    const struct linked_single one = l->single; /* stays in registers */
    struct ahead ahead = {0};
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->event[i] == WAKE_ALLOC) {
            linked_alloc(l, b, i, has_sizes);
        } else if (b->event[i] == WAKE_FREE) {
            ahead_release(&ahead, &l->live, b, sizeof(struct linked_block));
            linked_free(l, &one, b, i, has_sizes);
        }
    }
}

/* Where none does, births apart from releases: query/pairs.c has the reason. */
static LINKED_INLINE void linked_apart(struct linked *l, const struct wake_block *b, bool has_sizes)
{
    const struct linked_single one = l->single;
    for (uint32_t j = 0; j < b->alloc_count; j++)
        linked_alloc(l, b, b->alloc_at[j], has_sizes);
    for (uint32_t k = 0; k < b->free_count;) {
        uint32_t stop = ahead_step(&l->live, b, k, b->free_count, sizeof(struct linked_block));
        for (; k < stop; k++)
            linked_free(l, &one, b, b->free_at[k], has_sizes);
    }
}

static int linked_visit(const struct wake_block *b, void *context)
{
    struct linked *l = context;
    filter_flag_births(l->filter, &l->slots, b, l->pass);
    if (l->has_sizes && b->has_previous)
        linked_events(l, b, true);
    else if (l->has_sizes)
        linked_apart(l, b, true);
    else if (b->has_previous)
        linked_events(l, b, false);
    else
        linked_apart(l, b, false);
    l->failed = l->failed || l->slots.failed;
    return l->failed ? ERR_MEMORY : watch_advance(l->watch, b->count);
}

/* Blocks that nobody freed, and chains that nobody continued. */
static void linked_rest(struct linked *l)
{
    const struct linked_block *block;
    uint64_t number;
    for (struct numbered_walk at = {0};
         (block = numbered_next(&l->live, &at, &number, sizeof *block)) != NULL && !l->failed;) {
        const struct fate fate = {.born_ns = block->born_ns};
        bool passes = block->passes && filter_fate(l->filter, &fate);
        l->failed = !chains_end_link(&l->chains, block->chain, number, block->size, passes, &fate, false);
    }
    if (!l->failed)
        l->failed = !chains_finish(&l->chains);
}

static void linked_set_single(struct linked *l)
{
    const struct filter *f = l->filter;
    const struct chains *c = &l->chains;
    l->single = (struct linked_single){
        .has_more = f->has_more,
        .lifetime = {f->lifetime.min > c->single_lifetime.min ? f->lifetime.min : c->single_lifetime.min,
                     f->lifetime.max < c->single_lifetime.max ? f->lifetime.max : c->single_lifetime.max},
        .died = f->died,
        .size = c->single_size};
    l->single.may_pass =
        c->may_be_single && !f->none_freed && l->single.lifetime.min <= l->single.lifetime.max;
}

int linked_run(struct filter *f, struct bitset *chosen, struct watch *watch, struct wake_reader *reader,
               uint32_t process, struct err *err)
{
    const struct query_filter *q = &f->query->filter;
    struct linked l = {.filter = f,
                       .chosen = chosen,
                       .watch = watch,
                       .has_sizes =
                           !range_is_whole(&q->chain_first_size) || !range_is_whole(&q->chain_last_size)};
    unsigned columns = WAKE_TIME | filter_columns(f) | WAKE_PREVIOUS | (l.has_sizes ? WAKE_SIZE : 0);
    int code = ERR_MEMORY;
    numbered_init(&l.live);
    chains_init(&l.chains, f, chosen);
    linked_set_single(&l);
    filter_restart(f);
    if (slots_init(&l.slots, f->query, f->process))
        code = wake_reader_visit_columns(reader, process, 0, UINT64_MAX, columns, linked_visit, &l, err);
    if (code == 0)
        linked_rest(&l);
    if (code == 0 && l.failed)
        code = ERR_MEMORY;
    if (code == ERR_MEMORY)
        err_set(err, code, "There is no memory for the live blocks of the query.");
    numbered_release(&l.live);
    chains_release(&l.chains);
    slots_release(&l.slots);
    return code;
}
