/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "store/annex.h"
#include "store/format.h"
#include "store/names.h"
#include "store/sample.h"

static char path[64];
static const uint8_t id[] = {0xde, 0xad, 0xbe, 0xef};

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/annex_test.%d.wake", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

struct bytes {
    uint8_t *data;
    size_t length;
};

static struct bytes get_file(void)
{
    struct stat st;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    struct bytes b = {.data = malloc((size_t)st.st_size + 1), .length = (size_t)st.st_size};
    assert_int_equal(fread(b.data, 1, b.length, f), b.length);
    fclose(f);
    return b;
}

static void put_file(const uint8_t *bytes, size_t length)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    fclose(f);
}

static void make_file(struct sample *s)
{
    struct wake_writer *w;
    const struct wake_process_info info = {.pid = 100, .exe = "/bin/app", .args = "app", .args_length = 4};
    sample_init(s, 5);
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t p = wake_writer_add_process(w, &info);
    sample_add_meta(w, p);
    for (int i = 0; i < 3; i++) {
        sample_add_events(s, wake_writer_stream(w, p), 30);
        wake_writer_flush(w);
    }
    sample_end_process(s, w, p);
    assert_int_equal(wake_writer_close(w, 4711, NULL), 0);
}

static struct names *make_names(unsigned places, const char *function)
{
    struct names *n = names_new();
    uint32_t image = names_image(n, id, sizeof id, "/bin/app");
    assert_true(names_set_source(n, image, NAME_SOURCE_LINES, ""));
    assert_int_equal(names_image(n, NULL, 0, "/lib/gone.so"), 2);
    assert_true(names_set_source(n, 2, NAME_SOURCE_MISSING, "There is no such file."));
    for (unsigned i = 0; i < places; i++) {
        char file[32];
        snprintf(file, sizeof file, "file%u.c", i / 7);
        const struct name_frame frames[] = {{"inlined", "", file, i, true},
                                            {function, "linkage", file, i + 1, false}};
        assert_true(names_add(n, image, 0x1000 + i * 5ul, i % 3 == 0, frames + i % 2, 2 - i % 2));
    }
    return n;
}

static int memory_file(size_t size)
{
    int fd = memfd_create("annex_test", MFD_CLOEXEC);
    uint8_t *bytes = malloc(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * i >> 7);
    assert_int_equal(write(fd, bytes, size), size);
    free(bytes);
    return fd;
}

static int annex(unsigned places, const char *function, size_t binary)
{
    struct wake_annex *a;
    struct err err;
    struct names *n = make_names(places, function);
    err_init(&err);
    int code = wake_annex_open(&a, path, &err);
    if (code == 0 && binary > 0) {
        int fd = memory_file(binary);
        wake_annex_add_note(a, "Its binary is inside.");
        assert_int_equal(wake_annex_add_binary(a, names_get_image(n, 1), fd, &err), 0);
        close(fd);
    }
    if (code == 0) {
        wake_annex_add_names(a, n);
        code = wake_annex_close(a, &err);
    }
    assert_true(code == 0 || err.text[0] != '\0');
    names_free(n);
    return code;
}

static int count_block(const struct wake_block *b, void *context)
{
    *(uint64_t *)context += b->count;
    return 0;
}

static struct wake_reader *open_whole(const struct sample *s)
{
    struct wake_reader *r;
    uint64_t events = 0;
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_int_equal(wake_reader_process_count(r), 1);
    assert_int_equal(wake_reader_visit(r, 0, 0, UINT64_MAX, count_block, &events, NULL), 0);
    assert_int_equal(events, s->events.count);
    assert_true(wake_reader_process(r, 0)->ended);
    assert_int_equal(wake_reader_process(r, 0)->live.count, s->live.count);
    return r;
}

