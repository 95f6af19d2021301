/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * query_bench: how fast questions about a recording are answered.
 * query_bench FILE.wake [ROUNDS [WORD...]]
 *
 *     gcc -O2 -g -D_GNU_SOURCE -Isrc bench/query_bench.c build/libheapwake-tool.a -lzstd -o query_bench
 *
 * Best of ROUNDS (5); events are those of the recording, however
 * often they are read.  WORD: only questions whose names have one of them.
 *
 *     alone    to a recording that nothing is remembered of: time, and CPU time in parentheses (taskset -c 0 for one CPU)
 *     second   to one that stays open for many questions (engine/ledger.h): time; how many events were read */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/ledger.h"
#include "engine/parse.h"
#include "engine/query.h"

struct question {
    const char *name;
    bool sums_only;       /* nobody asks for peaks */
    const char *words[8]; /* key, value, ... */
};

/* Every kind of condition, and everything that an answer may have besides.  THREAD and MARK stand for
 * the first of the recording, MIDDLE for an address in the middle of its live blocks. */
static const struct question questions[] = {
    {"totals only", false, {NULL}},
    {"all metrics", false, {"detail", "yes"}},
    {"window", false, {"from", "25%", "to", "75%"}},
    {"live at a moment", false, {"at", "50%"}},
    {"timeline of 1000 ticks", false, {"ticks", "1000"}},
    {"timeline of a window", false, {"from", "40%", "to", "60%", "ticks", "1000"}},
    {"window, all metrics", false, {"from", "10%", "to", "37%", "detail", "yes"}},
    {"medians and histograms", false, {"median", "yes", "histograms", "yes"}},
    {"split by thread", false, {"split", "thread"}},
    {"split by kind", false, {"split", "kind"}},
    /* known at birth */
    {"born from-to", false, {"allocated-from", "25%", "allocated-to", "75%"}},
    {"born outside", false, {"from", "25%", "to", "75%", "allocated", "outside"}},
    {"size", false, {"size-min", "100", "size-max", "300"}},
    {"size of all", false, {"size-min", "1"}},
    {"usable", false, {"usable-min", "100", "usable-max", "300"}},
    {"slack", false, {"slack-min", "1"}},
    {"address", false, {"address-min", "MIDDLE"}},
    {"stack", false, {"stack", "1,2,3,4,5,6,7,8,9,10"}},
    {"stack, sums only", true, {"depth-min", "10", "stack", "1,2,3,4,5,6,7,8,9,10"}},
    {"stack in a window", false, {"stack", "11,12,13", "from", "20%", "to", "70%"}},
    {"stack, timeline", false, {"stack", "21,22,23,24,25", "ticks", "500"}},
    {"depth", false, {"depth-min", "10"}},
    {"function", false, {"function", "^(ma|oper)"}},
    {"not function", false, {"not-function", "^nobody$"}},
    {"thread", false, {"thread", "THREAD"}},
    {"kind", false, {"kind", "malloc,new"}},
    {"mark", false, {"mark", "MARK"}},
    {"leaked", false, {"state", "leaked"}},
    {"leaked in a window", false, {"state", "leaked", "from", "30%", "ticks", "100"}},
    {"freed", false, {"state", "freed"}},
    /* known at death */
    {"temporary", false, {"state", "temporary"}},
    {"temporary of most", false, {"state", "temporary", "temporary", "10s"}},
    {"lifetime of most", false, {"lifetime-min", "1us", "lifetime-max", "1s"}},
    {"lifetime of few", false, {"lifetime-max", "200ns"}},
    {"died from-to", false, {"freed-from", "25%", "freed-to", "75%"}},
    {"freed inside", false, {"from", "25%", "to", "75%", "freed", "inside"}},
    {"freed outside", false, {"from", "25%", "to", "75%", "freed", "outside"}},
    {"alive at", false, {"alive-at", "50%"}},
    {"freeing thread", false, {"freed-by", "THREAD"}},
    /* by chain or group */
    {"chain length", false, {"chain-length-min", "2"}},
    {"chain lifetime", false, {"chain-lifetime-min", "1us"}},
    {"group allocations", false, {"group-allocations-min", "1000"}},
    {"group leaked", false, {"group-leaked-max", "50%"}},
    {"group interval", false, {"group-interval-min", "50%"}},
    {"group peak", false, {"group-peak-from", "10%"}},
};

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const struct name_place *find_place(void *context, uint32_t process, const struct wake_node *node)
{
    return wake_reader_name(context, process, node);
}

