/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "store/live.h"
#include "store/reader.h"
#include "store/sample.h"
#include "store/writer.h"
#include "tool/err.h"

static char path[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/writer_test.%d.wake", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void expect_live(const struct wake_live_block *a, const struct wake_live_block *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_true(a[i].allocation == b[i].allocation && a[i].address == b[i].address &&
                    a[i].size == b[i].size && a[i].stack == b[i].stack);
}

static uint32_t begin_process(struct wake_writer *w, uint32_t pid)
{
    const struct wake_process_info info = {.pid = pid,
                                           .ppid = 1,
                                           .parent = pid == 100 ? 0 : 1,
                                           .forked = pid != 100,
                                           .has_arenas = pid == 102,
                                           .start_ns = 3,
                                           .exe = "/bin/app",
                                           .args = "app\0-x\0",
                                           .args_length = 7};
    return wake_writer_add_process(w, &info);
}

struct compare {
    const struct sample *sample;
    uint64_t at;
};

static int compare_block(const struct wake_block *b, void *context)
{
    struct compare *c = context;
    assert_int_equal(b->first_event, c->at);
    for (uint32_t i = 0; i < b->count; i++, c->at++) {
        const struct sample_event *e = &c->sample->events.data[c->at];
        assert_int_equal(b->event[i], e->event);
        assert_int_equal(b->detail[i], e->detail);
        assert_int_equal(b->time_ns[i], e->time_ns);
        assert_int_equal(b->thread[i], e->thread);
        assert_int_equal(b->stack[i], e->stack);
        assert_int_equal(b->address[i], e->address);
        assert_int_equal(b->size[i], e->size);
        assert_int_equal(b->usable[i], e->usable);
        assert_int_equal(b->number[i], e->number);
        assert_int_equal(b->previous[i], e->previous);
        assert_int_equal(b->arena[i], e->arena);
    }
    return 0;
}

static void check_events(struct wake_reader *r, size_t process, const struct sample *s)
{
    struct compare c = {.sample = s};
    assert_int_equal(wake_reader_visit(r, process, 0, UINT64_MAX, compare_block, &c, NULL), 0);
    assert_int_equal(c.at, s->events.count);
}

