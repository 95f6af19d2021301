/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stack_diff: are the stacks that the probe records those that libunwind finds?
 *
 *     stack_diff [options] -- PROGRAM ARGUMENTS
 *       --probe FILE     libheapwake.so          --witness FILE   libwitness.so
 *       --every N        of N allocations one is compared (1)
 *       --count N        compare so many (100000)
 *       --show N         print so many differing stacks, and one of each kind of cut (3)
 *
 * Runs the program with both libraries (stack_run.h), and at the end pairs the records of
 * the witness with the recorded allocations: same thread, same address, same size, same
 * order (but for handlers). Of each pair the frames must be the same, innermost to outermost.
 *
 *   equal      all frames, and neither side gave up
 *   cut        ours says that it could not go on, and has the same frames up to there
 *   short      libunwind gave up with an error, ours has the same frames up to there
 *   different  all else
 *   missing    records of the witness that no recorded allocation answers
 *   stackless  recorded allocations, watched or not, that have no stack at all
 *
 * A signal frame is one frame for both, its address the interrupted instruction.
 *
 * Prints one line of numbers. Exit: 0 none of the last four kinds, 1 some, 2 used wrongly
 * or the program could not be run or failed.
 *
 * build: -I{root}/src {root}/tests/unwind/stack_run.c
 */
#include "stack_run.h"
#include "wire/record.h"
#include "witness.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char witness_path[4096];
static struct stack_run run = {.every = "1", .count = "100000", .witness_path = witness_path};
static unsigned option_show = 3;

/* -------------------------------------------------------------- comparing */

enum { REACH_HANDLERS = 64, REACH_REST = 4096 };

enum verdict { EQUAL, CUT, SHORT, DIFFERENT, MISSING, VERDICT_COUNT };
static const char *const verdict_words[] = {"equal", "cut", "short", "different", "missing"};
static const char *const cut_words[CUT_COUNT] = {"", "no CFI", "unreadable", "bad CFI", "depth", "early"};

static struct witness_head place;
static uint64_t counts[VERDICT_COUNT], cut_counts[CUT_COUNT], frame_count, distinct_count, signal_count;
static uint64_t stackless_count;
static uint32_t deepest;

static bool is_own(uint64_t pc)
{
    return (pc >= place.watched_lo && pc <= place.watched_hi) ||
           (pc >= place.passing_lo && pc <= place.passing_hi);
}

/* Frames of the witness itself, innermost; 0: the call was not watched. */
static uint32_t own_frames(const struct stack *s)
{
    uint32_t n = 0;
    if (s->count == 0 || s->frames[0] < place.watched_lo || s->frames[0] > place.watched_hi)
        return 0;
    while (n < s->count && is_own(s->frames[n]))
        n++;
    return n;
}

static bool has_signal(const struct stack *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if ((s->frames[i] & RECORD_FRAME_EXACT) != 0)
            return true;
    }
    return false;
}

/* The calls that were not watched are not to be found. */
static void keep_watched(void)
{
    for (size_t i = 0; i < run.queue_count; i++) {
        struct queue *q = &run.queues[i];
        size_t kept = 0;
        for (size_t j = 0; j < q->count; j++) {
            stackless_count += stack_at(&run, q->allocs[j].stack)->count == 0;
            if (own_frames(stack_at(&run, q->allocs[j].stack)) > 0)
                q->allocs[kept++] = q->allocs[j];
        }
        q->count = kept;
    }
}

static void print_frame(uint64_t pc)
{
    uint64_t address = pc & ~RECORD_FRAME_EXACT;
    for (size_t i = run.module_count; i-- > 0;) {
        if (address >= run.modules[i].start && address < run.modules[i].end) {
            const char *slash = strrchr(run.modules[i].path, '/');
            printf(" %s+%#" PRIx64, slash != NULL ? slash + 1 : run.modules[i].path,
                   address - run.modules[i].bias);
            break;
        }
    }
    printf(" %#" PRIx64 "%s\n", address, pc != address ? " (interrupted)" : "");
}

static void print_pair(const struct witness_record *r, const uint64_t *theirs, const struct stack *s)
{
    uint32_t own = own_frames(s), count = s->count - own, more = r->count > count ? r->count : count;
    printf("block %#" PRIx64 ", %" PRIu64 " bytes, thread %u: libunwind %u frames (end %" PRId64
           "), heapwake %u frames%s%s\n",
           r->address, r->size, r->tid, r->count, r->end, count, s->cut != 0 ? ", cut: " : "",
           cut_words[s->cut]);
    for (uint32_t i = 0; i < more; i++) {
        uint64_t ours = i < count ? s->frames[own + i] : 0, other = i < r->count ? theirs[i] : 0;
        if (ours != 0 && (ours & ~RECORD_FRAME_EXACT) == other) {
            printf("  both     ");
            print_frame(ours);
            continue;
        }
        if (other != 0) {
            printf("  libunwind");
            print_frame(other);
        }
        if (ours != 0) {
            printf("  heapwake ");
            print_frame(ours);
        }
    }
}

static enum verdict judge(const struct witness_record *r, const uint64_t *theirs, const struct stack *s)
{
    uint32_t own = own_frames(s), count = s->count - own, n = 0;
    while (n < count && n < r->count && (s->frames[own + n] & ~RECORD_FRAME_EXACT) == theirs[n])
        n++;
    if (s->omitted != 0)
        return DIFFERENT;
    if (n == count && s->cut != CUT_NOT)
        return CUT;
    if (n == r->count && r->end != 0)
        return SHORT;
    return n == count && n == r->count ? EQUAL : DIFFERENT;
}

