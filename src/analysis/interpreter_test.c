/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of interpreter: whose stacks are most.
 */
#include "analysis/interpreter.h"

#include "analysis/fake_stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The sentence about these stacks; NULL ends them. */
static const char *find(const char *const *stacks)
{
    struct fake f;
    struct query_result result;
    struct err err;
    const char *sentence;
    fake_init(&f);
    query_result_init(&result);
    uint32_t p = fake_process(&f);
    for (; *stacks != NULL; stacks++)
        fake_leak(&f, p, *stacks, 1, 10);
    for (size_t i = 0; i < f.rows.count; i++)
        assert_true(vec_push(&result.rows, f.rows.data[i]));
    assert_int_equal(interpreter_find(&f.traces, &result, &sentence, &err), 0);
    query_result_release(&result);
    fake_release(&f);
    return sentence;
}

static void most_stacks_tell(void **state)
{
    static const char *const cases[][4] = {
        {"Python: ", "main > _PyEval_EvalFrameDefault > list_append", "main > PyEval_EvalFrameEx > f",
         "main"},
        {"JavaScript ", "node::Start > f", "main > v8::internal::Execution::Call(int) > g", "main"},
        {"Java: ", "main > libjvm.so:?", "main > libjvm.so:f > libc.so.6:g", "main"},
        {"Lua: ", "main > luaV_execute > luaH_new", "main > luaD_callnoyield > f", "main"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const stacks[] = {cases[i][1], cases[i][2], cases[i][3], NULL};
        const char *sentence = find(stacks);
        assert_non_null(sentence);
        assert_memory_equal(sentence, cases[i][0], strlen(cases[i][0]));
    }
}

static void a_few_stacks_tell_nothing(void **state)
{
    const char *const embedded[] = {"main > luaV_execute > f", "main > serve", NULL};
    const char *const native[] = {"main > my_PyEval_EvalFrame > f", "main > serve", NULL};
    const char *const none[] = {NULL};
    (void)state;
    assert_null(find(embedded));
    assert_null(find(native));
    assert_null(find(none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_stacks_tell),
        cmocka_unit_test(a_few_stacks_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