static void every_event_comes_back(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *r;
    struct err err;
    struct sample one, two;
    sample_init(&one, 1);
    sample_init(&two, 2);
    two.has_arenas = true;
    assert_int_equal(wake_writer_open(&w, path, &err), 0);
    uint32_t a = begin_process(w, 100), b = begin_process(w, 102);
    sample_add_meta(w, a);
    for (int i = 0; i < 20; i++) {
        sample_add_events(&one, wake_writer_stream(w, a), 20000);
        sample_add_events(&two, wake_writer_stream(w, b), i == 3 ? 77 : 17777);
        if (i % 5 == 0)
            wake_writer_flush(w);
    }
    sample_end_process(&one, w, a);
    sample_end_process(&two, w, b);
    assert_int_equal(wake_writer_close(w, 12345, &err), 0);

    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    const struct wake_summary *s = wake_reader_summary(r);
    assert_true(s->complete);
    assert_true(s->closed);
    assert_int_equal(s->collector_cpu_ns, 12345);
    assert_int_equal(s->events, one.events.count + two.events.count);
    assert_int_equal(wake_reader_process_count(r), 2);
    check_events(r, 0, &one);
    check_events(r, 1, &two);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_int_equal(p->live.count, one.live.count);
    expect_live(p->live.data, one.live.data, one.live.count);
    assert_int_equal(p->marks.count, one.marks);
    assert_string_equal(p->marks.data[3].name, "mark 3");
    assert_int_equal(wake_reader_verify(r, &err), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    wake_reader_close(r);
    sample_release(&one);
    sample_release(&two);
}

static int check_noise(const struct wake_block *b, void *context)
{
    uint64_t *seed = context;
    for (uint32_t i = 0; i < b->count; i++)
        assert_int_equal(b->size[i], hash_mix(++*seed) % 100);
    return 0;
}

/* Blocks of sizes that can be packed a little, so many ns from one to the next.  The bytes of the file. */
static uint64_t write_noise(uint64_t step_ns)
{
    struct wake_writer *w;
    struct wake_reader *r;
    struct err err;
    uint64_t seed = 0;
    assert_int_equal(wake_writer_open(&w, path, &err), 0);
    struct wake_stream *s = wake_writer_stream(w, begin_process(w, 100));
    for (uint64_t i = 1; i <= 400000; i++) {
        uint64_t size = hash_mix(i) % 100;
        wake_stream_alloc(s, i * step_ns, 1, KIND_MALLOC, 0, 4096 + i * 16384, size, size, 0);
    }
    assert_int_equal(wake_writer_close(w, 0, &err), 0);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    assert_int_equal(wake_reader_visit(r, 0, 0, UINT64_MAX, check_noise, &seed, NULL), 0);
    assert_int_equal(seed, 400000);
    wake_reader_close(r);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (uint64_t)st.st_size;
}

static void fast_events_are_packed_less(void **state)
{
    (void)state;
    uint64_t slow = write_noise(100000), fast = write_noise(100);
    assert_true(fast > slow && fast < slow + slow / 4);
}

/* What sample_add_meta has told of the use of memory. */
static void expect_usage(const struct wake_process *p)
{
    assert_int_equal(p->usage_samples.count, 2);
    assert_true(p->usage_samples.data[0].anew && !p->usage_samples.data[1].anew);
    assert_int_equal(p->usage_samples.data[0].took_ns, 4);
    assert_int_equal(p->usage_samples.data[1].time_ns, 25);
    assert_int_equal(p->usage_samples.data[1].first, 2);
    assert_int_equal(p->usage_samples.data[1].count, 1);
    assert_true(p->usage.data[2].is_gone);
    assert_int_equal(p->usage.data[2].end, 0x500000);
    assert_int_equal(p->usage.data[1].start, 0x7f1000000000);
    assert_int_equal(p->usage.data[1].rss_bytes, 8 << 10);
    assert_int_equal(p->usage.data[1].swap_bytes, 4 << 10);
    assert_int_equal(p->usage.data[0].rights, WAKE_READ | WAKE_EXECUTE);
    assert_string_equal(p->usage.data[1].name, "[anon:x]");
}

static void meta_data_comes_back(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *r;
    struct sample s;
    sample_init(&s, 3);
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t a = begin_process(w, 100);
    sample_add_meta(w, a);
    sample_add_events(&s, wake_writer_stream(w, a), 10);
    sample_end_process(&s, w, a);
    uint32_t b = begin_process(w, 101);
    sample_end_process(&s, w, b);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);

    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_int_equal(p->info.pid, 100);
    assert_string_equal(p->info.exe, "/bin/app");
    assert_int_equal(p->info.args_length, 7);
    assert_memory_equal(p->info.args, "app\0-x\0", 8);
    assert_true(wake_reader_process(r, 1)->info.forked);
    assert_int_equal(wake_reader_process(r, 1)->info.parent, 1);
    assert_int_equal(p->threads.count, 2);
    assert_string_equal(wake_process_find_thread(p, 1)->name, "main");
    assert_int_equal(wake_process_find_thread(p, 2)->tid, 4243);
    assert_null(wake_process_find_thread(p, 3));
    assert_int_equal(p->modules.count, 2);
    assert_string_equal(p->modules.data[1].path, "/lib/libc.so.6");
    assert_int_equal(p->modules.data[1].bias, 0x7f0000000000);
    assert_int_equal(p->modules.data[0].build_id_length, 20);
    assert_int_equal(p->stacks.count, 5);
    const struct wake_stack *st = wake_process_find_stack(p, 1);
    static const uint64_t addresses[] = {0x401010, 0x401020 | RECORD_FRAME_EXACT, 0x7f0000001000, 0x401100,
                                         42};
    uint32_t node = st->leaf;
    for (unsigned i = 0; i < 5; i++, node = p->nodes.data[node].parent)
        assert_int_equal(p->nodes.data[node].address, addresses[i]);
    assert_int_equal(node, 0);
    assert_int_equal(p->nodes.data[st->leaf].module, 1);
    assert_int_equal(wake_process_find_stack(p, 2)->cut, CUT_NO_CFI);
    assert_int_equal(wake_process_find_stack(p, 2)->depth, 4);
    assert_int_equal(wake_process_find_stack(p, 3)->depth, 0);
    assert_int_equal(wake_process_find_stack(p, 4)->omitted, 77);
    /* Stack 2 is stack 1 without its innermost frame: not a frame is stored twice. */
    assert_int_equal(wake_process_find_stack(p, 2)->leaf, p->nodes.data[st->leaf].parent);
    assert_int_equal(p->samples.count, 2);
    assert_int_equal(p->samples.data[1].rss_bytes, 3 << 20);
    expect_usage(p);
    assert_int_equal(p->totals.count, 5);
    assert_int_equal(p->totals.data[4].allocated_bytes, 400);
    assert_int_equal(p->end.wait_status, 9);
    assert_int_equal(p->end.leaked_blocks, s.live.count);
    wake_reader_close(r);
    sample_release(&s);
}