/* The recorded allocation that the record tells of, among the next few of its thread's. */
static struct alloc *find_alloc(const struct witness_record *r, const uint64_t *frames, size_t reach,
                                bool must_be_equal)
{
    for (size_t i = 0; i < run.queue_count; i++) {
        struct queue *q = &run.queues[i];
        if (q->tid != r->tid)
            continue;
        while (q->next < q->count && q->allocs[q->next].is_paired)
            q->next++;
        for (size_t j = q->next; j < q->count && j < q->next + reach; j++) {
            struct alloc *a = &q->allocs[j];
            if (!a->is_paired && a->address == r->address && a->size == r->size &&
                (!must_be_equal || judge(r, frames, stack_at(&run, a->stack)) == EQUAL))
                return a;
        }
    }
    return NULL;
}

static void print_missing(const struct witness_record *r)
{
    printf("No recorded allocation is the one of %" PRIu64 " bytes at %#" PRIx64 " in thread %u.\n", r->size,
           r->address, r->tid);
}

/* Counts the pair; and shows it, if it is worth a look. */
static void take_pair(const struct witness_record *r, const uint64_t *frames, struct alloc *a)
{
    a->is_paired = true;
    struct stack *s = stack_at(&run, a->stack);
    enum verdict verdict = judge(r, frames, s);
    counts[verdict]++;
    frame_count += r->count;
    distinct_count += !s->is_compared;
    signal_count += has_signal(s);
    s->is_compared = true;
    deepest = r->count > deepest ? r->count : deepest;
    bool is_shown = (verdict == DIFFERENT || verdict == SHORT) && counts[verdict] <= option_show;
    if (verdict == CUT && cut_counts[s->cut]++ == 0)
        is_shown = option_show > 0;
    if (is_shown) {
        printf("%s: ", verdict_words[verdict]);
        print_pair(r, frames, s);
    }
}

/* The file of the witness, whole. */
static uint8_t *read_witness(size_t *size)
{
    FILE *f = fopen(witness_path, "rb");
    TRY(f != NULL && fread(&place, sizeof place, 1, f) == 1 && place.magic == WITNESS_MAGIC,
        "The witness has written nothing.");
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f) - sizeof place;
    fseek(f, sizeof place, SEEK_SET);
    uint8_t *bytes = malloc(*size + 1);
    TRY(bytes != NULL && fread(bytes, 1, *size, f) == *size, "The file of the witness cannot be read.");
    fclose(f);
    return bytes;
}

/* Goes over the records that have no partner yet. */
static void pair_all(uint8_t *bytes, size_t size, size_t reach, bool must_be_equal)
{
    for (size_t at = 0; at < size;) {
        struct witness_record *r = (void *)(bytes + at);
        const uint64_t *frames = (const void *)(r + 1);
        TRY(size - at >= sizeof *r && size - at - sizeof *r >= r->count * sizeof *frames,
            "The file of the witness is cut.");
        at += sizeof *r + r->count * sizeof *frames;
        struct alloc *a = r->tid == 0 ? NULL : find_alloc(r, frames, reach, must_be_equal);
        if (a != NULL) {
            take_pair(r, frames, a);
            r->tid = 0;
        } else if (r->tid != 0 && !must_be_equal && counts[MISSING]++ < option_show) {
            print_missing(r);
        }
    }
}

/* First all that are equal, then the rest, so that one that is missing takes no other's
 * place. A handler may allocate between both notes of the same call: where there are
 * handlers, the order of neighbours does not count. */
static void compare_all(void)
{
    size_t size;
    uint8_t *bytes = read_witness(&size);
    bool has_handlers = false;
    for (uint32_t i = 0; i < run.stack_count && !has_handlers; i++)
        has_handlers = has_signal(&run.stacks[i]);
    keep_watched();
    pair_all(bytes, size, has_handlers ? REACH_HANDLERS : 1, true);
    pair_all(bytes, size, REACH_REST, false);
    free(bytes);
}

static void print_counts(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < MISSING; i++)
        sum += counts[i];
    printf("stacks %" PRIu64, sum);
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        printf(" %s %" PRIu64, verdict_words[i], counts[i]);
    printf(" stackless %" PRIu64 " distinct %" PRIu64 " with_signal %" PRIu64 " frames %" PRIu64
           " deepest %u lost %" PRIu64 " allocations %" PRIu64 "\n",
           stackless_count, distinct_count, signal_count, frame_count, deepest, run.lost_count,
           run.alloc_count);
}

static void read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"probe", 1, 0, 'p'}, {"witness", 1, 0, 'w'}, {"every", 1, 0, 'e'},
        {"count", 1, 0, 'c'}, {"show", 1, 0, 's'},    {0},
    };
    for (int c; (c = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        switch (c) {
        case 'p':
            run.probe = optarg;
            break;
        case 'w':
            run.witness = optarg;
            break;
        case 'e':
            run.every = optarg;
            break;
        case 'c':
            run.count = optarg;
            break;
        case 's':
            option_show = (unsigned)atoi(optarg);
            break;
        default:
            exit(2);
        }
    }
    TRY(run.probe != NULL && run.witness != NULL && optind < argc,
        "Used as: stack_diff --probe FILE --witness FILE [--every N] [--count N] [--show N] -- PROGRAM ...");
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    const char *folder = getenv("TMPDIR");
    snprintf(witness_path, sizeof witness_path, "%s/witness.%d", folder != NULL ? folder : "/tmp", getpid());
    int status = stack_run(&run, argv + optind);
    compare_all();
    unlink(witness_path);
    print_counts();
    TRY(status == 0, "The program ended with wait status %#x.", status);
    return counts[DIFFERENT] + counts[SHORT] + counts[MISSING] + stackless_count == 0 ? 0 : 1;
}
