/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "store/codec.h"
#include "store/format.h"
#include "store/live.h"
#include "store/reader.h"
#include "store/sample.h"
#include "store/writer.h"
#include "tool/err.h"

static char path[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/reader_test.%d.wake", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void put_file(const void *bytes, size_t length)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    fclose(f);
}

static uint8_t *get_file(size_t *length)
{
    FILE *f = fopen(path, "r");
    uint8_t *bytes = malloc(1 << 20);
    assert_non_null(f);
    *length = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    return bytes;
}

/* A small recording; some chunks of events, or without the end of its process. */
static uint8_t *make_file(size_t *length, struct sample *s, unsigned chunks, bool ended)
{
    struct wake_writer *w;
    const struct wake_process_info info = {
        .pid = 100, .has_arenas = true, .exe = "/bin/app", .args = "app", .args_length = 4};
    sample_init(s, 11);
    s->has_arenas = true;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t a = wake_writer_add_process(w, &info);
    sample_add_meta(w, a);
    for (unsigned i = 0; i < chunks; i++) {
        sample_add_events(s, wake_writer_stream(w, a), 40);
        wake_writer_flush(w);
    }
    if (ended)
        sample_end_process(s, w, a);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    return get_file(length);
}

struct count {
    const struct sample *sample;
    uint64_t events;
};

/* Every event that is given is one that was written. */
static int count_block(const struct wake_block *b, void *context)
{
    struct count *c = context;
    for (uint32_t i = 0; i < b->count; i++) {
        assert_true(b->first_event + i < c->sample->events.count);
        const struct sample_event *e = &c->sample->events.data[b->first_event + i];
        assert_int_equal(b->event[i], e->event);
        assert_int_equal(b->time_ns[i], e->time_ns);
        assert_int_equal(b->address[i], e->address);
        assert_int_equal(b->size[i], e->size);
        assert_int_equal(b->usable[i], e->usable);
        assert_int_equal(b->arena[i], e->arena);
        assert_int_equal(b->number[i], e->number);
    }
    c->events += b->count;
    return 0;
}

struct columns {
    const struct sample *sample;
    unsigned wanted;
    uint64_t events;
};

/* The events by sort are those that there are, in order. */
static void check_lists(const struct wake_block *b)
{
    uint32_t allocs = 0, frees = 0;
    bool has_previous = false;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->event[i] == WAKE_ALLOC) {
            assert_true(allocs < b->alloc_count);
            assert_int_equal(b->alloc_at[allocs++], i);
            has_previous = has_previous || b->previous[i] != 0;
        } else if (b->event[i] == WAKE_FREE) {
            assert_true(frees < b->free_count);
            assert_int_equal(b->free_at[frees++], i);
        }
    }
    assert_int_equal(allocs, b->alloc_count);
    assert_int_equal(frees, b->free_count);
    assert_true(b->has_previous || !has_previous);
}

/* What was asked for is right, whatever else was not. */
static int check_columns(const struct wake_block *b, void *context)
{
    struct columns *c = context;
    check_lists(b);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct sample_event *e = &c->sample->events.data[b->first_event + i];
        assert_int_equal(b->event[i], e->event);
        assert_int_equal(b->detail[i], e->detail);
        assert_int_equal(b->number[i], e->number);
        if ((c->wanted & WAKE_TIME) != 0)
            assert_int_equal(b->time_ns[i], e->time_ns);
        if ((c->wanted & WAKE_THREAD) != 0)
            assert_int_equal(b->thread[i], e->thread);
        if (e->event == WAKE_FREE && (c->wanted & WAKE_FREE_STACK) != 0)
            assert_int_equal(b->stack[i], e->stack);
        if (e->event != WAKE_ALLOC)
            continue;
        if ((c->wanted & WAKE_STACK) != 0)
            assert_int_equal(b->stack[i], e->stack);
        if ((c->wanted & WAKE_ADDRESS) != 0)
            assert_int_equal(b->address[i], e->address);
        if ((c->wanted & WAKE_SIZE) != 0)
            assert_int_equal(b->size[i], e->size);
        if ((c->wanted & WAKE_USABLE) != 0)
            assert_int_equal(b->usable[i], e->usable);
        if ((c->wanted & WAKE_PREVIOUS) != 0)
            assert_int_equal(b->previous[i], e->previous);
        if ((c->wanted & WAKE_ARENA) != 0)
            assert_int_equal(b->arena[i], e->arena);
    }
    c->events += b->count;
    return 0;
}