static void check_names(struct wake_reader *r, unsigned places, const char *function)
{
    struct names *n = wake_reader_names(r);
    assert_non_null(n);
    assert_int_equal(names_count(n), places);
    for (unsigned i = 0; i < places; i++) {
        const struct name_place *p = names_find(n, 1, 0x1000 + i * 5ul, i % 3 == 0);
        assert_non_null(p);
        assert_int_equal(p->count, 2 - i % 2);
        assert_string_equal(p->frames[p->count - 1].function, function);
        assert_string_equal(p->frames[p->count - 1].linkage, "linkage");
        assert_int_equal(p->frames[p->count - 1].line, i + 1);
    }
    assert_string_equal(names_get_image(n, 1)->path, "/bin/app");
    assert_string_equal(names_get_image(n, 2)->remark, "There is no such file.");
}

struct growing {
    size_t at;
    bool same;
};

static int compare_bytes(const uint8_t *bytes, size_t length, void *context)
{
    struct growing *g = context;
    for (size_t i = 0; i < length; i++, g->at++)
        g->same &= bytes[i] == (uint8_t)(g->at * g->at >> 7);
    return 0;
}

static void check_binary(struct wake_reader *r, size_t size)
{
    struct growing g = {0, true};
    assert_int_equal(wake_reader_binary_count(r), 1);
    const struct wake_binary *b = wake_reader_binary(r, 0);
    assert_true(b->is_whole);
    assert_int_equal(b->length, size);
    assert_string_equal(b->path, "/bin/app");
    assert_memory_equal(b->build_id, id, sizeof id);
    assert_int_equal(wake_reader_copy_binary(r, 0, compare_bytes, &g, NULL), 0);
    assert_int_equal(g.at, size);
    assert_true(g.same);
    assert_int_equal(wake_reader_note_count(r), 1);
    assert_string_equal(wake_reader_note(r, 0), "Its binary is inside.");
}

static void check_sound(struct wake_reader *r)
{
    assert_int_equal(wake_reader_verify(r, NULL), 0);
    assert_int_equal(wake_reader_damage_count(r), 0);
    assert_true(wake_reader_summary(r)->complete);
    assert_int_equal(wake_reader_summary(r)->collector_cpu_ns, 4711);
}

static void names_and_binaries_come_back(void **state)
{
    (void)state;
    struct sample s;
    make_file(&s);
    struct bytes before = get_file();
    assert_int_equal(annex(200000, "function", (9 << 20) + 3), 0);
    struct bytes after = get_file();
    assert_memory_equal(before.data, after.data, before.length); /* what was there is untouched */
    struct wake_reader *r = open_whole(&s);
    check_names(r, 200000, "function");
    check_binary(r, (9 << 20) + 3);
    check_sound(r);
    wake_reader_close(r);
    free(before.data);
    free(after.data);
    sample_release(&s);
}

static void newer_names_replace_older_ones_and_binaries_stay(void **state)
{
    (void)state;
    struct sample s;
    make_file(&s);
    assert_int_equal(annex(50, "older", 70000), 0);
    assert_int_equal(annex(30, "newer", 0), 0);
    struct bytes once = get_file();
    assert_int_equal(annex(30, "newer", 0), 0);
    struct bytes twice = get_file();
    assert_int_equal(once.length, twice.length);
    assert_memory_equal(once.data, twice.data, once.length);
    struct wake_reader *r = open_whole(&s);
    check_names(r, 30, "newer");
    check_binary(r, 70000);
    check_sound(r);
    wake_reader_close(r);
    free(once.data);
    free(twice.data);
    sample_release(&s);
}

static void whoever_is_killed_half_way_leaves_the_recording(void **state)
{
    (void)state;
    struct sample s;
    make_file(&s);
    struct bytes before = get_file();
    assert_int_equal(annex(40, "f", 500), 0);
    struct bytes after = get_file();
    for (size_t cut = before.length; cut <= after.length; cut++) {
        put_file(after.data, cut);
        struct wake_reader *r = open_whole(&s);
        const struct wake_summary *sum = wake_reader_summary(r);
        assert_true(sum->closed);
        assert_int_equal(sum->collector_cpu_ns, 4711);
        assert_false(wake_reader_process(r, 0)->derived);
        bool whole = cut == before.length || cut == after.length;
        assert_true(!whole || sum->complete);
        size_t known = names_count(wake_reader_names(r));
        assert_true(known == 0 || known == 40);
        wake_reader_close(r);
        /* And whoever tries again brings it to its end. */
        assert_int_equal(annex(40, "f", wake_reader_binary_count(r = open_whole(&s)) == 1 ? 0 : 500), 0);
        wake_reader_close(r);
        r = open_whole(&s);
        check_names(r, 40, "f");
        check_binary(r, 500);
        check_sound(r);
        wake_reader_close(r);
    }
    free(before.data);
    free(after.data);
    sample_release(&s);
}