/* What a value stands for in this recording. */
static const char *meant(const struct wake_reader *reader, const char *value, char *text, size_t size)
{
    const struct wake_process *p = wake_reader_process(reader, 0);
    if (strcmp(value, "MARK") == 0)
        return p->marks.count > 0 ? p->marks.data[0].name : "none";
    if (strcmp(value, "THREAD") == 0)
        snprintf(text, size, "%u", p->threads.count > 0 ? p->threads.data[0].tid : 0);
    else if (strcmp(value, "MIDDLE") == 0)
        snprintf(text, size, "%#llx",
                 (unsigned long long)(p->live.count > 0 ? p->live.data[p->live.count / 2].address : 0));
    else
        return value;
    return text;
}

/* The best of some rounds, in ms. */
struct spent {
    double time, cpu;
};

/* time < 0: an error. */
static struct spent measure(const struct query *q, struct wake_reader *reader, struct query_result *result,
                            unsigned rounds)
{
    struct err err;
    struct spent best = {1e18, 1e18};
    for (unsigned i = 0; i < rounds; i++) {
        double start = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        if (query_run(q, reader, result, &err) != 0) {
            fprintf(stderr, "query_bench: %s\n", err.text);
            return (struct spent){-1, -1};
        }
        start = (now_ns(CLOCK_MONOTONIC) - start) / 1e6;
        cpu = (now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e6;
        best.time = start < best.time ? start : best.time;
        best.cpu = cpu < best.cpu ? cpu : best.cpu;
    }
    return best;
}

/* reader: nothing is remembered of it; attached: something is. */
static int run(struct wake_reader *reader, struct wake_reader *attached, const struct question *question,
               unsigned rounds)
{
    struct query_result result;
    struct query q;
    struct err err;
    double events = (double)wake_reader_summary(reader)->events;
    int code = 0;
    char text[32];
    query_init(&q);
    q.find_place = find_place;
    q.place_context = reader;
    query_result_init(&result);
    q.sums_only = question->sums_only;
    for (unsigned i = 0; question->words[i] != NULL && code == 0; i += 2)
        code = query_parse(&q, question->words[i], meant(reader, question->words[i + 1], text, sizeof text),
                           &err);
    struct spent alone = {-1, -1}, second = {-1, -1};
    if (code == 0)
        alone = measure(&q, reader, &result, rounds);
    uint64_t blocks = result.total.allocated_blocks, peak = result.total.peak_bytes;
    q.place_context = attached;
    if (alone.time >= 0)
        second = measure(&q, attached, &result, rounds);
    if (second.time < 0)
        code = -1;
    else
        printf("%-24s alone %8.2f ms, %4.1f (%4.1f) ns/event; second %8.3f ms, %llu events read; "
               "%llu rows, %llu blocks\n",
               question->name, alone.time, alone.time * 1e6 / events, alone.cpu * 1e6 / events, second.time,
               (unsigned long long)result.events, (unsigned long long)result.rows.count,
               (unsigned long long)result.total.allocated_blocks);
    if (code == 0 && (result.total.allocated_blocks != blocks || result.total.peak_bytes != peak)) {
        fprintf(stderr, "query_bench: the second answer is another one\n");
        code = -1;
    }
    query_result_release(&result);
    query_release(&q);
    return code;
}

/* The recording once more, with a ledger that stands. */
static struct wake_reader *open_attached(const char *path, double *spent_ms)
{
    struct wake_reader *reader = NULL;
    struct err err;
    if (wake_reader_open(&reader, path, &err) != 0)
        return NULL;
    double start = now_ns(CLOCK_MONOTONIC);
    if (ledger_attach(reader, NULL, &err) != 0) {
        wake_reader_close(reader);
        return NULL;
    }
    ledger_wait(ledger_of(reader));
    *spent_ms = (now_ns(CLOCK_MONOTONIC) - start) / 1e6;
    return reader;
}

/* words: up to a NULL; none: all are wanted. */
static bool is_wanted(const char *name, char **words)
{
    bool found = words[0] == NULL;
    for (; words[0] != NULL; words++)
        found = found || strstr(name, words[0]) != NULL;
    return found;
}

int main(int argc, char **argv)
{
    struct wake_reader *reader, *attached;
    struct err err;
    double spent_ms = 0;
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
    if (argc < 2) {
        fprintf(stderr, "usage: query_bench FILE.wake [ROUNDS [WORD...]]\n");
        return 2;
    }
    if (wake_reader_open(&reader, argv[1], &err) != 0) {
        fprintf(stderr, "query_bench: %s\n", err.text);
        return 1;
    }
    attached = open_attached(argv[1], &spent_ms);
    int code = attached == NULL ? -1 : 0;
    for (size_t i = 0; i < sizeof questions / sizeof *questions && code == 0; i++)
        if (is_wanted(questions[i].name, argv + (argc < 3 ? argc : 3)))
            code = run(reader, attached, &questions[i], rounds);
    if (code == 0)
        printf("the ledger took %.2f ms\n", spent_ms);
    wake_reader_close(attached);
    wake_reader_close(reader);
    return code == 0 ? 0 : 1;
}
