/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * insight_fuzz: what is concluded from recordings that make no sense (libFuzzer):
 * verdicts, misuse, advice, what if, histories, comparisons.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc tests/fuzz/insight_fuzz.c \
 *         $(scripts/sources src/engine src/analysis src/store src/tool) -lzstd -lm
 *
 * Input: triples of bytes that become the events of a process and of one that was
 * forked from it, with wild numbers of threads, stacks, blocks and addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/address_history.h"
#include "analysis/advice.h"
#include "analysis/compare.h"
#include "analysis/flame.h"
#include "analysis/misuse.h"
#include "analysis/site_trend.h"
#include "analysis/stretches.h"
#include "analysis/verdict.h"
#include "analysis/what_if.h"
#include "engine/maps.h"
#include "store/writer.h"
#include "wire/record.h"

enum { PROCESSES = 2 };

static const struct name_place *name(void *context, uint32_t process, const struct wake_node *node)
{
    static const struct name_frame frame = {.function = "main", .linkage = "", .file = "main.c"};
    static const struct name_place place = {.frames = &frame, .count = 1};
    (void)context, (void)process;
    return node->module == 0 ? NULL : &place;
}

/* Mappings, the break, and samples of their use; lengths may wrap. */
static void make_maps(struct wake_writer *w, struct wake_stream *s, uint64_t time, unsigned thread,
                      const uint8_t *bytes)
{
    uint64_t start = (uint64_t)(bytes[2] % 32) * 4096, length = (uint64_t)(bytes[1] % 16) * 2500;
    struct wake_usage u = {.start = start,
                           .end = start + (uint64_t)(1 + bytes[1] % 8) * 4096,
                           .rss_bytes = (uint64_t)bytes[2] * 1024,
                           .is_gone = bytes[2] % 5 == 0,
                           .name = bytes[1] % 3 == 0 ? "[heap]" : ""};
    if (bytes[1] % 16 == 15)
        length = UINT64_MAX - start + bytes[2];
    switch (bytes[2] / 32 % 4) {
    case 0:
        wake_stream_unmap(s, time, thread, bytes[1] % 2, start, length);
        break;
    case 1:
        wake_stream_brk(s, time, thread, 1, start, length);
        break;
    case 2:
        wake_writer_sample_usage(w, bytes[1] >> 5 & 1, time, bytes[1], bytes[2] % 7 == 0, &u, 1);
        break;
    default:
        wake_stream_map(s, time, thread, bytes[1] % 2, start, length, bytes[2] % 2 == 0 ? 0 : 3,
                        bytes[1] % 9);
    }
}

static void make(const char *path, const uint8_t *bytes, size_t length)
{
    struct wake_writer *w;
    struct wake_stream *streams[PROCESSES];
    uint64_t time = 0, made[PROCESSES] = {0};
    if (wake_writer_open(&w, path, NULL) != 0)
        abort();
    for (uint32_t i = 0; i < PROCESSES; i++) {
        struct wake_process_info info = {.pid = i + 1, .parent = i, .forked = i > 0, .exe = "/bin/app"};
        uint32_t p = wake_writer_add_process(w, &info);
        wake_writer_add_thread(w, p, 1, 1, 0);
        wake_writer_add_stack(w, p, (const struct wake_frame[]){{0x1000, 0}, {0x2000, 1}}, 2, 0, 0);
        wake_writer_add_stack(w, p, (const struct wake_frame[]){{0x3000, 0}}, 1, 0, 0);
        streams[p] = wake_writer_stream(w, p);
    }
    for (; length >= 3; bytes += 3, length -= 3) {
        unsigned thread = bytes[1] >> 6 == 3 ? bytes[1] * 0x1010101u : bytes[1] >> 6, what = bytes[0] % 16;
        unsigned process = bytes[1] >> 5 & 1;
        struct wake_stream *s = streams[process];
        time += (uint64_t)(bytes[0] >> 4) * 1000000;
        if (what < 5) {
            uint64_t number = made[process] == 0 ? 0 : bytes[2] % made[process];
            wake_stream_free(s, time, thread, 1 + what, number, bytes[2]);
        } else if (what == 15) {
            make_maps(w, s, time, thread, bytes);
        } else if (what < 7) {
            wake_stream_free_unknown(s, time, thread, what - 4, bytes[1] % 4u, bytes[2] * 16u);
        } else {
            unsigned kind = 1 + bytes[1] % 12;
            bool continues = kind == KIND_REALLOC && made[process] > 0;
            wake_stream_alloc(s, time, thread, kind, bytes[2] % 5, bytes[2] * 16u, bytes[2], bytes[2] + 8u,
                              continues ? 1 + bytes[2] % made[process] : 0);
            made[process]++;
        }
    }
    if (wake_writer_close(w, 0, NULL) != 0)
        abort();
}