static void any_choice_of_columns_is_right(void **state)
{
    (void)state;
    struct sample s;
    struct wake_writer *w;
    struct wake_reader *r;
    const struct wake_process_info info = {.pid = 100, .has_arenas = true, .exe = "/bin/app"};
    sample_init(&s, 5);
    s.has_arenas = true;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t process = wake_writer_add_process(w, &info);
    sample_add_events(&s, wake_writer_stream(w, process), 2500);
    wake_writer_flush(w);
    sample_add_events(&s, wake_writer_stream(w, process), 300);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    for (unsigned wanted = 0; wanted <= WAKE_EVERYTHING; wanted++) {
        struct columns c = {.sample = &s, .wanted = wanted};
        assert_int_equal(
            wake_reader_visit_columns(r, process, 0, UINT64_MAX, wanted, check_columns, &c, NULL), 0);
        assert_int_equal(c.events, s.events.count);
    }
    /* A window that cuts blocks, whether times are asked for or not. */
    for (unsigned i = 0; i < 100; i++) {
        size_t from = i * 28, to = s.events.count - 1 - i * 7, inside = 0;
        uint64_t from_ns = s.events.data[from].time_ns, to_ns = s.events.data[to].time_ns;
        struct columns c = {.sample = &s, .wanted = i % 2 == 0 ? WAKE_STACK : WAKE_STACK | WAKE_TIME};
        for (size_t k = 0; k < s.events.count; k++)
            inside += s.events.data[k].time_ns >= from_ns && s.events.data[k].time_ns <= to_ns;
        assert_int_equal(
            wake_reader_visit_columns(r, process, from_ns, to_ns, c.wanted, check_columns, &c, NULL), 0);
        assert_int_equal(c.events, from_ns <= to_ns ? inside : 0);
    }
    assert_int_equal(wake_reader_damage_count(r), 0);
    wake_reader_close(r);
    sample_release(&s);
}

static void check_whole(const struct sample *s, const struct wake_process *p)
{
    assert_int_equal(p->end.allocations, s->allocations);
    assert_int_equal(p->end.frees, s->frees);
    assert_int_equal(p->end.allocated_bytes, s->allocated_bytes);
    assert_int_equal(p->end.leaked_blocks, s->live.count);
    assert_int_equal(p->end.leaked_bytes, s->live_bytes);
}

static void a_file_cut_at_any_byte_gives_its_whole_chunks(void **state)
{
    (void)state;
    struct sample s;
    size_t length;
    uint8_t *bytes = make_file(&length, &s, 5, true);
    uint64_t most = 0;
    for (size_t cut = 0; cut < length; cut++) {
        struct wake_reader *r;
        struct err err;
        put_file(bytes, cut);
        int code = wake_reader_open(&r, path, &err);
        if (cut < FORMAT_HEADER_SIZE) {
            assert_int_equal(code, ERR_INPUT);
            continue;
        }
        assert_int_equal(code, 0);
        assert_false(wake_reader_summary(r)->complete);
        struct count c = {.sample = &s};
        if (wake_reader_process_count(r) > 0) {
            assert_int_equal(wake_reader_visit(r, 0, 0, UINT64_MAX, count_block, &c, NULL), 0);
            const struct wake_process *p = wake_reader_process(r, 0);
            assert_true(p->ended || p->derived);
            if (c.events == s.events.count)
                check_whole(&s, p);
        }
        assert_true(c.events >= most);
        assert_int_equal(c.events, wake_reader_summary(r)->events);
        most = c.events;
        wake_reader_close(r);
    }
    assert_int_equal(most, s.events.count);
    free(bytes);
    sample_release(&s);
}

static void a_flipped_bit_is_named_or_harmless(void **state)
{
    (void)state;
    struct sample s;
    size_t length;
    uint8_t *bytes = make_file(&length, &s, 3, true);
    for (size_t at = 0; at < length; at++) {
        struct wake_reader *r;
        struct err err;
        bytes[at] ^= (uint8_t)(1u << at % 8);
        put_file(bytes, length);
        bytes[at] ^= (uint8_t)(1u << at % 8);
        int code = wake_reader_open(&r, path, &err);
        assert_int_equal(code, 0);
        struct count c = {.sample = &s};
        assert_int_equal(wake_reader_visit(r, 0, 0, UINT64_MAX, count_block, &c, NULL), 0);
        assert_int_equal(wake_reader_verify(r, &err), 0);
        assert_true(wake_reader_damage_count(r) > 0);
        assert_false(wake_reader_summary(r)->complete);
        const struct wake_process *p = wake_reader_process(r, 0);
        if (p->ended || c.events == s.events.count)
            check_whole(&s, p);
        wake_reader_close(r);
    }
    free(bytes);
    sample_release(&s);
}

static void a_recording_without_end_derives_its_totals(void **state)
{
    (void)state;
    struct sample s;
    size_t length;
    uint8_t *bytes = make_file(&length, &s, 50, false);
    struct wake_reader *r;
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_true(p->derived);
    assert_false(p->ended);
    assert_false(wake_reader_summary(r)->complete);
    assert_true(wake_reader_summary(r)->closed);
    check_whole(&s, p);
    assert_int_equal(p->live.count, s.live.count);
    assert_int_equal(p->totals.count, p->stacks.count);
    uint64_t bytes_sum = 0, peak = 0, freed = 0;
    for (size_t i = 0; i < p->totals.count; i++) {
        bytes_sum += p->totals.data[i].allocated_bytes;
        peak += p->totals.data[i].peak_bytes;
        freed += p->totals.data[i].freed;
    }
    assert_int_equal(bytes_sum, s.allocated_bytes);
    assert_int_equal(freed, s.frees);
    assert_int_equal(peak, p->end.peak_bytes);
    wake_reader_close(r);
    free(bytes);
    sample_release(&s);
}

