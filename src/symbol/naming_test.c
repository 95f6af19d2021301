/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/annex.h"
#include "symbol/naming.h"
#include "symbol/perf_map.h"
#include "symbol/symbolize_file.h"
#include "wire/record.h"

static char path[64], maps[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/naming_test.%d.wake", (int)getpid());
    snprintf(maps, sizeof maps, "/tmp/naming_test.%d.map", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    unlink(maps);
    return 0;
}

/* Two processes that share a library at different addresses; the program's own
 * module has no path; one frame is in no module. */
static void make_recording(void)
{
    struct wake_writer *w;
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    for (uint32_t pid = 0; pid < 2; pid++) {
        const uint64_t bias = 0x10000 * (pid + 1);
        const struct wake_process_info info = {
            .pid = 70 + pid, .exe = "/bin/app", .args = "", .args_length = 0};
        uint32_t p = wake_writer_add_process(w, &info);
        const struct wake_module_info own = {0x400000, 0x500000, 0, (const uint8_t *)"own", 3, "", 0};
        const struct wake_module_info lib = {bias, bias + 0x8000, bias, (const uint8_t *)"lib",
                                             3,    "/lib/l.so",   9};
        wake_writer_add_module(w, p, &own);
        wake_writer_add_module(w, p, &lib);
        const struct wake_frame first[] = {{bias + 0x100, 2}, {0x400200, 1}, {0x7000 + pid, 0}};
        const struct wake_frame second[] = {{(bias + 0x100) | RECORD_FRAME_EXACT, 2}, {0x400200, 1}};
        wake_writer_add_stack(w, p, first, 3, 0, 0);
        wake_writer_add_stack(w, p, second, 2, 0, 0);
        wake_writer_end_process(w, p, &(struct wake_process_end){.complete = true}, NULL, 0, NULL, 0);
    }
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
}

static struct wake_reader *open_recording(void)
{
    struct wake_reader *r;
    assert_int_equal(wake_reader_open(&r, path, NULL), 0);
    return r;
}

static void every_place_is_wanted_once(void **state)
{
    (void)state;
    struct naming_wants w;
    make_recording();
    struct wake_reader *r = open_recording();
    assert_int_equal(naming_list(&w, r, NULL), 0);
    assert_int_equal(w.list.count, 5);
    uint32_t own = names_image(wake_reader_names(r), (const uint8_t *)"own", 3, "/bin/app");
    uint32_t lib = names_image(wake_reader_names(r), (const uint8_t *)"lib", 3, "/lib/l.so");
    unsigned seen = 0;
    for (size_t i = 0; i < 5; i++) {
        const struct naming_want *want = &w.list.data[i];
        const struct name_image *image = names_get_image(wake_reader_names(r), want->image);
        assert_true(i == 0 || want[-1].image <= want->image);
        seen |= want->image == lib && want->place == 0x100 && !want->exact ? 1 : 0;
        seen |= want->image == lib && want->place == 0x100 && want->exact ? 2 : 0;
        seen |= want->image == own && want->place == 0x400200 ? 4 : 0;
        seen |= naming_is_fileless(image) && want->place == 0x7000 ? 8 : 0;
        seen |= naming_is_fileless(image) && want->place == 0x7001 ? 16 : 0;
    }
    assert_int_equal(seen, 31);
    size_t images = 0;
    for (size_t at = 0; at < w.list.count; at = naming_next_image(&w, at))
        images++;
    assert_int_equal(images, 4);
    vec_release(&w.list);
    wake_reader_close(r);
}

/* A resolver that knows what the test says. */
struct oracle {
    enum name_source source;
    const char *function;
    unsigned opened, closed, asked;
    uint32_t around; /* frames around the innermost */
    char handed[16]; /* the file that came from the recording */
    unsigned patience;
    const char *lack, *remark;
};

static void *oracle_open(void *of, const struct name_image *image, int fd, enum name_source *source,
                         struct strbuf *remark)
{
    struct oracle *o = of;
    assert_true(image->path[0] == '/');
    o->opened++;
    if (fd >= 0)
        assert_true(pread(fd, o->handed, sizeof o->handed - 1, 0) > 0);
    *source = o->source;
    strbuf_add_text(remark, o->source == NAME_SOURCE_MISSING ? "It is gone." : "");
    return o->source == NAME_SOURCE_MISSING ? NULL : o;
}

static uint32_t oracle_resolve(void *of, void *opened, uint64_t place, bool exact,
                               const struct name_frame **frames)
{
    struct oracle *o = of;
    static struct name_frame list[4];
    assert_ptr_equal(of, opened);
    o->asked++;
    for (uint32_t i = 0; i <= o->around; i++)
        list[i] = (struct name_frame){o->function, "", "f.c", (uint32_t)place + exact + i, i < o->around};
    *frames = list;
    return o->around + 1;
}

static void oracle_close(void *of, void *opened)
{
    assert_ptr_equal(of, opened);
    ((struct oracle *)of)->closed++;
}

static const char *oracle_lack(void *of, void *opened)
{
    assert_ptr_equal(of, opened);
    return ((struct oracle *)of)->lack;
}

static const char *oracle_remark(void *of, void *opened)
{
    assert_ptr_equal(of, opened);
    return ((struct oracle *)of)->asked > 0 && ((struct oracle *)of)->remark != NULL
               ? ((struct oracle *)of)->remark
               : "";
}

static bool oracle_is_stopped(void *of)
{
    struct oracle *o = of;
    return o->patience-- == 0;
}

static void ask(struct oracle *o, const struct naming_options *extra)
{
    const struct naming_resolver resolver = {o,           oracle_open,  oracle_resolve, oracle_close,
                                             oracle_lack, oracle_remark};
    struct symbolize_file f = {.naming = extra == NULL ? (struct naming_options){0} : *extra, .names = true};
    struct err err;
    err_init(&err);
    f.naming.resolver = &resolver;
    struct naming *n = naming_open(&f.naming, &err);
    assert_non_null(n);
    assert_int_equal(symbolize_file_run(&f, n, path, &err), o->lack == NULL ? 0 : ERR_MEMORY);
    assert_string_equal(err.text, o->lack == NULL ? "" : o->lack);
    naming_close(n);
    assert_true(o->closed == o->opened || o->source == NAME_SOURCE_MISSING);
}

static const char *name_of_stack(struct wake_reader *r, size_t process, uint32_t stack)
{
    const struct wake_process *p = wake_reader_process(r, process);
    const struct name_place *place = wake_reader_name(r, process, &p->nodes.data[p->stacks.data[stack].leaf]);
    return place == NULL ? "" : place->frames[0].function;
}

static void names_are_asked_for_once_and_kept_in_the_file(void **state)
{
    (void)state;
    make_recording();
    struct oracle o = {.source = NAME_SOURCE_LINES, .function = "known"};
    ask(&o, NULL);
    assert_int_equal(o.opened, 2); /* the program and the library; nobody knows code without a file */
    assert_int_equal(o.asked, 3);
    assert_string_equal(o.handed, "");
    ask(&o, NULL);
    assert_int_equal(o.opened, 2); /* all have names */
    struct wake_reader *r = open_recording();
    for (size_t process = 0; process < 2; process++) {
        assert_string_equal(name_of_stack(r, process, 1), "known");
        assert_string_equal(name_of_stack(r, process, 2), "known");
    }
    assert_int_equal(wake_reader_verify(r, NULL), 0);
    assert_true(wake_reader_summary(r)->complete);
    wake_reader_close(r);
}

static void what_is_known_is_not_made_worse(void **state)
{
    (void)state;
    make_recording();
    const struct naming_options again = {.again = true};
    struct oracle first = {.source = NAME_SOURCE_LINES, .function = "first"};
    struct oracle poor = {.source = NAME_SOURCE_SYMBOLS, .function = "poor"};
    struct oracle none = {.source = NAME_SOURCE_MISSING};
    struct oracle second = {.source = NAME_SOURCE_LINES, .function = "second"};
    ask(&first, &again);
    ask(&poor, &again);
    ask(&none, &again);
    assert_int_equal(poor.asked + none.asked, 0);
    struct wake_reader *r = open_recording();
    assert_string_equal(name_of_stack(r, 0, 1), "first");
    wake_reader_close(r);
    ask(&second, &again);
    r = open_recording();
    assert_string_equal(name_of_stack(r, 0, 1), "second");
    wake_reader_close(r);
}

static void inlined_functions_are_kept_when_a_part_of_the_debugging_information_has_gone(void **state)
{
    (void)state;
    make_recording();
    const struct naming_options again = {.again = true};
    struct oracle whole = {.source = NAME_SOURCE_LINES, .function = "whole", .around = 1};
    struct oracle part = {.source = NAME_SOURCE_LINES, .function = "part", .remark = "A part has gone."};
    struct oracle more = {.source = NAME_SOURCE_LINES, .function = "more", .around = 2};
    ask(&whole, &again);
    ask(&part, &again);
    assert_int_equal(part.asked, 3);
    struct wake_reader *r = open_recording();
    struct names *n = wake_reader_names(r);
    uint32_t lib = names_image(n, (const uint8_t *)"lib", 3, "/lib/l.so");
    assert_string_equal(name_of_stack(r, 0, 1), "whole");
    assert_string_equal(names_get_image(n, lib)->remark, "");
    wake_reader_close(r);
    ask(&more, &again);
    r = open_recording();
    assert_string_equal(name_of_stack(r, 0, 1), "more");
    wake_reader_close(r);
}

static void whoever_is_stopped_keeps_what_was_found(void **state)
{
    (void)state;
    make_recording();
    struct oracle o = {.source = NAME_SOURCE_LINES, .function = "known", .patience = 2};
    const struct naming_options impatient = {.is_stopped = oracle_is_stopped, .is_stopped_of = &o};
    ask(&o, &impatient);
    assert_int_equal(o.asked, 2);
    struct wake_reader *r = open_recording();
    assert_int_equal(names_count(wake_reader_names(r)), 2);
    assert_true(wake_reader_summary(r)->complete);
    wake_reader_close(r);
}

static void an_embedded_file_is_handed_to_the_resolver(void **state)
{
    (void)state;
    struct wake_annex *a;
    make_recording();
    struct wake_reader *r = open_recording();
    struct names *n = wake_reader_names(r);
    uint32_t image = names_image(n, (const uint8_t *)"lib", 3, "/lib/l.so");
    FILE *f = fopen(maps, "w+");
    fputs("bytes", f);
    fflush(f);
    assert_int_equal(wake_annex_open(&a, path, NULL), 0);
    assert_int_equal(wake_annex_add_binary(a, names_get_image(n, image), fileno(f), NULL), 0);
    wake_annex_add_names(a, n);
    assert_int_equal(wake_annex_close(a, NULL), 0);
    fclose(f);
    wake_reader_close(r);
    struct oracle o = {.source = NAME_SOURCE_MISSING};
    ask(&o, NULL);
    assert_int_equal(o.opened, 2);
    assert_string_equal(o.handed, "bytes");
    r = open_recording();
    n = wake_reader_names(r);
    image = names_image(n, (const uint8_t *)"lib", 3, "/lib/l.so");
    assert_int_equal(names_get_image(n, image)->source, NAME_SOURCE_MISSING);
    assert_string_equal(names_get_image(n, image)->remark, "It is gone.");
    assert_int_equal(wake_reader_binary_count(r), 1);
    wake_reader_close(r);
}

static void names_that_memory_did_not_suffice_for_are_not_kept(void **state)
{
    (void)state;
    make_recording();
    struct oracle o = {.source = NAME_SOURCE_LINES, .function = "half", .lack = "It is too large."};
    ask(&o, NULL);
    assert_int_equal(o.opened, 1);
    struct wake_reader *r = open_recording();
    assert_int_equal(names_image_count(wake_reader_names(r)), 0);
    wake_reader_close(r);
}

static void a_remark_that_comes_late_is_kept(void **state)
{
    (void)state;
    make_recording();
    struct oracle o = {.source = NAME_SOURCE_LINES, .function = "f", .remark = "A part is damaged."};
    ask(&o, NULL);
    struct wake_reader *r = open_recording();
    const struct names *n = wake_reader_names(r);
    uint32_t image = names_image((struct names *)(uintptr_t)n, (const uint8_t *)"lib", 3, "/lib/l.so");
    assert_string_equal(names_get_image(n, image)->remark, "A part is damaged.");
    assert_int_equal(names_get_image(n, image)->source, NAME_SOURCE_LINES);
    wake_reader_close(r);
}

static void a_perf_map_names_code_without_a_file(void **state)
{
    (void)state;
    make_recording();
    FILE *f = fopen(maps, "w");
    fputs("6ff0 20 older\nnonsense\n7000 -1 wrong\n 7000 10 blank\n7000 100 jit code\n8000 0 empty\n", f);
    fclose(f);
    struct perf_map m;
    assert_int_equal(perf_map_open(&m, maps, NULL), 0);
    assert_int_equal(m.entries.count, 2);
    assert_string_equal(perf_map_find(&m, 0x6fff), "older");
    assert_string_equal(perf_map_find(&m, 0x7000), "jit code");
    assert_string_equal(perf_map_find(&m, 0x70ff), "jit code");
    assert_null(perf_map_find(&m, 0x7100));
    assert_null(perf_map_find(&m, 0x6fef));
    perf_map_close(&m);
    struct oracle o = {.source = NAME_SOURCE_MISSING};
    const struct naming_options options = {.perf_map = maps, .again = true};
    ask(&o, &options);
    struct wake_reader *r = open_recording();
    /* Return addresses: the call before them counts. */
    uint32_t image = wake_reader_image(r, 0, 0);
    assert_string_equal(names_find(wake_reader_names(r), image, 0x7000, false)->frames[0].function, "older");
    image = wake_reader_image(r, 1, 0);
    assert_string_equal(names_find(wake_reader_names(r), image, 0x7001, false)->frames[0].function,
                        "jit code");
    wake_reader_close(r);
    struct err err;
    f = fopen(maps, "w");
    fputs("nothing of the kind\n", f);
    fclose(f);
    assert_null(naming_open(&options, &err));
    assert_int_equal(err.code, ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_is_wanted_once),
        cmocka_unit_test(names_are_asked_for_once_and_kept_in_the_file),
        cmocka_unit_test(what_is_known_is_not_made_worse),
        cmocka_unit_test(inlined_functions_are_kept_when_a_part_of_the_debugging_information_has_gone),
        cmocka_unit_test(whoever_is_stopped_keeps_what_was_found),
        cmocka_unit_test(an_embedded_file_is_handed_to_the_resolver),
        cmocka_unit_test(names_that_memory_did_not_suffice_for_are_not_kept),
        cmocka_unit_test(a_remark_that_comes_late_is_kept),
        cmocka_unit_test(a_perf_map_names_code_without_a_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
