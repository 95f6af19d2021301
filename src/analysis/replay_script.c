/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * replay_script: see replay_script.h.
 *
 * Two readings.  The first counts the calls of each thread, so that each gets its
 * own stretch of the score, and finds the blocks that are released by another
 * thread than made them, since these must have a slot to themselves.  The second
 * gives out slots and writes.
 *
 * Windows (wire/score.h) are short against the number of live blocks, so that a
 * thread that is ahead by two of them changes little.
 *
 * A realloc is a release and an allocation in the recording.  Where the two are
 * neighbours in their thread they become one call.
 */
#include "analysis/replay_script.h"

#include <stdlib.h>
#include <string.h>

#include "engine/pairing.h"
#include "tool/memory.h"
#include "wire/record.h"
#include "wire/score.h"

enum {
    REPLAY_SCRIPT_ALIGN_MIN = 4,  /* log2; what any malloc gives */
    REPLAY_SCRIPT_ALIGN_MAX = 12, /* a page: more is chance */
    REPLAY_SCRIPT_COLUMNS = WAKE_THREAD | WAKE_SIZE,
    REPLAY_SCRIPT_WINDOW_SHARE = 16, /* of the blocks live at the peak */
    REPLAY_SCRIPT_WINDOW_MIN = 64,
    REPLAY_SCRIPT_WINDOW_MAX = 64 << 10,
};

/* Live blocks; slot and part serve the second reading, size the first. */
struct replay_script_block {
    uint64_t size;
    uint32_t part, slot;
};

struct replay_script_reading {
    struct replay_script *c;
    struct score_call *calls; /* second reading */
    struct score_window *windows;
    uint64_t at; /* calls before this one, in the recorded order */
    uint64_t live_bytes, live_blocks;
};

void replay_script_init(struct replay_script *c)
{
    *c = (struct replay_script){0};
    map_init(&c->threads);
    bitset_init(&c->cross);
}

void replay_script_release(struct replay_script *c)
{
    vec_release(&c->parts);
    vec_release(&c->next);
    map_release(&c->threads);
    bitset_release(&c->cross);
}

size_t replay_script_choose(const struct wake_reader *r)
{
    size_t best = 0;
    for (size_t i = 1; i < wake_reader_process_count(r); i++) {
        if (wake_reader_process(r, i)->events > wake_reader_process(r, best)->events)
            best = i;
    }
    return best;
}

/* ---------------------------------------------------------- first reading */

/* The part of a thread, begun when it is new; UINT32_MAX: no memory. */
static uint32_t replay_script_part_of(struct replay_script *c, uint32_t thread, uint64_t event)
{
    const uint64_t *known = map_find(&c->threads, thread);
    if (known != NULL)
        return (uint32_t)*known;
    struct replay_script_part part = {.first = event};
    uint32_t number = (uint32_t)c->parts.count;
    if (!map_set(&c->threads, thread, number) || !vec_push(&c->parts, part))
        return UINT32_MAX;
    return number;
}

static int replay_script_count_call(struct replay_script *c, const struct wake_block *b, uint32_t i,
                                    uint32_t *number)
{
    uint64_t event = b->first_event + i;
    *number = replay_script_part_of(c, b->thread[i], event);
    if (*number == UINT32_MAX)
        return ERR_MEMORY;
    c->parts.data[*number].calls++;
    c->parts.data[*number].last = event;
    c->calls++;
    return 0;
}

static int replay_script_count_birth(void *context, const struct wake_block *b, uint32_t i, void *entry)
{
    struct replay_script_reading *x = context;
    struct replay_script *c = x->c;
    uint32_t part;
    if (replay_script_count_call(c, b, i, &part) != 0)
        return ERR_MEMORY;
    *(struct replay_script_block *)entry = (struct replay_script_block){.size = b->size[i], .part = part};
    c->allocations++;
    x->live_bytes += b->size[i];
    x->live_blocks++;
    if (x->live_bytes > c->peak_bytes) {
        c->peak_bytes = x->live_bytes;
        c->peak_blocks = x->live_blocks;
    }
    return PAIRING_KEEP;
}

static int replay_script_count_death(void *context, const struct wake_block *b, uint32_t i, const void *entry)
{
    struct replay_script_reading *x = context;
    struct replay_script *c = x->c;
    const struct replay_script_block *block = entry;
    uint32_t part;
    if (block == NULL) {
        c->left_out++;
        return 0;
    }
    if (replay_script_count_call(c, b, i, &part) != 0)
        return ERR_MEMORY;
    x->live_bytes -= block->size;
    x->live_blocks--;
    c->releases++;
    if (part == block->part)
        return 0;
    c->crossings++;
    return bitset_set(&c->cross, b->number[i]) ? 0 : ERR_MEMORY;
}

static int replay_script_count_other(void *context, const struct wake_block *b, uint32_t i)
{
    struct replay_script_reading *x = context;
    (void)b;
    (void)i;
    x->c->left_out++;
    return 0;
}

