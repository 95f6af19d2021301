/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * query_fuzz: the words of queries, and queries on recordings that make no
 * sense (libFuzzer).
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc tests/fuzz/query_fuzz.c \
 *         src/engine/[a-z]*.c src/analysis/[a-z]*.c src/store/[a-z]*.c src/tool/[a-z]*.c -lzstd       (without the _test.c files)
 *
 * Input: lines "key=value" up to an empty line, then triples of bytes that
 * become the events of a recording with wild numbers of threads and stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/ledger.h"
#include "engine/maps.h"
#include "engine/parse.h"
#include "engine/query.h"
#include "store/writer.h"
#include "wire/record.h"

enum { LINES_MAX = 16 };

static const struct name_place *name(void *context, uint32_t process, const struct wake_node *node)
{
    static const struct name_frame frame = {.function = "main", .linkage = "", .file = "main.c"};
    static const struct name_place place = {.frames = &frame, .count = 1};
    (void)context, (void)process;
    return node->module == 0 ? NULL : &place;
}

static const char *take_lines(struct query *q, char *text)
{
    for (unsigned i = 0; i < LINES_MAX; i++) {
        char *end = strchr(text, '\n'), *value;
        if (end == NULL)
            return text + strlen(text);
        *end = '\0';
        if (text == end)
            return end + 1;
        if ((value = strchr(text, '=')) != NULL) {
            struct err err;
            *value++ = '\0';
            err_init(&err);
            if (query_parse(q, text, value, &err) != 0 && err.text[0] == '\0')
                abort();
        }
        text = end + 1;
    }
    return text;
}

static void make(const char *path, const uint8_t *bytes, size_t length)
{
    struct wake_writer *w;
    uint64_t time = 0, made = 0;
    if (wake_writer_open(&w, path, NULL) != 0)
        abort();
    uint32_t p = wake_writer_add_process(
        w, &(struct wake_process_info){.pid = 1, .has_arenas = length % 2 == 0, .exe = "/bin/app"});
    wake_writer_add_thread(w, p, 1, 1, 0);
    wake_writer_add_stack(w, p, (const struct wake_frame[]){{0x1000, 0}, {0x2000, 1}}, 2, 0, 0);
    struct wake_stream *s = wake_writer_stream(w, p);
    for (; length >= 3; bytes += 3, length -= 3) {
        unsigned thread = bytes[1] >> 6 == 3 ? bytes[1] * 0x1010101u : bytes[1] >> 6, what = bytes[0] % 16;
        time += bytes[0] >> 4;
        if (what < 5)
            wake_stream_free(s, time, thread, 1 + what, made == 0 ? 0 : bytes[2] % made, bytes[2]);
        else if (what == 5)
            wake_stream_mark(s, time, thread, "mark", 4);
        else if (what == 6)
            wake_writer_flush(w);
        else if (what == 7 && bytes[1] % 2 == 0)
            wake_stream_map(s, time, thread, bytes[2] % 4, bytes[2] % 8 * 4096u, bytes[2] * 64u, bytes[1] % 8,
                            34);
        else if (what == 7)
            wake_stream_unmap(s, time, thread, bytes[2] % 4, bytes[2] % 8 * 4096u, bytes[2] * 64u);
        else {
            unsigned kind = 1 + bytes[1] % 12;
            wake_stream_alloc(s, time, thread, kind, bytes[2] % 4, bytes[2] * 16u, bytes[2], bytes[2] + 8u,
                              kind == KIND_REALLOC && made > 0 ? 1 + bytes[2] % made : 0);
            made++;
        }
    }
    if (wake_writer_close(w, 0, NULL) != 0)
        abort();
}

/* The same question about mappings. */
static void ask_mappings(const struct query *q, struct wake_reader *r)
{
    struct maps m;
    struct err err;
    err_init(&err);
    maps_init(&m);
    for (uint32_t i = 0; i < wake_reader_process_count(r); i++)
        if (maps_read(&m, q, r, i, 0, &err) != 0 && err.text[0] == '\0')
            abort();
    maps_order(&m, MAPS_BY_TIME, true);
    uint64_t left = 0;
    for (size_t i = 0; i < m.chosen.count; i++)
        left += m.list.data[m.chosen.data[i]].left_bytes;
    if (left != m.left_bytes || m.chosen.count > m.list.count)
        abort();
    maps_release(&m);
}

/* What a recording answers that was asked something else before is what it answers at once. */
static void ask_again(const char *path, const struct query *q, const struct query_result *right)
{
    struct wake_reader *reader;
    struct query_result result;
    struct err err;
    const struct ledger_limits limits = {.events_apart = 1};
    if (wake_reader_open(&reader, path, &err) != 0 || ledger_attach(reader, &limits, &err) != 0)
        abort();
    query_result_init(&result);
    if (q->want != 0) /* otherwise it grows */
        ledger_wait(ledger_of(reader));
    if (query_run(q, reader, &result, &err) == 0) {
        if (q->sums_only)
            result.total.peak_bytes = right->total.peak_bytes;
        if (result.rows.count != right->rows.count || result.timeline.count != right->timeline.count ||
            result.total.allocated_bytes != right->total.allocated_bytes ||
            result.total.freed_blocks != right->total.freed_blocks ||
            result.total.live_bytes != right->total.live_bytes ||
            result.total.temporary_blocks != right->total.temporary_blocks ||
            result.total.leaked_bytes != right->total.leaked_bytes ||
            result.total.lifetime_min_ns != right->total.lifetime_min_ns ||
            result.total.lifetime_max_ns != right->total.lifetime_max_ns ||
            result.total.first_ns != right->total.first_ns || result.total.last_ns != right->total.last_ns ||
            result.total.peak_bytes != right->total.peak_bytes)
            abort();
        for (size_t i = 0; i < result.timeline.count; i++)
            if (result.timeline.data[i].live_bytes != right->timeline.data[i].live_bytes ||
                result.timeline.data[i].frees != right->timeline.data[i].frees)
                abort();
    }
    query_result_release(&result);
    wake_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    struct query q;
    struct query_result result;
    struct wake_reader *reader;
    struct err err;
    if (path[0] == '\0')
        snprintf(path, sizeof path, "/dev/shm/query_fuzz.%d.wake", (int)getpid());
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    query_init(&q);
    q.find_place = name;
    const char *events = take_lines(&q, text);
    make(path, (const uint8_t *)events, (size_t)(text + size - events));
    if (q.ticks > 64)
        q.ticks = 64;
    query_result_init(&result);
    err_init(&err);
    if (wake_reader_open(&reader, path, &err) == 0) {
        struct metrics sum = {0};
        int code = query_run(&q, reader, &result, &err);
        if (code != 0 && err.text[0] == '\0')
            abort();
        if (code == 0)
            ask_again(path, &q, &result);
        for (size_t i = 0; i < result.rows.count; i++)
            sum.allocated_bytes += result.rows.data[i].m.allocated_bytes;
        if (sum.allocated_bytes != result.total.allocated_bytes)
            abort();
        ask_mappings(&q, reader);
        wake_reader_close(reader);
    }
    unlink(path);
    query_result_release(&result);
    query_release(&q);
    free(text);
    return 0;
}
