/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of pair_quick: whatever is told, it comes to the same as item by item.
 * Two pairs are given the same, one of them folded; of the other something
 * special is asked, which changes nothing but keeps it from taking the quick way.
 */
#include "base/hash.h"
#include "collect/pair_quick.h"
#include "store/stream.h"
#include "tool/strbuf.h"
#include "wire/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    SLOTS = 600, /* addresses */
    STACKS = 40,
    THREADS = 3,
    BATCH = 128,
    BATCHES = 1500, /* more than a chunk of events */
};

struct side {
    struct definitions book;
    struct timebase time;
    struct timeline line;
    struct wake_stream stream;
    struct pair pair;
    struct strbuf columns; /* of all chunks */
    struct filter *filter; /* NULL: nothing special */
};

static uint64_t seed;

static uint32_t random_below(uint32_t bound)
{
    seed = hash_mix(seed + HASH_GOLDEN);
    return (uint32_t)(seed >> 32) % bound;
}

/* Takes a chunk as it is. */
static void side_take(struct wake_stream *s, void *owner)
{
    struct side *side = owner;
    stream_bound(s);
    for (unsigned i = 1; i < COLUMN_COUNT; i++) {
        size_t length = (size_t)(s->at[i] - s->begin[i]);
        strbuf_add(&side->columns, (const char *)&length, sizeof length);
        if (length != 0)
            strbuf_add(&side->columns, (const char *)s->begin[i], length);
    }
    strbuf_add(&side->columns, (const char *)&s->live_bytes, sizeof s->live_bytes);
    strbuf_add(&side->columns, (const char *)&s->live_bytes_max, sizeof s->live_bytes_max);
    stream_restart(s);
}

static void side_open(struct side *side, bool is_special)
{
    memset(side, 0, sizeof *side);
    side->time.rate = UINT64_C(1) << 32;
    side->time.quantum = 1000;
    side->line.time = &side->time;
    definitions_init(&side->book, NULL, 0);
    stream_init(&side->stream, side);
    side->stream.close_chunk = side_take;
    assert_true(pair_init(&side->pair, &side->book, &side->stream, &side->line));
    uint32_t *page = calloc(STACKBOOK_PAGE, sizeof *page);
    assert_non_null(page);
    for (uint32_t i = 1; i <= STACKS; i++)
        page[i * 7] = i;
    assert_true(vec_push(&side->book.stacks.ids, page));
    if (is_special) {
        side->filter = calloc(1, sizeof *side->filter);
        assert_non_null(side->filter);
        side->pair.filter = side->filter;
    }
}

static void side_close(struct side *side)
{
    pair_release(&side->pair);
    definitions_release(&side->book);
    stream_release(&side->stream);
    strbuf_release(&side->columns);
    free(side->filter);
}

/* A program with blocks at SLOTS addresses: mostly what is usual, and now and then something that is not. */
struct program {
    bool is_live[SLOTS];
    uint32_t thread;
    uint64_t stamp;
    uint32_t odd; /* one in so many items is not usual */
};

static struct item program_step(struct program *p)
{
    uint32_t slot = random_below(SLOTS);
    uint64_t address = 0x10000 + slot * 48ul;
    if (random_below(9) == 0)
        p->thread = 1 + random_below(THREADS);
    p->stamp += random_below(4) == 0 ? random_below(3000) : 1;
    struct item i = {.address = address, .stamp = p->stamp, .thread = p->thread, .lane = p->thread};
    bool is_odd = random_below(p->odd) == 0;
    if (p->is_live[slot] != (is_odd && random_below(3) == 0)) { /* at times one that is not there */
        i.op = ITEM_FREE;
        i.kind = (uint8_t)(is_odd ? HOW_FREE_SIZED : HOW_FREE);
        i.stack = is_odd && random_below(2) == 0 ? 7 : 0;
        p->is_live[slot] = false;
        return i;
    }
    i.op = ITEM_ALLOC;
    i.kind = is_odd ? KIND_CALLOC : KIND_MALLOC;
    i.size = is_odd ? random_below(1u << 30) : random_below(300);
    i.usable = i.size + 24 - i.size % 16;
    i.stack = 7 * (1 + random_below(STACKS));
    if (is_odd && random_below(3) == 0)
        i.stack = random_below(2) == 0 ? 0 : 5; /* none, and one that was never defined */
    i.traits = is_odd && random_below(5) == 0 ? ITEM_EARLY : 0;
    if (is_odd && random_below(4) == 0) {
        i.kind = KIND_REALLOC;
        i.old = 0x10000 + random_below(SLOTS) * 48ul;
    }
    p->is_live[slot] = true;
    return i;
}

/* As decode would give it: what a usual record says is still in its words. */
static struct item fold(const struct item *whole)
{
    struct item i = *whole;
    uint64_t slack = i.usable - i.size;
    bool is_alloc = i.op == ITEM_ALLOC;
    if (i.traits != 0 || (is_alloc ? i.kind == KIND_REALLOC : i.stack != 0) ||
        i.size >> RECORD_SIZE_BITS != 0)
        return i;
    i.first = is_alloc ? RECORD_ALLOC | i.kind | i.size << 8 | (uint64_t)i.stack << 32
                       : RECORD_FREE | i.kind | i.address << 16;
    i.second = is_alloc ? i.address | slack << RECORD_ADDRESS_BITS : i.first;
    i.hash = blocks_hash(i.address);
    i.traits = ITEM_FOLDED;
    i.old = i.previous = random_below(1000); /* nobody looks at these */
    return i;
}