static void notes_come_back(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *r;
    struct err err;
    assert_int_equal(wake_writer_open_at(&w, path, 77, &err), 0);
    wake_writer_add_note(w, "Imported from afar.", 19);
    wake_writer_add_note(w, "It has no times. And more", 16);
    wake_writer_add_note(w, "Imported from afar.", 19);
    (void)begin_process(w, 100);
    assert_int_equal(wake_writer_close(w, 0, &err), 0);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    assert_int_equal(wake_reader_summary(r)->wall_ns, 77);
    assert_int_equal(wake_reader_note_count(r), 2);
    assert_string_equal(wake_reader_note(r, 0), "Imported from afar.");
    assert_string_equal(wake_reader_note(r, 1), "It has no times.");
    assert_int_equal(wake_reader_damage_count(r), 0);
    wake_reader_close(r);
}

/* How many notes there are, in one that names nothing; of a recording with these. */
static void veiled_note_of(const char *const *notes, size_t count, char text[WAKE_VEILED_NOTE])
{
    struct wake_writer *w;
    struct wake_reader *r;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    for (size_t i = 0; i < count; i++)
        wake_writer_add_note(w, notes[i], strlen(notes[i]));
    (void)begin_process(w, 100);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    (void)wake_reader_veiled_note(r, text);
    wake_reader_close(r);
}

static void a_veiled_note_counts_as_many_as_it_stands_for(void **state)
{
    (void)state;
    char three[WAKE_VEILED_NOTE], one[WAKE_VEILED_NOTE], all[WAKE_VEILED_NOTE];
    const char *notes[] = {"40 calls are missing.", "It has no times.", "50 notes are elsewhere."};
    const char *again[] = {three, "Another.", one};
    veiled_note_of(notes, 1, one);
    veiled_note_of(notes, 3, three);
    assert_int_equal(strncmp(three, "3 notes on ", 11), 0);
    veiled_note_of(again, 3, all);
    assert_int_equal(strncmp(all, "5 notes on ", 11), 0);
}

static void what_could_not_be_recorded_is_counted(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *r;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    (void)begin_process(w, 100);
    wake_writer_add_unrecorded(w, 2);
    wake_writer_add_unrecorded(w, 3);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_int_equal(wake_reader_summary(r)->unrecorded, 5);
    assert_int_equal(wake_reader_damage_count(r), 0);
    wake_reader_close(r);
}

static void deep_and_many_stacks_come_back(void **state)
{
    (void)state;
    enum { DEEP = 10000, MANY = 3000 };
    struct wake_writer *w;
    struct wake_reader *r;
    struct wake_frame *frames = calloc(DEEP, sizeof *frames);
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t a = begin_process(w, 100);
    for (uint32_t i = 0; i < DEEP; i++)
        frames[i] = (struct wake_frame){.address = 0x400000 + i * 7919 % 65536, .module = 1 + i % 200};
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(wake_writer_add_stack(w, a, frames + DEEP - 1 - i, i + 1, 0, 0), i + 1);
    assert_int_equal(wake_writer_add_stack(w, a, frames, DEEP, 0, 0), MANY + 1);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_int_equal(p->stacks.count, MANY + 2);
    for (uint32_t n = 1; n <= MANY + 1; n += n < 10 || n > MANY - 2 ? 1 : 500) {
        uint32_t depth = n <= MANY ? n : DEEP;
        uint32_t node = p->stacks.data[n].leaf;
        assert_int_equal(p->stacks.data[n].depth, depth);
        for (uint32_t i = 0; i < depth; i++, node = p->nodes.data[node].parent) {
            assert_int_equal(p->nodes.data[node].address, frames[DEEP - depth + i].address);
            assert_int_equal(p->nodes.data[node].module, frames[DEEP - depth + i].module);
        }
        assert_int_equal(node, 0);
    }
    assert_true(p->nodes.count < 4 * DEEP);
    wake_reader_close(r);
    free(frames);
}

