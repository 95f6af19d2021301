/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of lane: a handler that leaves our code for good, by siglongjmp, may do so at any
 * instruction.  Here it does so at each: the code that publishes a record at the end of a
 * chunk is single-stepped (trap flag), left after 0, 1, 2, ... instructions, and entered
 * again.  Whatever the collector does meanwhile, every record published before and after
 * must be found in the lane, once and in order. In a spool, which nobody reads meanwhile, each chunk
 * that was left has its checksum.
 */
#include "probe/lane.h"

#include "probe/life.h"
#include "wire/seal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

enum { CHUNKS = 8, TRAP_FLAG = 0x100, AFTER = 3, STEPS_MAX = 5000, SHORT = 60 };

/* What the collector does at the moment of the jump. */
enum collector { SLEEPS, READS, IS_GIVING_BACK, IS_NONE, COLLECTORS };

static struct segment_head head;
static uint32_t next_of[CHUNKS], lanes[1];
static _Alignas(4096) uint8_t chunks[CHUNKS * SEGMENT_CHUNK_SIZE];
static uint64_t open_gate = 1;

static struct {
    struct lane lane;
    uint64_t *at;      /* the reader's place */
    uint32_t chunk;    /* and its chunk */
    uint64_t found;    /* records so far */
    uint64_t expected; /* number in the next one, at least */
    uint32_t due;      /* chunk + 1 whose return is half done */
} w;

static sigjmp_buf out;
static volatile long steps;
static volatile enum collector mode;

/* Where the first chunk of a spool begins, as far as we are concerned: its words are summed up, step by step. */
static uint64_t *begin_of(uint32_t chunk)
{
    return share_chunk(chunk) + (mode == IS_NONE && chunk == 0 ? SEGMENT_CHUNK_WORDS - SHORT : 0);
}

static void world_open(void)
{
    memset(&w, 0, sizeof w);
    memset(&head, 0, sizeof head);
    memset(chunks, 0, sizeof chunks);
    memset(next_of, 0, sizeof next_of);
    head.chunk_limit = head.chunk_max = CHUNKS;
    head.collector = mode == IS_NONE ? SEGMENT_SPOOL : SEGMENT_ATTACHED;
    head.fresh = 1;
    share.head = &head;
    share.next = next_of;
    share.lanes = lanes;
    share.window[0] = chunks;
    life.state = LIFE_ON;
    lane_fork_word = &open_gate;
    uint64_t *first = begin_of(0);
    *first = RECORD_CHUNK;
    w.lane.first = first;
    w.lane.at = first + 1;
    w.lane.limit = share_chunk(0) + SEGMENT_CHUNK_WORDS - LANE_RECORD_WORDS - 1;
    w.at = first;
    tls_lane = &w.lane;
}

static void finish_giving_back(void)
{
    if (w.due == 0)
        return;
    memset(share_chunk(w.due - 1), 0, SEGMENT_CHUNK_SIZE);
    next_of[w.due - 1] = (uint32_t)head.free_list;
    head.free_list = ((head.free_list >> 32) + 1) << 32 | w.due;
    w.due = 0;
}

/* Reads on to the end of what is published. The records of this test are LOST: two words,
 * the second a number that goes up. */
static void collector_read(void)
{
    for (;;) {
        uint64_t first = *w.at;
        switch (first & 0xff) {
        case RECORD_CHUNK:
            w.at++;
            break;
        case RECORD_LINK:
            finish_giving_back();
            if (mode == IS_NONE) {
                const uint64_t *first_word = begin_of(w.chunk);
                assert_int_equal(seal_chunk(first_word, (size_t)(w.at - first_word) + 1), next_of[w.chunk]);
            } else {
                w.due = w.chunk + 1;
                *share_chunk(w.chunk) = 0;
            }
            w.chunk = (uint32_t)(first >> 32);
            w.at = share_chunk(w.chunk);
            break;
        case RECORD_LOST:
            assert_in_range(w.at[1], w.expected, w.expected + 1);
            w.expected = w.at[1] + 1;
            w.found++;
            w.at += 2;
            break;
        default:
            assert_int_equal(first, 0);
            return;
        }
    }
}

static void put(uint64_t number)
{
    struct lane *lane = lane_enter(__builtin_frame_address(0));
    if (lane_reserve(lane, 2)) {
        lane->at[1] = number;
        lane_publish(lane, RECORD_LOST, 2);
    }
    lane_leave(lane);
}

static void begin_steps(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void step(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (steps < 0) {
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    } else if (steps-- == 0) {
        if (mode == READS || mode == IS_GIVING_BACK)
            collector_read();
        if (mode == READS)
            finish_giving_back();
        siglongjmp(out, 1);
    }
}

/* True: it was left in the middle. */
static bool put_and_leave(uint64_t number, long after)
{
    steps = after;
    if (sigsetjmp(out, 1) != 0)
        return true;
    raise(SIGUSR1);
    put(number);
    steps = -1;
    return false;
}

static void a_jump_out_of_any_instruction_loses_nothing_else(void **state)
{
    struct sigaction begin = {.sa_sigaction = begin_steps, .sa_flags = SA_SIGINFO};
    struct sigaction trap = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    (void)state;
    sigaction(SIGUSR1, &begin, NULL);
    sigaction(SIGTRAP, &trap, NULL);
    for (mode = SLEEPS; mode < COLLECTORS; mode++) {
        long after = 0;
        bool was_left = true, was_linked = false;
        for (; was_left && after < STEPS_MAX; after++) {
            uint64_t number = 0;
            world_open();
            while (w.lane.at <= w.lane.limit + LANE_RECORD_WORDS - 2)
                put(number++);
            uint64_t before = number;
            was_left = put_and_leave(number++, after);
            was_linked = was_linked || (was_left && head.fresh == 2);
            for (int i = 0; i < AFTER; i++)
                put(number++);
            finish_giving_back();
            collector_read();
            assert_in_range(w.found, before + AFTER, before + AFTER + 1);
            assert_int_equal(w.expected, number);
            assert_int_equal(w.lane.gate, 0);
        }
        assert_false(was_left);
        assert_true(was_linked); /* or this has tested nothing */
    }
    tls_lane = NULL;
    share.head = NULL;
    life.state = LIFE_UNBORN;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jump_out_of_any_instruction_loses_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