static void expect_same_totals(struct totals *a, struct totals *b)
{
    totals_settle(a);
    totals_settle(b);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->stacks, b->stacks, a->count * sizeof *a->stacks);
    assert_memory_equal(a->temporaries, b->temporaries, a->count * sizeof *a->temporaries);
    assert_int_equal(a->allocations, b->allocations);
    assert_int_equal(a->allocated_bytes, b->allocated_bytes);
    assert_int_equal(a->frees, b->frees);
    assert_int_equal(a->live_blocks, b->live_blocks);
    assert_int_equal(a->live_bytes, b->live_bytes);
    assert_int_equal(a->peak_bytes, b->peak_bytes);
    assert_int_equal(a->peak_blocks, b->peak_blocks);
    assert_int_equal(a->peak_time_ns, b->peak_time_ns);
    assert_int_equal(a->peak_event, b->peak_event);
    assert_int_equal(a->course.tick, b->course.tick);
    assert_memory_equal(a->course.ticks, b->course.ticks, a->course.tick * sizeof *a->course.ticks);
}

static void expect_same(struct side *a, struct side *b)
{
    assert_int_equal(a->pair.events, b->pair.events);
    assert_int_equal(a->pair.made, b->pair.made);
    assert_int_equal(a->pair.released, b->pair.released);
    assert_int_equal(a->pair.unknown_frees, b->pair.unknown_frees);
    assert_int_equal(a->pair.undefined_stacks, b->pair.undefined_stacks);
    assert_int_equal(a->pair.blocks.count, b->pair.blocks.count);
    assert_int_equal(a->stream.made, b->stream.made);
    assert_int_equal(a->stream.released, b->stream.released);
    expect_same_totals(&a->pair.totals, &b->pair.totals);
    side_take(&a->stream, a);
    side_take(&b->stream, b);
    assert_int_equal(a->columns.length, b->columns.length);
    assert_memory_equal(a->columns.text, b->columns.text, a->columns.length);
}

static void tell(struct side *s, const struct item *items, uint32_t count, bool is_apart)
{
    const struct item *apart[BATCH];
    for (uint32_t i = 0; i < count; i++)
        apart[i] = &items[i];
    if (is_apart)
        pair_apply_each(&s->pair, apart, count);
    else
        pair_apply(&s->pair, items, count);
}

/* odd: one item in so many is not usual. */
static void run(uint64_t which, uint32_t odd, bool alone)
{
    static struct side quick, special;
    static struct program program;
    struct item items[BATCH], folded[BATCH];
    seed = which;
    program = (struct program){.odd = odd, .stamp = 1000};
    side_open(&quick, false);
    side_open(&special, true);
    quick.pair.is_alone = special.pair.is_alone = alone;
    for (unsigned n = 0; n < BATCHES; n++) {
        uint32_t count = 1 + random_below(BATCH);
        for (uint32_t i = 0; i < count; i++) {
            items[i] = program_step(&program);
            folded[i] = fold(&items[i]);
        }
        bool is_apart = random_below(2) == 0;
        tell(&quick, folded, count, is_apart);
        tell(&special, items, count, is_apart);
        if (random_below(20) == 0) {
            pair_end_round(&quick.pair);
            pair_end_round(&special.pair);
        }
    }
    pair_finish(&quick.pair);
    pair_finish(&special.pair);
    assert_true(quick.pair.made > 1000 && quick.pair.released > 1000 && quick.columns.length != 0);
    expect_same(&quick, &special);
    side_close(&quick);
    side_close(&special);
}

/* Or the others would compare the one way with itself. */
static void the_usual_goes_the_quick_way(void **state)
{
    static struct side side;
    struct item whole[2] = {
        {.op = ITEM_ALLOC, .kind = KIND_NEW, .address = 0x5000, .size = 40, .usable = 40, .stack = 7},
        {.op = ITEM_FREE, .kind = HOW_DELETE, .address = 0x5000},
    };
    struct item items[2] = {fold(&whole[0]), fold(&whole[1])};
    const struct item *each[2] = {&items[0], &items[1]};
    (void)state;
    size_t quick = 0, quick_each = 0, quick_whole = 0;
    side_open(&side, false);
    for (unsigned n = 0; n < 1000; n++) { /* at first each is the end of a tick */
        pair_apply(&side.pair, items, 2);
        quick += pair_quick(&side.pair, items, 2) == 2;
        quick_each += pair_quick_each(&side.pair, each, 2) == 2;
        quick_whole += pair_quick(&side.pair, whole, 2);
    }
    assert_true(quick > 500 && quick_each > 500);
    assert_int_equal(quick_whole, 0);
    side_close(&side);
}

static void the_usual_is_the_same(void **state)
{
    (void)state;
    for (uint64_t which = 1; which <= 5; which++)
        run(which, 1u << 30, which % 2 == 0);
}

static void the_unusual_is_the_same(void **state)
{
    (void)state;
    for (uint64_t which = 1; which <= 10; which++)
        run(100 + which, which < 4 ? 5 : 200, which % 2 == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_goes_the_quick_way),
        cmocka_unit_test(the_usual_is_the_same),
        cmocka_unit_test(the_unusual_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
