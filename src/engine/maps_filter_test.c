/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of maps_choose: thousands of random questions about the mappings of random recordings, each compared
 * with an answer by definition, from a list of what happened to every page (naive.h); and those about
 * samples, on a small one.
 */
#include "engine/maps_filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/naive_answer.h"
#include "engine/naive_ask.h"

static char path[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/maps_filter_test.%d.wake", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* ------------------------------------------------------------- by definition */

static bool was_temporary(const struct naive_asked *a, const struct naive_mapping *m)
{
    uint64_t between = 0;
    if (m->left != 0 || m->died_thread != m->thread)
        return false;
    if (a->query->temporary_ns != 0)
        return m->died_ns - m->made_ns <= a->query->temporary_ns;
    for (size_t i = 0; i < a->naive->mappings.count; i++) {
        const struct naive_mapping *o = &a->naive->mappings.data[i];
        between +=
            o->process == m->process && o->thread == m->thread && o->made > m->made && o->made < m->died;
    }
    return between < a->query->temporary_allocations;
}

static bool was_alive(const struct naive_asked *a, const struct naive_mapping *m, uint64_t ns)
{
    ns = naive_not_later(a, ns);
    return m->made_ns <= ns && (m->left != 0 || m->died_ns > ns) && !naive_is_gone(a, m->process, ns);
}

static bool fits_time(const struct naive_asked *a, const struct naive_mapping *m)
{
    const struct query_filter *f = &a->query->filter;
    bool freed = m->left == 0, made_inside = m->made_ns >= a->from && m->made_ns <= a->to;
    bool died_inside = freed && m->died_ns >= a->from && m->died_ns <= a->to;
    uint64_t end_ns = freed ? m->died_ns : a->naive->processes.data[m->process].end_ns;
    if (m->made_ns > a->to || (freed ? m->died_ns < a->from : naive_is_gone(a, m->process, a->from)))
        return false;
    if (m->made_ns < naive_time(a, &f->allocated_from, 0) ||
        m->made_ns > naive_time(a, &f->allocated_to, UINT64_MAX))
        return false;
    if (f->freed_from.when != WHEN_UNSET && (!freed || m->died_ns < naive_time(a, &f->freed_from, 0)))
        return false;
    if (f->freed_to.when != WHEN_UNSET && (!freed || m->died_ns > naive_time(a, &f->freed_to, 0)))
        return false;
    if (f->kept_until.when != WHEN_UNSET && freed && m->died_ns < naive_time(a, &f->kept_until, 0))
        return false;
    if ((f->alive_at.when != WHEN_UNSET && !was_alive(a, m, naive_time(a, &f->alive_at, 0))) ||
        (f->alive_at_2.when != WHEN_UNSET && !was_alive(a, m, naive_time(a, &f->alive_at_2, 0))))
        return false;
    return (f->allocated == SIDE_ANY || made_inside == (f->allocated == SIDE_INSIDE)) &&
           (f->freed == SIDE_ANY || died_inside == (f->freed == SIDE_INSIDE)) &&
           naive_in(&f->lifetime, end_ns - m->made_ns);
}

static bool fits(const struct naive_asked *a, const struct naive_mapping *m)
{
    const struct query_filter *f = &a->query->filter;
    bool freed = m->left == 0;
    if (!naive_is_chosen(a, m->process) || !fits_time(a, m))
        return false;
    if (((f->states & STATE_LEAKED) != 0 && freed) || ((f->states & STATE_FREED) != 0 && !freed) ||
        ((f->states & STATE_TEMPORARY) != 0 && !was_temporary(a, m)))
        return false;
    if (!naive_in(&f->size, m->pages * NAIVE_PAGE) || !naive_in(&f->address, m->start) ||
        (f->mark != NULL && (m->mark == NULL || strcmp(m->mark, f->mark) != 0)))
        return false;
    if (!naive_thread_is(f->threads.data, f->threads.count, m->thread) || !naive_stack_passes(a, m->stack))
        return false;
    if (f->freeing_threads.count > 0 &&
        !(freed && naive_thread_is(f->freeing_threads.data, f->freeing_threads.count, m->died_thread)))
        return false;
    return naive_release_passes(a, freed ? m->died_stack : 0) &&
           (f->mappings.count == 0 || naive_stack_is(f->mappings.data, f->mappings.count, m->number)) &&
           (m->prot & f->rights) == f->rights && (m->prot & f->no_rights) == 0;
}

/* The highest level of those that match, in a process, as blocks have theirs (naive_peak). */
static uint64_t peak_of(const struct naive_asked *a, const bool *match, uint32_t process, uint64_t *ns)
{
    const struct naive_process *p = &a->naive->processes.data[process];
    uint64_t level = 0, best = 0;
    bool is_open = false;
    *ns = 0;
    for (uint64_t e = 0; e < p->events && p->times.data[e] <= a->to; e++) {
        if (!is_open && p->times.data[e] >= a->from) {
            is_open = true;
            best = level;
            *ns = level > 0 ? a->from : 0;
        }
        for (size_t i = 0; i < a->naive->pages.count; i++) {
            const struct naive_page *x = &a->naive->pages.data[i];
            if (x->event == e && match[x->mapping] && a->naive->mappings.data[x->mapping].process == process)
                level += x->comes ? NAIVE_PAGE : -(uint64_t)NAIVE_PAGE;
        }
        if (is_open && level > best) {
            best = level;
            *ns = p->times.data[e];
        }
    }
    if (!is_open && level > 0) {
        best = level;
        *ns = a->from;
    }
    return best;
}

/* --------------------------------------------------------------------- asking */

static void ask_mapping(struct naive *n, struct query *q)
{
    static const char *const states[] = {"leaked", "freed", "temporary", "freed,temporary"};
    static const char *const rights[] = {"readable", "writable", "executable"};
    static const char *const times[] = {"allocated-from", "allocated-to", "freed-from", "freed-to",
                                        "kept-until",     "alive-at",     "alive-at-2"};
    static const char *const keys[] = {
        "function",     "not-function",     "source",           "not-source",
        "module",       "not-module",       "freed-function",   "not-freed-function",
        "freed-source", "not-freed-source", "not-freed-module", "freed-module"};
    static const char *const lists[] = {"stack", "not-stack", "freed-stack", "not-freed-stack", "mapping"};
    switch (naive_below(n, 12)) {
    case 0:
    case 1:
        ask(q, times[naive_below(n, 7)], "%s", random_time(n));
        break;
    case 2:
        ask(q, naive_below(n, 2) ? "allocated" : "freed", "%s", naive_below(n, 2) ? "inside" : "outside");
        break;
    case 3:
        ask(q, "state", "%s", states[naive_below(n, 4)]);
        break;
    case 4:
        ask_range(n, q, "size", "", 0, NAIVE_PAGES * NAIVE_PAGE);
        break;
    case 5:
        ask_range(n, q, "lifetime", "ns", 0, naive_below(n, 2) ? 10000 : 1000000);
        break;
    case 6:
        ask(q, naive_below(n, 2) ? "address-min" : "address-max", "%llx",
            (unsigned long long)(NAIVE_HEAP + naive_below(n, NAIVE_PAGES) * NAIVE_PAGE));
        break;
    case 7:
        ask_range(n, q, "depth", "", 0, 4);
        break;
    case 8:
        ask(q, lists[naive_below(n, 5)], "%u,%u,%u", (unsigned)naive_below(n, NAIVE_STACKS),
            (unsigned)naive_below(n, NAIVE_STACKS), (unsigned)naive_below(n, 100));
        break;
    case 9:
        ask(q, keys[naive_below(n, 12)], "%s", naive_patterns[naive_below(n, 7)]);
        break;
    case 10:
        ask(q, naive_below(n, 2) ? "thread" : "freed-by", "%s",
            naive_thread_names[1 + naive_below(n, NAIVE_THREADS)]);
        break;
    default:
        if (naive_below(n, 3) == 0)
            ask(q, "mark", "%s", naive_marks[naive_below(n, 3)]);
        else
            ask(q, rights[naive_below(n, 3)], "%s", naive_below(n, 2) ? "yes" : "no");
    }
}

static void ask_mappings(struct naive *n, struct query *q)
{
    asked[0] = '\0';
    if (naive_below(n, 4) == 0)
        ask(q, "from", "%s", random_time(n));
    if (naive_below(n, 4) == 0)
        ask(q, "to", "%s", random_time(n));
    if (naive_below(n, 4) == 0)
        ask(q, "pid", "%u", (unsigned)(100 + naive_below(n, n->processes.count)));
    if (naive_below(n, 4) == 0)
        ask(q, "temporary", "%u%s", 1 + (unsigned)naive_below(n, 5), naive_below(n, 2) ? "us" : "");
    for (uint64_t i = naive_below(n, 4); i > 0; i--)
        ask_mapping(n, q);
    q->find_place = naive_place;
}

static void check_answer(const struct naive *n, const struct query *q, const struct maps *m)
{
    struct naive_asked a;
    bool *match = malloc(n->mappings.count + 1);
    uint64_t left = 0, left_bytes = 0, peak = 0, peak_ns = 0;
    size_t next = 0, at = 0;
    naive_understand(&a, n, q);
    for (size_t i = 0; i < n->mappings.count; i++) {
        const struct naive_mapping *x = &n->mappings.data[i];
        match[i] = fits(&a, x);
        left += match[i] && x->left != 0;
        left_bytes += match[i] ? x->left * NAIVE_PAGE : 0;
        if (!naive_is_chosen(&a, x->process))
            continue;
        bool is_chosen = next < m->chosen.count && m->chosen.data[next] == at;
        if (is_chosen != match[i])
            fail_msg("Mapping %u of process %u is %s; asked:%s", x->number, x->process,
                     is_chosen ? "there" : "not there", asked);
        assert_int_equal(m->list.data[at].number, x->number);
        assert_int_equal(m->list.data[at].left_bytes, x->left * NAIVE_PAGE);
        next += is_chosen;
        at++;
    }
    assert_int_equal(m->list.count, at);
    assert_int_equal(m->chosen.count, next);
    for (uint32_t p = 0; p < n->processes.count; p++) {
        uint64_t ns, bytes = naive_is_chosen(&a, p) ? peak_of(&a, match, p, &ns) : 0;
        if (bytes > peak) {
            peak = bytes;
            peak_ns = ns;
        }
    }
    if (m->left != left || m->left_bytes != left_bytes || m->peak_bytes != peak || m->peak_ns != peak_ns)
        fail_msg("%llu bytes at %llu ns, %llu left; should be %llu at %llu, %llu; asked:%s",
                 (unsigned long long)m->peak_bytes, (unsigned long long)m->peak_ns,
                 (unsigned long long)m->left_bytes, (unsigned long long)peak, (unsigned long long)peak_ns,
                 (unsigned long long)left_bytes, asked);
    free(match);
}

/* Of how many questions the answer was compared; matches: how many mappings were found. */
static unsigned ask_many(uint64_t seed, unsigned processes, size_t steps, bool ended, unsigned questions,
                         size_t *matches)
{
    struct naive n;
    struct wake_reader *r;
    struct err err;
    unsigned answered = 0;
    naive_make(&n, path, seed, processes, steps, ended);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    for (unsigned i = 0; i < questions; i++) {
        struct query q;
        struct maps m;
        int code = 0;
        query_init(&q);
        maps_init(&m);
        ask_mappings(&n, &q);
        for (uint32_t p = 0; p < n.processes.count && code == 0; p++)
            if (q.pids.count == 0 || q.pids.data[0] == n.processes.data[p].pid)
                code = maps_read(&m, &q, r, p, 0, &err);
        if (code == 0) {
            check_answer(&n, &q, &m);
            answered++;
            *matches += m.chosen.count;
        } else if (code != ERR_ABSENT && code != ERR_USAGE) {
            fail_msg("%s (asked:%s)", err.text, asked);
        }
        maps_release(&m);
        query_release(&q);
    }
    wake_reader_close(r);
    naive_release(&n);
    return answered;
}

static void random_questions_are_answered_to_the_byte(void **state)
{
    unsigned answered = 0;
    size_t matches = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        answered +=
            ask_many(seed, 1 + (unsigned)(seed % 3), 100 + seed % 7 * 60, seed % 4 != 0, 100, &matches);
    assert_true(answered > 5000); /* some windows end before they begin */
    assert_true(matches > answered);
}

/* -------------------------------------------------------------------- samples */

enum { P = 4096 };

/* Three mappings of five pages: two were in memory in part, of one with other rights; the third is none of the
 * samples. */
static void write_samples(void)
{
    struct wake_writer *w;
    const struct wake_usage usage[] = {
        {.start = 10 * P, .end = 15 * P, .rss_bytes = 2 * P, .rights = 5, .name = ""},
        {.start = 20 * P, .end = 25 * P, .rss_bytes = 4 * P, .rights = 3, .name = ""}};
    assert_int_equal(wake_writer_open(&w, path, NULL), 0);
    uint32_t p = wake_writer_add_process(w, &(struct wake_process_info){.pid = 7, .exe = "/a"});
    struct wake_stream *s = wake_writer_stream(w, p);
    wake_stream_map(s, 1, 1, 0, 10 * P, 5 * P, 3, 34);
    wake_stream_map(s, 2, 1, 0, 20 * P, 5 * P, 3, 34);
    wake_writer_sample_usage(w, p, 5, 0, true, usage, 2);
    wake_stream_map(s, 6, 1, 0, 30 * P, 5 * P, 1, 34);
    assert_int_equal(wake_writer_close(w, 0, NULL), 0);
}

/* The numbers of those that are found: "12". */
static void expect(const char *key, const char *value, const char *numbers)
{
    char found[16] = "";
    struct wake_reader *r;
    struct query q;
    struct maps m;
    struct err err;
    query_init(&q);
    maps_init(&m);
    assert_int_equal(query_parse(&q, key, value, &err), 0);
    assert_int_equal(wake_reader_open(&r, path, &err), 0);
    assert_int_equal(maps_read(&m, &q, r, 0, 0, &err), 0);
    for (size_t i = 0; i < m.chosen.count; i++)
        snprintf(found + i, sizeof found - i, "%zu", m.chosen.data[i] + 1);
    assert_string_equal(found, numbers);
    maps_release(&m);
    wake_reader_close(r);
    query_release(&q);
}

static void samples_tell_what_was_in_memory_and_which_rights(void **state)
{
    (void)state;
    write_samples();
    expect("peak-rss-min", "8K", "12");
    expect("peak-rss-min", "8193", "2");
    expect("peak-rss-max", "16K", "12");
    expect("peak-rss-max", "8K", "1");
    expect("writable", "yes", "2");
    expect("writable", "no", "13");
    expect("executable", "yes", "1");
    expect("readable", "yes", "123");
    expect("readable", "no", "");
    expect("readable", "any", "123");
}

/* ------------------------------------------------------------------- refusals */

static int ask_in_vain(const char *key, const char *value, bool of_blocks, struct err *err)
{
    struct wake_reader *r;
    struct query q;
    struct maps m;
    struct query_result result;
    query_init(&q);
    maps_init(&m);
    query_result_init(&result);
    assert_int_equal(query_parse(&q, key, value, err), 0);
    assert_int_equal(wake_reader_open(&r, path, err), 0);
    int code = of_blocks ? query_run(&q, r, &result, err) : maps_read(&m, &q, r, 0, 0, err);
    query_result_release(&result);
    maps_release(&m);
    wake_reader_close(r);
    query_release(&q);
    return code;
}

static void what_makes_no_sense_is_refused(void **state)
{
    static const char *const of_blocks[][2] = {{"usable-min", "1"},
                                               {"slack-max", "1"},
                                               {"chain-length-min", "2"},
                                               {"kind", "malloc"},
                                               {"mapped", "yes"},
                                               {"group-leaked-min", "50%"},
                                               {"at", "1s"},
                                               {"split", "kind"},
                                               {"group-peak-to", "1s"},
                                               {"state", "chain-leaked"},
                                               {"state", "group-leaked"},
                                               {"median", "yes"}};
    static const char *const of_mappings[][2] = {
        {"peak-rss-min", "1"}, {"readable", "yes"}, {"writable", "no"}, {"executable", "any"}};
    struct err err;
    struct naive n;
    (void)state;
    naive_make(&n, path, 3, 1, 100, true);
    for (size_t i = 0; i < sizeof of_blocks / sizeof *of_blocks; i++) {
        assert_int_equal(ask_in_vain(of_blocks[i][0], of_blocks[i][1], false, &err), ERR_USAGE);
        assert_non_null(strstr(err.text, of_blocks[i][0]));
        assert_non_null(strstr(err.text, "is about blocks"));
    }
    for (size_t i = 0; i < sizeof of_mappings / sizeof *of_mappings; i++) {
        assert_int_equal(ask_in_vain(of_mappings[i][0], of_mappings[i][1], true, &err), ERR_USAGE);
        assert_non_null(strstr(err.text, of_mappings[i][0]));
        assert_non_null(strstr(err.text, "is about mappings"));
    }
    /* Nobody has sampled how much was in memory. */
    assert_int_equal(ask_in_vain("peak-rss-min", "1", false, &err), ERR_ABSENT);
    assert_non_null(strstr(err.text, "--map-usage"));
    naive_release(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_questions_are_answered_to_the_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(samples_tell_what_was_in_memory_and_which_rights, setup, teardown),
        cmocka_unit_test_setup_teardown(what_makes_no_sense_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