static void a_window_of_time_is_cut_out(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *r;
    struct sample s;
    sample_init(&s, 4);
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t a = begin_process(w, 100);
    for (int i = 0; i < 10; i++) {
        sample_add_events(&s, wake_writer_stream(w, a), 5000);
        wake_writer_flush(w);
    }
    sample_end_process(&s, w, a);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_int_equal(wake_reader_span_count(r, 0), 10);
    for (size_t i = 0; i < s.events.count; i += 4999) {
        uint64_t from = s.events.data[i].time_ns, to = s.events.data[s.events.count - 1 - i / 2].time_ns;
        struct compare c = {.sample = &s, .at = i};
        while (c.at > 0 && s.events.data[c.at - 1].time_ns >= from)
            c.at--;
        size_t end = s.events.count;
        while (end > 0 && s.events.data[end - 1].time_ns > to)
            end--;
        if (to < from)
            continue;
        assert_int_equal(wake_reader_visit(r, 0, from, to, compare_block, &c, NULL), 0);
        assert_int_equal(c.at, end);
    }
    wake_reader_close(r);
    sample_release(&s);
}

static void spans_tell_live_bytes(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *r;
    struct wake_span span;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t a = begin_process(w, 100);
    struct wake_stream *s = wake_writer_stream(w, a);
    wake_stream_alloc(s, 10, 1, KIND_MALLOC, 0, 16, 100, 104, 0);
    wake_writer_flush(w);
    wake_stream_alloc(s, 20, 1, KIND_MALLOC, 0, 160, 50, 56, 0);
    wake_stream_free(s, 30, 1, HOW_FREE, 0, 100);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_true(wake_reader_span(r, 0, 1, &span));
    assert_int_equal(span.live_bytes_first, 100);
    assert_int_equal(span.live_bytes_max, 150);
    assert_int_equal(span.live_bytes_last, 50);
    assert_int_equal(span.live_blocks_first, 1);
    assert_int_equal(span.live_blocks_last, 1);
    assert_int_equal(span.first_ns, 20);
    assert_int_equal(span.last_ns, 30);
    assert_false(wake_reader_span(r, 0, 2, &span));
    wake_reader_close(r);
}

static void time_never_runs_backwards(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *r;
    struct wake_span span;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    struct wake_stream *s = wake_writer_stream(w, begin_process(w, 100));
    wake_stream_alloc(s, 50, 1, KIND_MALLOC, 0, 16, 100, 104, 0);
    wake_stream_alloc(s, 20, 1, KIND_MALLOC, 0, 16, 100, 104, 0);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_true(wake_reader_span(r, 0, 0, &span));
    assert_int_equal(span.first_ns, 50);
    assert_int_equal(span.last_ns, 50);
    wake_reader_close(r);
}

/* A million live blocks and 100,000 stacks: several chunks each. */
static void long_lists_are_split(void **state)
{
    (void)state;
    enum { LIVE = 1000000, STACKS = 100000 };
    struct wake_writer *w;
    struct wake_reader *r;
    struct wake_live_block *live = calloc(LIVE, sizeof *live);
    struct wake_stack_totals *totals = calloc(STACKS + 1, sizeof *totals);
    for (uint32_t i = 0; i < LIVE; i++)
        live[i] = (struct wake_live_block){i * 77 % LIVE, i * 16, i, i % 1000};
    for (uint32_t i = 0; i <= STACKS; i++)
        totals[i].allocated_bytes = i;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t a = begin_process(w, 100);
    struct wake_process_end end = {.leaked_blocks = LIVE, .complete = true};
    wake_writer_end_process(w, a, &end, totals, STACKS, live, LIVE);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_true(wake_reader_summary(r)->complete);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_int_equal(p->live.count, LIVE);
    expect_live(p->live.data, live, LIVE);
    assert_int_equal(p->totals.count, STACKS + 1);
    assert_memory_equal(p->totals.data, totals, (STACKS + 1) * sizeof *totals);
    wake_reader_close(r);
    free(live);
    free(totals);
}

static void the_file_is_private_and_a_link_is_not_followed(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct stat st;
    char victim[80];
    snprintf(victim, sizeof victim, "%s.victim", path);
    FILE *f = fopen(victim, "w");
    fputs("precious", f);
    fclose(f);
    unlink(path);
    assert_int_equal(symlink(victim, path), 0);
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(stat(victim, &st), 0);
    assert_int_equal(st.st_size, 8);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
    unlink(victim);
}