/* Threads that keep together need windows; one has nobody to keep together with. */
static void replay_script_cut_windows(struct replay_script *c)
{
    uint64_t share = c->peak_blocks / REPLAY_SCRIPT_WINDOW_SHARE;
    c->window_calls = share < REPLAY_SCRIPT_WINDOW_MIN   ? REPLAY_SCRIPT_WINDOW_MIN
                      : share > REPLAY_SCRIPT_WINDOW_MAX ? REPLAY_SCRIPT_WINDOW_MAX
                                                         : share;
    if (c->parts.count > 1)
        c->windows = c->calls / c->window_calls + 1;
}

static size_t replay_script_calls_offset(const struct replay_script *c)
{
    size_t before = sizeof(struct score_head) + c->parts.count * sizeof(struct score_part) +
                    c->windows * sizeof(struct score_window);
    return (before + 15) & ~(size_t)15;
}

static void replay_script_lay_out(struct replay_script *c)
{
    uint64_t at = 0;
    for (size_t i = 0; i < c->parts.count; i++) {
        struct replay_script_part *part = &c->parts.data[i];
        part->at = at;
        part->calls += part->calls < c->windows ? part->calls : c->windows;
        at += part->calls;
    }
    c->calls = at;
    c->bytes = replay_script_calls_offset(c) + at * sizeof(struct score_call);
}

int replay_script_read(struct replay_script *c, struct wake_reader *r, size_t process, struct err *err)
{
    struct replay_script_reading x = {.c = c};
    c->process = process;
    struct pairing blocks;
    pairing_init(&blocks, sizeof(struct replay_script_block), replay_script_count_birth,
                 replay_script_count_death, &x);
    blocks.other = replay_script_count_other;
    int code = wake_reader_visit_columns(r, process, 0, UINT64_MAX, REPLAY_SCRIPT_COLUMNS, pairing_visit,
                                         &blocks, err);
    pairing_release(&blocks);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    if (code != 0)
        return code;
    if (c->calls == 0)
        return err_set(err, ERR_ABSENT,
                       "Process %u has neither made nor released a block: there is nothing to replay.",
                       wake_reader_process(r, process)->info.pid);
    replay_script_cut_windows(c);
    if (c->windows > UINT32_MAX)
        return err_set(err, ERR_LIMIT, "There are too many events for a replay.");
    replay_script_lay_out(c);
    return 0;
}

/* --------------------------------------------------------- second reading */

/* An empty slot for a block that a part makes; UINT32_MAX: no memory, or too many. */
static uint32_t replay_script_give_slot(struct replay_script *c, struct replay_script_part *part,
                                        bool is_crossing)
{
    if (part->spare != 0 && !is_crossing) {
        uint32_t slot = part->spare - 1;
        part->spare = c->next.data[slot];
        return slot;
    }
    if (c->next.count >= UINT32_MAX - 1 || !vec_push(&c->next, 0))
        return UINT32_MAX;
    return (uint32_t)c->next.count - 1;
}

/* log2 of the alignment that was asked for, as far as the address tells. */
static unsigned replay_script_align(unsigned kind, uint64_t address)
{
    if (kind == KIND_VALLOC || kind == KIND_PVALLOC)
        return REPLAY_SCRIPT_ALIGN_MAX;
    unsigned bits = address == 0 ? REPLAY_SCRIPT_ALIGN_MIN : (unsigned)__builtin_ctzll(address);
    return bits < REPLAY_SCRIPT_ALIGN_MIN   ? REPLAY_SCRIPT_ALIGN_MIN
           : bits > REPLAY_SCRIPT_ALIGN_MAX ? REPLAY_SCRIPT_ALIGN_MAX
                                            : bits;
}

static enum score_verb replay_script_verb(unsigned kind)
{
    switch (kind) {
    case KIND_CALLOC:
        return SCORE_CALLOC;
    case KIND_MEMALIGN:
    case KIND_ALIGNED_ALLOC:
    case KIND_POSIX_MEMALIGN:
    case KIND_VALLOC:
    case KIND_PVALLOC:
    case KIND_NEW_ALIGNED:
    case KIND_NEW_ARRAY_ALIGNED:
        return SCORE_ALIGNED;
    default:
        return SCORE_MALLOC;
    }
}

/* The part of an event; NULL: the recording is not what it was. */
static struct replay_script_part *replay_script_find_part(struct replay_script *c, uint32_t thread,
                                                          uint32_t *number)
{
    const uint64_t *known = map_find(&c->threads, thread);
    if (known == NULL)
        return NULL;
    *number = (uint32_t)*known;
    return &c->parts.data[*number];
}

/* Adds a call to a part, in its window.  False: the recording is not what it was. */
static bool replay_script_push(struct replay_script_reading *x, struct replay_script_part *part,
                               struct score_call call)
{
    struct replay_script *c = x->c;
    uint64_t window = x->at / c->window_calls;
    struct score_call *calls = x->calls + part->at;
    if (c->windows > 0 && part->window != window + 1) {
        if (window >= c->windows || part->done >= part->calls)
            return false;
        x->windows[window].parts++;
        part->window = window + 1;
        calls[part->done++] = score_call_of(SCORE_ENTER, (uint32_t)window, 0, 0, 0);
    }
    if (part->done >= part->calls)
        return false;
    calls[part->done++] = call;
    return true;
}