static void a_full_disk_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    struct sample s;
    make_file(&s);
    for (int round = 0; round < 2; round++) {
        struct bytes before = get_file();
        struct rlimit limit, old;
        assert_int_equal(annex(20000, "larger", 0), 0);
        struct bytes larger = get_file();
        put_file(before.data, before.length);
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
        limit = old;
        (void)signal(SIGXFSZ, SIG_IGN);
        for (size_t most = before.length; most < larger.length; most += 1 + (larger.length - most) / 3) {
            limit.rlim_cur = most;
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
            assert_int_equal(annex(20000, "larger", 0), ERR_FULL);
            struct bytes after = get_file();
            assert_int_equal(before.length, after.length);
            assert_memory_equal(before.data, after.data, before.length);
            free(after.data);
        }
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        free(before.data);
        free(larger.data);
        /* Once more with names in it, which are to be replaced. */
        assert_int_equal(annex(40, "f", 0), 0);
    }
    struct wake_reader *r = open_whole(&s);
    check_names(r, 40, "f");
    check_sound(r);
    wake_reader_close(r);
    sample_release(&s);
}

static void a_recording_that_was_cut_gets_names_and_stays_cut(void **state)
{
    (void)state;
    struct sample s;
    make_file(&s);
    struct bytes all = get_file();
    for (size_t cut = FORMAT_HEADER_SIZE; cut < all.length; cut += 7) {
        struct wake_reader *r;
        put_file(all.data, cut);
        assert_int_equal(wake_reader_open(&r, path, NULL), 0);
        struct wake_summary before = *wake_reader_summary(r);
        wake_reader_close(r);
        assert_int_equal(annex(20, "f", 100), 0);
        assert_int_equal(annex(10, "g", 0), 0);
        assert_int_equal(wake_reader_open(&r, path, NULL), 0);
        assert_int_equal(wake_reader_summary(r)->events, before.events);
        assert_false(wake_reader_summary(r)->closed);
        assert_false(wake_reader_summary(r)->complete);
        check_names(r, 10, "g");
        check_binary(r, 100);
        wake_reader_close(r);
    }
    free(all.data);
    sample_release(&s);
}

static void a_file_that_is_being_recorded_is_left_alone(void **state)
{
    (void)state;
    struct wake_writer *w;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    assert_int_equal(annex(3, "f", 0), ERR_IO);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
    assert_int_equal(annex(3, "f", 0), 0);
    put_file((const uint8_t *)"no recording", 12);
    assert_int_equal(annex(3, "f", 0), ERR_INPUT);
    unlink(path);
    assert_int_equal(annex(3, "f", 0), ERR_ABSENT);
}

static void damage_stays_visible(void **state)
{
    (void)state;
    struct sample s;
    make_file(&s);
    struct bytes all = get_file();
    all.data[all.length - 160] ^= 1; /* in the index */
    all.data[FORMAT_HEADER_SIZE + 5] ^= 1;
    put_file(all.data, all.length);
    assert_int_equal(annex(20, "f", 0), 0);
    struct wake_reader *r;
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    assert_true(wake_reader_damage_count(r) > 0);
    assert_false(wake_reader_summary(r)->complete);
    check_names(r, 20, "f");
    wake_reader_close(r);
    free(all.data);
    sample_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_binaries_come_back),
        cmocka_unit_test(newer_names_replace_older_ones_and_binaries_stay),
        cmocka_unit_test(whoever_is_killed_half_way_leaves_the_recording),
        cmocka_unit_test(a_full_disk_leaves_the_file_as_it_was),
        cmocka_unit_test(a_recording_that_was_cut_gets_names_and_stays_cut),
        cmocka_unit_test(a_file_that_is_being_recorded_is_left_alone),
        cmocka_unit_test(damage_stays_visible),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