static void expect_refusal(int code, const char *sentence)
{
    struct wake_reader *r;
    struct err err;
    char text[256];
    assert_int_equal(wake_reader_open(&r, path, &err), code);
    assert_null(r);
    snprintf(text, sizeof text, sentence, path);
    assert_string_equal(err.text, text);
    assert_int_equal(err.code, code);
}

static void what_is_no_recording_gets_one_sentence(void **state)
{
    (void)state;
    struct wake_reader *r;
    struct err err;
    unlink(path);
    expect_refusal(ERR_ABSENT, "%s cannot be opened: No such file or directory.");
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refusal(ERR_INPUT, "%s is a pipe; a file is needed.");
    unlink(path);
    put_file("", 0);
    expect_refusal(ERR_INPUT, "%s is empty.");
    put_file("#!/bin/sh\n", 10);
    expect_refusal(ERR_INPUT, "%s is not a heapwake recording.");
    put_file("HEAPWAKE", 8);
    expect_refusal(ERR_INPUT, "%s is a recording that ends inside its header.");
    assert_int_equal(wake_reader_open(&r, "/tmp", &err), ERR_INPUT);
    assert_string_equal(err.text, "/tmp is a directory; a file is needed.");
    assert_int_equal(wake_reader_open(&r, "/dev/zero", &err), ERR_INPUT);
    assert_string_equal(err.text, "/dev/zero is a device; a file is needed.");
}

static void a_newer_major_version_is_refused(void **state)
{
    (void)state;
    uint8_t head[FORMAT_HEADER_SIZE];
    file_header_encode(head, &(struct file_header){.major = 2, .length = FORMAT_HEADER_SIZE});
    put_file(head, sizeof head);
    expect_refusal(ERR_UNSUPPORTED,
                   "%s was written by a newer heapwake (format 2.0; this one reads up to 1).");
}

static void a_newer_minor_version_is_read(void **state)
{
    (void)state;
    /* A longer header and a chunk of a type not known yet. */
    uint8_t bytes[FORMAT_HEADER_SIZE + 16 + FORMAT_CHUNK_HEADER_SIZE + 8] = {0};
    struct wake_reader *r;
    file_header_encode(bytes,
                       &(struct file_header){.major = 1, .minor = 9, .length = FORMAT_HEADER_SIZE + 16});
    uint8_t *chunk = bytes + FORMAT_HEADER_SIZE + 16;
    chunk_header_encode(chunk, &(struct chunk_header){.type = 99,
                                                      .process = FORMAT_NO_PROCESS,
                                                      .raw = 8,
                                                      .stored = 8,
                                                      .sum = codec_sum(bytes + sizeof bytes - 8, 8)});
    put_file(bytes, sizeof bytes);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_int_equal(wake_reader_summary(r)->minor, 9);
    assert_int_equal(wake_reader_damage_count(r), 0);
    assert_int_equal(wake_reader_process_count(r), 0);
    wake_reader_close(r);
}

static int resolve_block(const struct wake_block *b, void *context)
{
    struct wake_live *live = context;
    for (uint32_t i = 0; i < b->count; i++) {
        struct wake_live_block was;
        if (b->event[i] == WAKE_ALLOC)
            assert_true(wake_live_add(live, b, i));
        if (b->event[i] == WAKE_FREE) {
            assert_true(wake_live_take(live, b->number[i], &was));
            assert_int_equal(was.allocation, b->number[i]);
        }
    }
    return 0;
}

static void frees_are_resolved_to_their_blocks(void **state)
{
    (void)state;
    struct sample s;
    size_t length;
    free(make_file(&length, &s, 50, true));
    struct wake_reader *r;
    struct wake_live live;
    struct wake_live_block block;
    wake_live_init(&live);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_int_equal(wake_reader_visit(r, 0, 0, UINT64_MAX, resolve_block, &live, NULL), 0);
    assert_int_equal(wake_live_count(&live), s.live.count);
    uint64_t bytes = 0;
    for (struct numbered_walk at = {0}; wake_live_next(&live, &at, &block);)
        bytes += block.size;
    assert_int_equal(bytes, s.live_bytes);
    wake_live_release(&live);
    wake_reader_close(r);
    sample_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_cut_at_any_byte_gives_its_whole_chunks),
        cmocka_unit_test(a_flipped_bit_is_named_or_harmless),
        cmocka_unit_test(a_recording_without_end_derives_its_totals),
        cmocka_unit_test(what_is_no_recording_gets_one_sentence),
        cmocka_unit_test(a_newer_major_version_is_refused),
        cmocka_unit_test(a_newer_minor_version_is_read),
        cmocka_unit_test(frees_are_resolved_to_their_blocks),
        cmocka_unit_test(any_choice_of_columns_is_right),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