static void no_folder_gives_one_sentence(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct err err;
    assert_int_equal(wake_writer_open(&w, "/nonexistent/x.wake", &err), ERR_ABSENT);
    assert_string_equal(err.text, "/nonexistent/x.wake cannot be created: No such file or directory.");
    assert_int_equal(wake_writer_open(&w, "/dev/null", &err), ERR_INPUT);
    assert_int_equal(wake_writer_open(&w, "/tmp", &err), ERR_INPUT);
}

/* With a limit on the size of files in place of a small disk. */
static void write_with_limit(rlim_t limit, uint64_t seed)
{
    struct wake_writer *w;
    struct wake_reader *r;
    struct err err;
    struct sample s;
    struct rlimit old, small;
    sample_init(&s, seed);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &small);
    int code = wake_writer_open(&w, path, &err);
    if (code == 0) {
        uint32_t a = begin_process(w, 100);
        sample_add_meta(w, a);
        for (int i = 0; i < 40; i++) {
            sample_add_events(&s, wake_writer_stream(w, a), 5000);
            if (i % 3 == 0)
                wake_writer_flush(w);
        }
        sample_end_process(&s, w, a);
        code = wake_writer_close(w, 0, &err);
    }
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(code, ERR_FULL);
    if (limit < 64) {
        sample_release(&s);
        return;
    }
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    const struct wake_summary *sum = wake_reader_summary(r);
    assert_false(sum->complete);
    assert_int_equal(wake_reader_damage_count(r), 0);
    if (limit > 10000) {
        assert_true(sum->closed);
        assert_int_equal(sum->write_error, EFBIG);
        assert_int_equal(sum->events + sum->not_kept, s.events.count);
        const struct wake_process *p = wake_reader_process(r, 0);
        assert_true(p->ended);
        assert_int_equal(p->end.allocations, s.allocations);
    }
    struct compare c = {.sample = &s};
    if (wake_reader_process_count(r) > 0)
        assert_int_equal(wake_reader_visit(r, 0, 0, UINT64_MAX, compare_block, &c, NULL), 0);
    assert_int_equal(c.at, sum->events);
    assert_int_equal(wake_reader_verify(r, NULL), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    wake_reader_close(r);
    sample_release(&s);
}

static void a_full_disk_leaves_a_sound_file_that_says_so(void **state)
{
    (void)state;
    for (rlim_t limit = 40; limit < 800000; limit = limit * 5 / 4 + 13)
        write_with_limit(limit, limit);
}

/* What waits for its chunk when another process fills the file is from before that. */
static void a_file_that_is_full_has_all_that_was_made_before(void **state)
{
    (void)state;
    struct wake_writer *w;
    struct wake_reader *r;
    struct sample one, two;
    sample_init(&one, 1);
    sample_init(&two, 2);
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    wake_writer_limit(w, 100000);
    uint32_t a = begin_process(w, 100), b = begin_process(w, 101);
    sample_add_meta(w, a);
    sample_add_events(&one, wake_writer_stream(w, a), 300);
    sample_add_events(&two, wake_writer_stream(w, b), 200000);
    sample_end_process(&one, w, a);
    sample_end_process(&two, w, b);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    const struct wake_omissions *o = &wake_reader_process(r, 1)->omitted;
    assert_true(o->is_limited && o->allocations > 0);
    check_events(r, 0, &one);
    assert_int_equal(wake_reader_summary(r)->events + o->allocations + o->frees + o->others,
                     one.events.count + two.events.count);
    assert_int_equal(wake_reader_verify(r, NULL), 0);
    wake_reader_close(r);
    sample_release(&one);
    sample_release(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_comes_back),
        cmocka_unit_test(fast_events_are_packed_less),
        cmocka_unit_test(meta_data_comes_back),
        cmocka_unit_test(notes_come_back),
        cmocka_unit_test(a_veiled_note_counts_as_many_as_it_stands_for),
        cmocka_unit_test(what_could_not_be_recorded_is_counted),
        cmocka_unit_test(deep_and_many_stacks_come_back),
        cmocka_unit_test(a_window_of_time_is_cut_out),
        cmocka_unit_test(spans_tell_live_bytes),
        cmocka_unit_test(time_never_runs_backwards),
        cmocka_unit_test(long_lists_are_split),
        cmocka_unit_test(the_file_is_private_and_a_link_is_not_followed),
        cmocka_unit_test(no_folder_gives_one_sentence),
        cmocka_unit_test(a_full_disk_leaves_a_sound_file_that_says_so),
        cmocka_unit_test(a_file_that_is_full_has_all_that_was_made_before),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
