/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of rounds: a way is a text, its places are numbered from 1, what stands there is the letter.
 */
#include "present/rounds.h"

#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t next_letter(const void *of, uint32_t place)
{
    return ((const char *)of)[place] == '\0' ? 0 : place + 1;
}

static uint32_t letter_at(const void *of, uint32_t place)
{
    return (uint32_t)((const char *)of)[place - 1];
}

/* All rounds of a text: "a3 bc2 d". */
static const char *rounds_in(const char *text)
{
    static char out[4096];
    const struct rounds_way way = {text, next_letter, letter_at};
    uint32_t at = text[0] == '\0' ? 0 : 1;
    size_t used = 0;
    out[0] = '\0';
    while (at != 0) {
        struct rounds r = rounds_find(&way, at);
        used += (size_t)sprintf(out + used, "%s", used == 0 ? "" : " ");
        for (unsigned i = 0; i < r.length; i++)
            used += (size_t)sprintf(out + used, "%c", text[r.places[i] - 1]);
        if (r.times > 1)
            used += (size_t)sprintf(out + used, "%zu", r.times);
        assert_int_equal(r.last, at + r.length * r.times - 1);
        at = next_letter(text, r.last);
    }
    return out;
}

static void what_repeats_is_shown_once(void **state)
{
    (void)state;
    assert_string_equal(rounds_in(""), "");
    assert_string_equal(rounds_in("abc"), "a b c");
    assert_string_equal(rounds_in("aabb"), "a a b b");
    assert_string_equal(rounds_in("aaa"), "a3");
    assert_string_equal(rounds_in("aaaaabm"), "a5 b m");
    assert_string_equal(rounds_in("ababab"), "ab3");
    assert_string_equal(rounds_in("ababam"), "ab2 a m");
    assert_string_equal(rounds_in("xabcabcabcm"), "x abc3 m");
    assert_string_equal(rounds_in("aabaabm"), "aab2 m");
    assert_string_equal(rounds_in("abcdabcd"), "abcd2");
    assert_string_equal(rounds_in("abcdeabcde"), "a b c d e a b c d e");
}

static void nothing_is_lost(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int n = 0; n < 20000; n++) {
        char text[40], back[80] = "";
        size_t length = 0;
        seed = hash_mix(seed + HASH_GOLDEN);
        for (uint64_t bits = seed; length < seed % 33; bits >>= 1)
            text[length++] = (char)('a' + (bits & 1));
        text[length] = '\0';
        char *rest = NULL;
        char copy[4096];
        strcpy(copy, rounds_in(text));
        for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
            size_t letters = strspn(word, "ab");
            unsigned times = word[letters] == '\0' ? 1 : (unsigned)strtoul(word + letters, NULL, 10);
            for (unsigned i = 0; i < times; i++)
                strncat(back, word, letters);
        }
        assert_string_equal(back, text);
    }
}

static void a_note_says_how_often(void **state)
{
    char note[ROUNDS_NOTE_MAX];
    (void)state;
    assert_string_equal(rounds_note(note, &(struct rounds){.length = 1, .times = 1}), "");
    assert_string_equal(rounds_note(note, &(struct rounds){.length = 1, .times = 9999}), "  (9,999 times)");
    assert_string_equal(rounds_note(note, &(struct rounds){.length = 2, .times = 20}), "  (both 20 times)");
    assert_string_equal(rounds_note(note, &(struct rounds){.length = 3, .times = 2}), "  (these 3, 2 times)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_repeats_is_shown_once),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(a_note_says_how_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
