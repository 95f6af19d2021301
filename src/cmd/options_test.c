/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cmd/options.h"

#include "cmd/command.h"
#include "tool/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct inner {
    const char *text;
};

struct given {
    bool flag, answer, has_level;
    const char *output, *level, *operand;
    unsigned choice;
    struct options_count count;
    VEC(const char *) list;
    struct inner inner;
};

static int set_level(void *to, const struct option *o, const char *value, struct err *err)
{
    struct given *g = to;
    (void)o;
    (void)err;
    g->has_level = true;
    g->level = value;
    return 0;
}

static int take(void *options, char *word, struct err *err)
{
    struct given *g = options;
    (void)err;
    g->operand = word;
    return 0;
}

#define GIVEN(member) offsetof(struct given, member)

static const struct option inner_options[] = {
    {.names = "--text", .argument = "TEXT", .set = options_set_text, .at = offsetof(struct inner, text)},
    {0},
};

static const struct option table[] = {
    {.names = "--flag", .set = options_set_flag, .at = GIVEN(flag)},
    {.help = "A paragraph."},
    {.names = "-o, --output", .argument = "FILE", .set = options_set_text, .at = GIVEN(output)},
    {.names = "--answer", .argument = "yes|no", .set = options_set_answer, .at = GIVEN(answer)},
    {.names = "--choice", .argument = "red|green|blue", .set = options_set_choice, .at = GIVEN(choice)},
    {.names = "--count", .argument = "N", .set = options_set_count, .at = GIVEN(count)},
    {.names = "--level", .argument = "[=N]", .set = set_level},
    {.names = "--list", .argument = "X", .set = options_add_text, .at = GIVEN(list), .is_list = true},
    {.shared = inner_options, .at = GIVEN(inner)},
    {.names = "--last", .set = options_set_flag, .at = GIVEN(flag)},
    {0},
};

static struct command command = {.name = "test", .options = table, .take = take};
static struct err err;

/* Parses words that end with NULL. */
static int parse(struct given *g, int *end, const char *const *words)
{
    int argc = 0;
    while (words[argc] != NULL)
        argc++;
    memset(g, 0, sizeof *g);
    err_init(&err);
    return options_parse(&command, g, argc, (char **)words, end, &err);
}

#define WORDS(...) ((const char *[]){"test", __VA_ARGS__, NULL})

static void values_follow_or_stand_behind_an_equals_sign(void **state)
{
    struct given g;
    (void)state;
    assert_int_equal(
        0, parse(&g, NULL, WORDS("-o", "a", "--answer=yes", "--text", "t", "--choice=blue", "--last")));
    assert_string_equal("a", g.output);
    assert_true(g.answer && g.flag);
    assert_string_equal("t", g.inner.text);
    assert_int_equal(2, g.choice);
    assert_int_equal(0, parse(&g, NULL, WORDS("--output=-x", "--count", "7")));
    assert_string_equal("-x", g.output);
    assert_true(g.count.is_given && g.count.value == 7);
}

static void an_argument_in_brackets_may_be_left_out(void **state)
{
    struct given g;
    (void)state;
    assert_int_equal(0, parse(&g, NULL, WORDS("--level", "x")));
    assert_true(g.has_level && g.level == NULL);
    assert_string_equal("x", g.operand);
    assert_int_equal(0, parse(&g, NULL, WORDS("--level=3")));
    assert_string_equal("3", g.level);
}

static void one_value_is_taken_once_and_a_list_many_times(void **state)
{
    struct given g;
    (void)state;
    assert_int_equal(ERR_USAGE, parse(&g, NULL, WORDS("-o", "a", "--output=b")));
    assert_string_equal("'--output' is given twice; it takes one value.", err.text);
    assert_int_equal(ERR_USAGE, parse(&g, NULL, WORDS("--text", "a", "--text", "b")));
    assert_int_equal(0, parse(&g, NULL, WORDS("--list", "a", "--list", "b", "--flag", "--flag")));
    assert_int_equal(2, g.list.count);
    vec_release(&g.list);
}

static void wrong_values_and_names_get_a_sentence(void **state)
{
    struct given g;
    (void)state;
    assert_int_equal(ERR_USAGE, parse(&g, NULL, WORDS("--choice", "pink")));
    assert_string_equal("--choice takes red, green or blue, not 'pink'.", err.text);
    assert_int_equal(ERR_USAGE, parse(&g, NULL, WORDS("--answer", "perhaps")));
    assert_string_equal("--answer takes yes or no, not 'perhaps'.", err.text);
    assert_int_equal(ERR_USAGE, parse(&g, NULL, WORDS("-o")));
    assert_string_equal("--output needs a value; 'heapwake help test' says which.", err.text);
    assert_int_equal(ERR_USAGE, parse(&g, NULL, WORDS("--outptu", "x")));
    assert_string_equal("'heapwake test' has no option '--outptu'; did you mean --output?", err.text);
    assert_int_equal(ERR_USAGE, parse(&g, NULL, WORDS("--flag=yes")));
}

static void a_program_ends_the_options(void **state)
{
    struct given g;
    int end;
    (void)state;
    command.operands = OPERANDS_PROGRAM;
    assert_int_equal(0, parse(&g, &end, WORDS("--flag", "ls", "--answer")));
    assert_int_equal(2, end);
    assert_int_equal(0, parse(&g, &end, WORDS("--", "--flag")));
    assert_int_equal(2, end);
    assert_false(g.flag);
    command.operands = OPERANDS_RECORDING_OR_PROGRAM;
    assert_int_equal(0, parse(&g, &end, WORDS("x.wake", "--", "ls")));
    assert_int_equal(3, end);
    assert_string_equal("x.wake", g.operand);
    command.operands = OPERANDS_RECORDINGS;
    assert_int_equal(0, parse(&g, &end, WORDS("--", "--flag")));
    assert_string_equal("--flag", g.operand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_or_stand_behind_an_equals_sign),
        cmocka_unit_test(an_argument_in_brackets_may_be_left_out),
        cmocka_unit_test(one_value_is_taken_once_and_a_list_many_times),
        cmocka_unit_test(wrong_values_and_names_get_a_sentence),
        cmocka_unit_test(a_program_ends_the_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
