/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of rewrite: everything of the sources is in the new recording, at its new
 * number and time.
 */
#include "store/rewrite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

#include "store/annex.h"
#include "store/codec.h"
#include "store/sample.h"

static char path[3][64]; /* two sources and the new one */
static struct sample samples[2];

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        snprintf(path[i], sizeof path[i], "/tmp/rewrite_test.%d.%d.wake", (int)getpid(), i);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        unlink(path[i]);
    for (int i = 0; i < 2; i++)
        sample_release(&samples[i]);
    return 0;
}

/* Recording `which`: a process with everything, and its child that has not ended. */
static void make_file(int which, uint64_t wall_ns)
{
    struct wake_writer *w;
    uint8_t head[FORMAT_HEADER_SIZE];
    struct wake_process_info info = {
        .pid = 100, .has_arenas = which == 1, .exe = "/bin/app", .args = "app\0--hidden", .args_length = 13};
    sample_init(&samples[which], 5 + (uint64_t)which);
    samples[which].has_arenas = which == 1;
    assert_int_equal(wake_writer_open(&w, path[which], NULL), 0);
    uint32_t p = wake_writer_add_process(w, &info);
    sample_add_meta(w, p);
    for (int i = 0; i < 3; i++) {
        sample_add_events(&samples[which], wake_writer_stream(w, p), 400);
        wake_writer_flush(w);
    }
    sample_end_process(&samples[which], w, p);
    info.parent = 1;
    info.start_ns = 77;
    p = wake_writer_add_process(w, &info);
    wake_stream_alloc(wake_writer_stream(w, p), 99, 1, KIND_MALLOC, 0, 0x1000, 10, 24, 0);
    assert_int_equal(wake_writer_close(w, 4711, NULL), 0);
    file_header_encode(head, &(struct file_header){.major = FORMAT_MAJOR,
                                                   .minor = FORMAT_MINOR,
                                                   .length = FORMAT_HEADER_SIZE,
                                                   .wall_ns = wall_ns});
    int fd = open(path[which], O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, head, sizeof head, 0), sizeof head);
    close(fd);
}

/* Names for the places of both modules, and a binary. */
static void add_names(int which, const char *function)
{
    struct wake_annex *a;
    struct names *n = names_new();
    const struct name_frame frame = {.function = function, .linkage = "", .file = "app.c", .line = 3};
    uint32_t image = names_image(n, NULL, 0, "/lib/libc.so.6");
    assert_true(names_set_source(n, image, NAME_SOURCE_LINES, "found"));
    assert_true(names_add(n, image, 0x1000, false, &frame, 1));
    assert_true(names_add(n, names_image(n, NULL, 0, "[process 0]"), 42, false, &frame, 1));
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_int_equal(wake_annex_open(&a, path[which], NULL), 0);
    assert_int_equal(wake_annex_add_binary(a, names_get_image(n, image), fd, NULL), 0);
    wake_annex_add_names(a, n);
    assert_int_equal(wake_annex_close(a, NULL), 0);
    close(fd);
    names_free(n);
}

