/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * called: see called.h.
 */
#include "analysis/called.h"

#include <stddef.h>
#include <string.h>

/* Bytes of the template arguments that name begins with, up to behind the > that closes them. */
static size_t called_skip_template(const char *name, size_t length)
{
    size_t depth = 0, i = 0, sign;
    for (; i < length; i++) {
        if ((sign = frame_skip_sign_of(name, i)) != 0)
            i += sign - 1;
        else if (name[i] == '<')
            depth++;
        else if (name[i] == '>' && name[i - 1] != '-' && --depth == 0)
            return i + 1;
    }
    return length;
}

/* Does a name read like this, with or without the brackets, once what pages leave out is left out: the arguments of its
 * templates and of functions around it, and noise? */
static bool called_reads(const char *name, size_t length, const char *wanted, size_t want)
{
    size_t at = 0;
    for (size_t i = 0, same; i < length; i += same, at += same) {
        bool is_part = i == 0 || name[i - 1] == ':';
        size_t left = length - i, sign = is_part ? frame_skip_operator(name + i) : 0;
        size_t arguments = i > 0 && name[i] == '(' ? frame_skip_arguments(name, i) : 0;
        size_t noise = is_part ? frame_skip_noise(name + i, left) : 0;
        const char *word;
        size_t word_length, part = is_part ? frame_split_part(name + i, left, &word, &word_length) : 0;
        same = 0;
        if (part != 0 && (want - at < part || memcmp(wanted + at, name + i, part) != 0)) {
            if (want - at < word_length + 2 || wanted[at] != '{' || wanted[at + word_length + 1] != '}' ||
                memcmp(wanted + at + 1, word, word_length) != 0)
                return false;
            i += part;
            at += word_length + 2;
        } else if (left > 2 && memcmp(name + i, "::<", 3) == 0) { /* Rust's functions */
            i += 2 + called_skip_template(name + i + 2, left - 2);
            at += want - at >= 4 && memcmp(wanted + at, "::<>", 4) == 0 ? 4 : 0;
        } else if (sign == 0 && name[i] == '<') {
            i += called_skip_template(name + i, left);
            at += want - at >= 2 && memcmp(wanted + at, "<>", 2) == 0 ? 2 : 0;
        } else if (arguments != 0 && arguments < left) {
            i += arguments;
        } else if (noise != 0 && (want - at < noise || memcmp(wanted + at, name + i, noise) != 0)) {
            i += noise;
        } else {
            same = sign == 0 ? 1 : sign < left ? sign : left;
            bool has_blank = same > 1 && name[i + same - 1] == ' '; /* operator<< <int> */
            same -= has_blank;
            if (want - at < same || memcmp(wanted + at, name + i, same) != 0)
                return false;
            i += has_blank;
            at += has_blank && at + same < want && wanted[at + same] == ' ';
        }
    }
    return at == want;
}

/* Is it the whole name, or are these its last parts? */
static bool called_ends(const char *name, size_t length, const char *wanted, size_t want)
{
    for (size_t i = 0, sign; i < length;) {
        bool is_part = i == 0 || (i >= 2 && memcmp(name + i - 2, "::", 2) == 0);
        bool is_end = length - i == want && memcmp(name + i, wanted, want) == 0;
        if (is_part && (is_end || called_reads(name + i, length - i, wanted, want)))
            return true;
        sign = is_part ? frame_skip_operator(name + i) : 0;
        i += sign != 0 ? sign : name[i] == '<' ? called_skip_template(name + i, length - i) : 1;
    }
    return false;
}

/* A method of Rust: as <a::T as Trait>::f, or as a::T::f. */
static bool called_is_method(const char *name, size_t length, const char *wanted, size_t want)
{
    struct frame_self self, other;
    size_t used = frame_split_self(name, length, &self), asked = frame_split_self(wanted, want, &other);
    if (used == 0)
        return false;
    if (asked != 0)
        return called_reads(name + used, length - used, wanted + asked, want - asked) &&
               called_ends(self.type, self.type_length, other.type, other.type_length) &&
               (self.trait == NULL) == (other.trait == NULL) &&
               (self.trait == NULL ||
                called_ends(self.trait, self.trait_length, other.trait, other.trait_length));
    for (size_t i = 1; i + 2 < want; i++) {
        if (memcmp(wanted + i, "::", 2) == 0 &&
            called_reads(name + used, length - used, wanted + i, want - i) &&
            called_ends(self.type, self.type_length, wanted, i))
            return true;
    }
    return false;
}

bool called_matches(const struct frame *f, const char *wanted)
{
    size_t length, want = strlen(wanted);
    char place[FRAME_PLACE_MAX];
    if (want == 0)
        return false;
    if (f->function[0] == '\0')
        return strcmp(frame_spell_place(place, f->module, f->address), wanted) == 0;
    if (strcmp(f->function, wanted) == 0 || strcmp(f->linkage, wanted) == 0)
        return true;
    const char *name = frame_find_name(f->function, &length);
    return called_ends(name, length, wanted, want) || called_is_method(name, length, wanted, want);
}