static int replay_script_write_birth(void *context, const struct wake_block *b, uint32_t i, void *entry)
{
    struct replay_script_reading *x = context;
    struct replay_script *c = x->c;
    uint32_t number;
    struct replay_script_part *part = replay_script_find_part(c, b->thread[i], &number);
    if (part == NULL)
        return ERR_INPUT;
    uint32_t slot = replay_script_give_slot(c, part, bitset_has(&c->cross, b->number[i]));
    if (slot == UINT32_MAX)
        return ERR_LIMIT;
    *(struct replay_script_block *)entry = (struct replay_script_block){.part = number, .slot = slot};
    bool done = true;
    if (b->previous[i] != 0 && b->previous[i] == part->given_up) {
        struct score_call *release = &x->calls[part->at + part->done - 1];
        *release = score_call_of(SCORE_REALLOC, slot, release->slot, b->size[i], 0);
    } else {
        unsigned kind = b->detail[i];
        enum score_verb verb = replay_script_verb(kind);
        unsigned align = verb == SCORE_ALIGNED ? replay_script_align(kind, b->address[i]) : 0;
        done = replay_script_push(x, part, score_call_of(verb, slot, slot, b->size[i], align));
    }
    part->given_up = 0;
    x->at++;
    return done ? PAIRING_KEEP : ERR_INPUT;
}

static int replay_script_write_death(void *context, const struct wake_block *b, uint32_t i, const void *entry)
{
    struct replay_script_reading *x = context;
    struct replay_script *c = x->c;
    const struct replay_script_block *block = entry;
    uint32_t number;
    if (block == NULL)
        return 0;
    struct replay_script_part *part = replay_script_find_part(c, b->thread[i], &number);
    if (part == NULL ||
        !replay_script_push(x, part, score_call_of(SCORE_FREE, block->slot, block->slot, 0, 0)))
        return ERR_INPUT;
    x->at++;
    part->given_up = b->detail[i] == HOW_REALLOC ? b->number[i] + 1 : 0;
    if (number == block->part) {
        c->next.data[block->slot] = part->spare;
        part->spare = block->slot + 1;
    } else if (!bitset_has(&c->cross, b->number[i])) {
        return ERR_INPUT;
    }
    return 0;
}

struct replay_script_end {
    uint64_t last;
    uint32_t part;
};

static int replay_script_compare_ends(const void *a, const void *b)
{
    const struct replay_script_end *x = a, *y = b;
    return x->last < y->last ? -1 : x->last > y->last;
}

/* Head and parts.  A part waits for those that had ended before it began. */
static int replay_script_write_parts(const struct replay_script *c, struct score_head *head)
{
    struct score_part *to = (struct score_part *)(head + 1);
    size_t count = c->parts.count;
    uint32_t ended = 0;
    struct replay_script_end *ends = memory_new(count * sizeof *ends);
    if (ends == NULL)
        return ERR_MEMORY;
    *head = (struct score_head){SCORE_MAGIC, c->calls, (uint32_t)count, c->slots, c->windows};
    for (size_t i = 0; i < count; i++)
        ends[i] = (struct replay_script_end){c->parts.data[i].last, (uint32_t)i};
    qsort(ends, count, sizeof *ends, replay_script_compare_ends);
    for (size_t i = 0; i < count; i++) {
        const struct replay_script_part *part = &c->parts.data[i];
        while (ended < count && ends[ended].last < part->first)
            ended++;
        to[i] = (struct score_part){part->at, part->done, ended, ends[i].part};
    }
    free(ends);
    return 0;
}

int replay_script_write(struct replay_script *c, struct wake_reader *r, void *memory, struct err *err)
{
    struct score_head *head = memory;
    struct replay_script_reading x = {
        .c = c,
        .calls = (struct score_call *)((char *)memory + replay_script_calls_offset(c)),
        .windows = (struct score_window *)((struct score_part *)(head + 1) + c->parts.count)};
    struct pairing blocks;
    pairing_init(&blocks, sizeof(struct replay_script_block), replay_script_write_birth,
                 replay_script_write_death, &x);
    int code = wake_reader_visit_columns(r, c->process, 0, UINT64_MAX,
                                         REPLAY_SCRIPT_COLUMNS | WAKE_ADDRESS | WAKE_PREVIOUS, pairing_visit,
                                         &blocks, err);
    pairing_release(&blocks);
    c->slots = (uint32_t)c->next.count;
    if (code == 0)
        code = replay_script_write_parts(c, head);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    if (code == ERR_LIMIT)
        return err_set(err, code, "There are too many blocks for a replay.");
    if (code == ERR_INPUT)
        return err_set(err, code, "The recording has changed while it was read.");
    return code;
}