static struct wake_reader *rewrite_both(const struct rewrite_mask *mask)
{
    struct wake_rewrite *s;
    struct wake_reader *r[2], *new_one;
    struct err err;
    err_init(&err);
    for (int i = 0; i < 2; i++)
        assert_int_equal(wake_reader_open(&r[i], path[i], NULL), 0);
    const struct rewrite_options options = {.wall_ns = wake_rewrite_earliest(r, 2)};
    assert_int_equal(wake_rewrite_open(&s, path[2], &options, &err), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(wake_rewrite_add(s, r[i], mask, &err), 0);
    assert_int_not_equal(access(path[2], F_OK), 0);
    assert_int_equal(wake_rewrite_close(s, true, &err), 0);
    assert_int_equal(wake_reader_open(&new_one, path[2], &err), 0);
    for (int i = 0; i < 2; i++)
        wake_reader_close(r[i]);
    return new_one;
}

struct walk {
    const struct sample *sample;
    uint64_t shift;
    size_t at;
};

static int compare(const struct wake_block *b, void *context)
{
    struct walk *w = context;
    for (uint32_t i = 0; i < b->count; i++, w->at++) {
        const struct sample_event *e = &w->sample->events.data[w->at];
        assert_int_equal(b->event[i], e->event);
        assert_int_equal(b->time_ns[i], e->time_ns + w->shift);
        assert_int_equal(b->thread[i], e->thread);
        assert_int_equal(b->stack[i], e->stack);
        assert_int_equal(b->address[i], e->address);
        assert_int_equal(b->size[i], e->size);
        assert_int_equal(b->arena[i], e->arena);
        assert_int_equal(b->number[i], e->number);
        assert_int_equal(b->previous[i], e->previous);
    }
    return 0;
}

static void two_become_one(void **state)
{
    (void)state;
    make_file(0, 5000);
    make_file(1, 2000);
    struct wake_reader *r = rewrite_both(NULL);
    assert_int_equal(wake_reader_process_count(r), 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(wake_reader_process(r, i)->info.has_arenas, i / 2);
    assert_int_equal(wake_reader_summary(r)->wall_ns, 2000);
    assert_int_equal(wake_reader_summary(r)->collector_cpu_ns, 2 * 4711);
    assert_true(wake_reader_summary(r)->closed);
    assert_int_equal(wake_reader_verify(r, NULL), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    for (unsigned i = 0; i < 2; i++) {
        const struct wake_process *p = wake_reader_process(r, 2 * i),
                                  *child = wake_reader_process(r, 2 * i + 1);
        struct walk w = {.sample = &samples[i], .shift = i == 0 ? 3000 : 0};
        assert_int_equal(wake_reader_visit(r, 2 * i, 0, UINT64_MAX, compare, &w, NULL), 0);
        assert_int_equal(w.at, samples[i].events.count);
        assert_true(p->ended && !p->derived);
        assert_int_equal(p->end.end_ns, samples[i].time_ns + w.shift);
        assert_int_equal(p->end.leaked_blocks, samples[i].live.count);
        assert_int_equal(p->live.count, samples[i].live.count);
        assert_int_equal(p->totals.count, 5);
        assert_int_equal(p->stacks.count, 5);
        assert_int_equal(p->modules.count, 2);
        assert_string_equal(p->modules.data[1].path, "/lib/libc.so.6");
        assert_int_equal(p->modules.data[0].build_id_length, 20);
        assert_int_equal(p->samples.data[0].time_ns, 10 + w.shift);
        assert_int_equal(p->usage_samples.count, 2);
        assert_int_equal(p->usage_samples.data[1].time_ns, 25 + w.shift);
        assert_true(p->usage_samples.data[0].anew && p->usage.data[2].is_gone);
        assert_string_equal(p->usage.data[1].name, "[anon:x]");
        assert_int_equal(p->marks.count, samples[i].marks);
        assert_string_equal(p->threads.data[0].name, "main");
        assert_int_equal(p->info.args_length, 13);
        assert_int_equal(child->info.parent, 2 * i + 1);
        assert_int_equal(child->info.start_ns, 77 + w.shift);
        assert_true(child->derived && !child->ended);
        assert_int_equal(child->end.allocations, 1);
    }
    wake_reader_close(r);
}

static void names_and_binaries_come_along(void **state)
{
    struct wake_node outside = {.address = 42}, inside = {.address = 0x7f0000001000, .module = 2};
    (void)state;
    make_file(0, 1);
    make_file(1, 1);
    add_names(0, "first");
    add_names(1, "second");
    struct wake_reader *r = rewrite_both(NULL);
    assert_string_equal(wake_reader_name(r, 0, &outside)->frames[0].function, "first");
    assert_string_equal(wake_reader_name(r, 2, &outside)->frames[0].function, "second");
    assert_null(wake_reader_name(r, 1, &outside));
    assert_string_equal(wake_reader_name(r, 0, &inside)->frames[0].function, "second");
    assert_int_equal(wake_reader_binary_count(r), 1);
    assert_true(wake_reader_binary(r, 0)->is_whole);
    assert_int_equal(wake_reader_verify(r, NULL), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    wake_reader_close(r);
}

static const char *show(void *of, const char *text)
{
    return text[0] == '\0' ? "" : of;
}

static const char *show_module(void *of, size_t process, uint32_t module)
{
    (void)process;
    (void)module;
    return of;
}

static void a_mask_hides_everything(void **state)
{
    struct names *n = names_new();
    static const char *const secrets[] = {"/bin/app", "--hidden", "main",  "mark",      "libc",
                                          "first",    "app.c",    "anon:", "\1\2\3\4\5"};
    (void)state;
    make_file(0, 1);
    make_file(1, 1);
    add_names(0, "first");
    add_names(1, "first");
    char token[] = "token";
    const struct rewrite_mask mask = {.of = token,
                                      .show_program = show,
                                      .show_thread = show,
                                      .show_mark = show,
                                      .show_range = show,
                                      .show_module = show_module,
                                      .names = n,
                                      .clock_step = 1000};
    struct wake_reader *r = rewrite_both(&mask);
    const struct wake_process *p = wake_reader_process(r, 0);
    assert_string_equal(p->info.exe, "token");
    assert_string_equal(p->info.args, "token");
    assert_int_equal(p->modules.data[0].build_id_length, 0);
    assert_string_equal(p->modules.data[1].path, "token");
    assert_string_equal(p->marks.data[0].name, "token");
    assert_int_equal(wake_reader_binary_count(r), 0);
    assert_int_equal(wake_reader_summary(r)->collector_cpu_ns, 8000);
    wake_reader_close(r);
    names_free(n);
    char bytes[1 << 16];
    FILE *f = fopen(path[2], "r");
    size_t length = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_true(length > 1000 && length < sizeof bytes);
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        assert_null(memmem(bytes, length, secrets[i], strlen(secrets[i])));
}

static void what_is_cut_stays_without_an_end(void **state)
{
    (void)state;
    make_file(0, 1);
    make_file(1, 1);
    assert_int_equal(truncate(path[1], 4000), 0);
    struct wake_reader *r = rewrite_both(NULL);
    assert_false(wake_reader_summary(r)->closed);
    assert_true(wake_reader_process(r, 0)->ended);
    assert_false(wake_reader_process(r, 2)->ended);
    assert_true(wake_reader_process(r, 2)->derived);
    struct walk w = {.sample = &samples[1]};
    assert_int_equal(wake_reader_visit(r, 2, 0, UINT64_MAX, compare, &w, NULL), 0);
    assert_true(w.at > 0 && w.at < samples[1].events.count);
    wake_reader_close(r);
}

static void times_beyond_all_time_are_refused(void **state)
{
    struct wake_rewrite *s;
    struct wake_reader *r;
    struct err err;
    (void)state;
    err_init(&err);
    const struct rewrite_options options = {.wall_ns = 1};
    make_file(0, UINT64_MAX);
    assert_int_equal(wake_reader_open(&r, path[0], NULL), 0);
    assert_int_equal(wake_rewrite_open(&s, path[2], &options, &err), 0);
    assert_int_equal(wake_rewrite_add(s, r, NULL, &err), ERR_INPUT);
    assert_int_equal(wake_rewrite_close(s, false, &err), 0);
    assert_int_not_equal(access(path[2], F_OK), 0);
    wake_reader_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_become_one, setup, teardown),
        cmocka_unit_test_setup_teardown(names_and_binaries_come_along, setup, teardown),
        cmocka_unit_test_setup_teardown(a_mask_hides_everything, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_cut_stays_without_an_end, setup, teardown),
        cmocka_unit_test_setup_teardown(times_beyond_all_time_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