/* Whatever fails says why. */
static void expect(int code, const struct err *err)
{
    if (code != 0 && err->text[0] == '\0')
        abort();
}

static void judge(const struct query *q, struct wake_reader *r, uint32_t process)
{
    static const uint32_t stacks[] = {0, 1, 2, 70000};
    struct level_table l;
    struct err err;
    err_init(&err);
    level_table_init(&l);
    expect(site_trend_read(&l, q, r, process, stacks, 4, &err), &err);
    for (size_t i = 0; i < l.rows.count; i++) {
        struct verdict v = verdict_find(&l, &l.rows.data[i]);
        if (v.kind >= VERDICT_COUNT || !(v.confidence >= 0 && v.confidence <= 1))
            abort();
    }
    level_table_release(&l);
}

static void look(const struct query *q, struct wake_reader *r, uint32_t process, struct advices *advices)
{
    struct misuses misuses;
    struct address_histories touches;
    struct err err;
    err_init(&err);
    misuses_init(&misuses);
    address_histories_init(&touches);
    expect(misuses_read(&misuses, q, r, process, &err), &err);
    for (size_t i = 0; i < misuses.list.count; i++) {
        if (misuses.list.data[i].count == 0 || misuses.list.data[i].kind >= MISUSE_COUNT)
            abort();
    }
    expect(address_histories_read(&touches, q, r, process, 0x100, &err), &err);
    expect(advices_read(advices, q, r, process, 0, &err), &err);
    struct maps maps;
    struct stretches stretches;
    maps_init(&maps);
    stretches_init(&stretches);
    expect(maps_read(&maps, q, r, process, 0, &err), &err);
    for (size_t i = 0; i < maps.list.count; i++) {
        const struct mapping *m = &maps.list.data[i];
        uint64_t left = 0;
        for (size_t k = 0; k < m->pieces.count; k++)
            left += m->pieces.data[k].end - m->pieces.data[k].start;
        if (left != m->left_bytes || left > m->end - m->start)
            abort();
        if (!stretches_set(&stretches, m))
            abort();
        for (size_t k = 0; k < stretches.list.count; k++)
            left -= stretches.list.data[k].is_left ? stretches.list.data[k].end - stretches.list.data[k].start
                                                   : 0;
        if (left != 0)
            abort();
    }
    stretches_release(&stretches);
    maps_release(&maps);
    misuses_release(&misuses);
    address_histories_release(&touches);
}

static void suppose(const struct query *q, struct wake_reader *r, uint32_t process, bool has_earlier)
{
    struct what_if w;
    struct what_if_answer answer = {0};
    struct err err;
    err_init(&err);
    what_if_init(&w);
    expect(what_if_add(&w, "function~main", &err), &err);
    w.has_earlier = has_earlier;
    w.earlier_ns = 5000000;
    expect(what_if_read(&w, q, r, process, &answer, &err), &err);
    if (answer.would_be.bytes > answer.was.bytes)
        abort();
    what_if_release(&w);
}

/* A recording against itself. */
static void hold_against(const struct query *q, struct wake_reader *r, struct traces *c)
{
    struct query_result result;
    struct sites sites;
    struct compare d;
    struct flame flame;
    struct err err;
    err_init(&err);
    query_result_init(&result);
    sites_init(&sites);
    compare_init(&d);
    flame_init(&flame);
    expect(query_run(q, r, &result, &err), &err);
    expect(sites_add(&sites, c, result.rows.data, result.rows.count, &err), &err);
    expect(compare_build(&d, c, &sites, &sites, false, &err), &err);
    if (compare_sort(&d, c, MEASURE_ALLOCATED) != 0)
        abort();
    expect(flame_build(&flame, c, &d, MEASURE_ALLOCATED, 0.001, &err), &err);
    flame_release(&flame);
    compare_release(&d);
    sites_release(&sites);
    query_result_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    struct query q;
    struct wake_reader *r;
    struct traces traces;
    struct advices advices;
    struct err err;
    uint32_t base;
    if (path[0] == '\0')
        snprintf(path, sizeof path, "/dev/shm/insight_fuzz.%d.wake", (int)getpid());
    make(path, data, size);
    query_init(&q);
    q.find_place = name;
    err_init(&err);
    if (wake_reader_open(&r, path, &err) == 0) {
        traces_init(&traces);
        advices_init(&advices);
        expect(traces_add_reader(&traces, r, &base, &err), &err);
        for (uint32_t i = 0; i < wake_reader_process_count(r); i++) {
            judge(&q, r, i);
            look(&q, r, i, &advices);
            suppose(&q, r, i, false);
            suppose(&q, r, i, true);
        }
        expect(advices_build(&advices, &traces, 1000, 1000000, &err), &err);
        hold_against(&q, r, &traces);
        advices_release(&advices);
        traces_release(&traces);
        wake_reader_close(r);
    }
    unlink(path);
    query_release(&q);
    return 0;
}
