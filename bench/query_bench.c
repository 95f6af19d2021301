/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * query_bench: how fast questions about a recording are answered.
 * query_bench FILE.wake [ROUNDS [WORD]]
 *
 *     gcc -O2 -g -D_GNU_SOURCE -Isrc bench/query_bench.c build/libheapwake-tool.a -lzstd -o query_bench
 *
 * CPU time, best of ROUNDS (5); events are those of the recording, however
 * often they are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "query/parse.h"
#include "query/query.h"

struct question {
    const char *name;
    bool sums_only;       /* nobody asks for peaks */
    const char *words[8]; /* key, value, ... */
};

static const struct question questions[] = {
    {"totals only", false, {NULL}},
    {"nothing filtered, all metrics", false, {"detail", "yes"}},
    {"size", false, {"size-min", "100", "size-max", "300"}},
    {"stack, sums only", true, {"depth-min", "10", "stack", "1,2,3,4,5,6,7,8,9,10"}},
    {"stack", false, {"depth-min", "10", "stack", "1,2,3,4,5,6,7,8,9,10"}},
    {"leaked", false, {"state", "leaked"}},
    {"lifetime of most (two readings)", false, {"lifetime-min", "1us", "lifetime-max", "1ms"}},
    {"temporary (few, counted late)", false, {"state", "temporary"}},
    {"chains (two readings)", false, {"chain-length-min", "2"}},
    {"group interval (two readings)", false, {"group-interval-min", "50%"}},
    {"timeline of 1000 ticks", false, {"ticks", "1000"}},
    {"medians and histograms", false, {"median", "yes", "histograms", "yes"}},
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int run(struct wake_reader *reader, const struct question *question, unsigned rounds)
{
    struct query_result result;
    struct query q;
    struct err err;
    double best = 1e18, events = (double)wake_reader_summary(reader)->events;
    int code = 0;
    query_init(&q);
    query_result_init(&result);
    q.sums_only = question->sums_only;
    for (unsigned i = 0; question->words[i] != NULL && code == 0; i += 2)
        code = query_parse(&q, question->words[i], question->words[i + 1], &err);
    for (unsigned i = 0; i < rounds && code == 0; i++) {
        double start = now_ns();
        code = query_run(&q, reader, &result, &err);
        double spent = now_ns() - start;
        best = spent < best ? spent : best;
    }
    if (code != 0)
        fprintf(stderr, "query_bench: %s\n", err.text);
    else
        printf("%-32s %10.3f ms  %6.1f ns/event  %llu rows, %llu blocks\n", question->name, best / 1e6,
               best / events, (unsigned long long)result.rows.count,
               (unsigned long long)result.total.allocated_blocks);
    query_result_release(&result);
    query_release(&q);
    return code;
}

int main(int argc, char **argv)
{
    struct wake_reader *reader;
    struct err err;
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
    const char *only = argc > 3 ? argv[3] : "";
    if (argc < 2) {
        fprintf(stderr, "usage: query_bench FILE.wake [ROUNDS [WORD]]\n");
        return 2;
    }
    if (wake_reader_open(&reader, argv[1], &err) != 0) {
        fprintf(stderr, "query_bench: %s\n", err.text);
        return 1;
    }
    int code = 0;
    for (size_t i = 0; i < sizeof questions / sizeof *questions && code == 0; i++)
        if (strstr(questions[i].name, only) != NULL)
            code = run(reader, &questions[i], rounds);
    wake_reader_close(reader);
    return code == 0 ? 0 : 1;
}
