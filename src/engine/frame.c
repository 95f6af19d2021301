/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * frame: see frame.h.
 */
#include "engine/frame.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

const char *frame_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Bytes of the sign of an operator; 0: a conversion, as in "operator int". */
static size_t frame_skip_sign(const char *text)
{
    static const char *const signs[] = {
        "->*", "<<=", ">>=", "<=>", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
        "++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "^=", "&=", "|=", "()", "[]"};
    for (size_t i = 0; i < COUNT(signs); i++) {
        if (strncmp(text, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    }
    return text[0] != '\0' && strchr("+-*/%^&|~!=<>,", text[0]) != NULL;
}

size_t frame_skip_operator(const char *text)
{
    static const char word[] = "operator";
    size_t n = sizeof word - 1;
    if (strncmp(text, word, n) != 0)
        return 0;
    size_t sign = frame_skip_sign(text + n);
    if (sign != 0) {
        n += sign;
        return text[n] == ' ' && text[n + 1] == '<' ? n + 1 : n; /* "operator<< <int>" */
    }
    for (int depth = 0; text[n] != '\0' && (text[n] != '(' || depth > 0); n++)
        depth += (text[n] == '<') - (text[n] == '>');
    return n;
}

size_t frame_skip_sign_of(const char *name, size_t at)
{
    static const char word[] = "operator";
    const size_t n = sizeof word - 1;
    if ((at > 0 && (isalnum((unsigned char)name[at - 1]) || name[at - 1] == '_')) ||
        strncmp(name + at, word, n) != 0)
        return 0;
    size_t sign = frame_skip_sign(name + at + n);
    return sign == 0 ? 0 : n + sign;
}

static const char frame_anonymous[] = "(anonymous namespace)";

enum { FRAME_ARGUMENTS_MAX = 8192 }; /* a name may be nothing but brackets, and each is looked at */

/* Bytes up to behind the bracket that closes the first one; 0: none does. */
static size_t frame_skip_brackets(const char *text)
{
    size_t depth = 0;
    for (size_t i = 0; i < FRAME_ARGUMENTS_MAX && text[i] != '\0'; i++) {
        if (text[i] == '(')
            depth++;
        else if (text[i] == ')' && --depth == 0)
            return i + 1;
    }
    return 0;
}

size_t frame_skip_arguments(const char *function, size_t at)
{
    static const char *const marks[] = {" const", " volatile", " &&", " &"};
    const char *text = function + at;
    size_t n = text[0] == '(' && strncmp(text, frame_anonymous, strlen(frame_anonymous)) != 0
                   ? frame_skip_brackets(text)
                   : 0;
    size_t end = n;
    if (n == 0 || (at > 0 && function[at - 1] == '!'))
        return n;
    if (text[n] == '.' && (text[n + 1] == '_' || isalpha((unsigned char)text[n + 1])))
        return n;
    for (size_t i = 0; i < COUNT(marks); i++) {
        if (strncmp(text + end, marks[i], strlen(marks[i])) == 0)
            end += strlen(marks[i]);
    }
    return strncmp(text + end, "::", 2) == 0 ? end : 0;
}

const char *frame_find_name(const char *function, size_t *length)
{
    size_t begin = 0, i = 0;
    int depth = 0;
    bool has_arguments = false;
    if ((function[0] == '-' || function[0] == '+') && function[1] == '[') { /* Objective-C */
        *length = strlen(function);
        return function;
    }
    while (function[i] != '\0') {
        bool boundary = i == 0 || strchr(" :", function[i - 1]) != NULL;
        size_t skip = depth > 0  ? frame_skip_sign_of(function, i)
                      : boundary ? frame_skip_operator(function + i)
                                 : 0;
        if (skip == 0 && strncmp(function + i, frame_anonymous, strlen(frame_anonymous)) == 0)
            skip = strlen(frame_anonymous);
        if (skip == 0 && function[i] == '(' && depth == 0 && i > begin) {
            skip = frame_skip_arguments(function, i);
            has_arguments = true;
            if (skip == 0)
                break;
        }
        if (skip != 0) {
            i += skip;
            continue;
        }
        bool is_arrow = i > 0 && function[i] == '>' && function[i - 1] == '-';
        if (function[i] == '<' || function[i] == '(' || function[i] == '{')
            depth++;
        else if ((function[i] == '>' || function[i] == ')' || function[i] == '}') && depth > 0)
            depth -= !is_arrow;
        else if (function[i] == ' ' && depth == 0)
            begin = i + 1;
        i++;
    }
    /* Only what has arguments has a result type; others may be called as they like, as JIT compilers do. */
    if (!has_arguments)
        begin = 0;
    *length = i - begin;
    return function + begin;
}

/* The index of the > that closes name[0]; length: none does. " as " beside the type: where; 0 = nowhere. */
static size_t frame_close_self(const char *name, size_t length, size_t *as)
{
    size_t depth = 0;
    *as = 0;
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '<' || name[i] == '(' || name[i] == '[')
            depth++;
        else if ((name[i] == '>' && name[i - 1] != '-') || name[i] == ')' || name[i] == ']')
            depth--;
        else if (depth == 1 && length - i > 4 && memcmp(name + i, " as ", 4) == 0)
            *as = i;
        if (depth == 0)
            return i;
    }
    return length;
}

size_t frame_split_self(const char *name, size_t length, struct frame_self *self)
{
    static const char lambda[] = "<lambda", unnamed[] = "<unnamed"; /* gcc's names for what has none */
    size_t as, close = length > 0 && name[0] == '<' ? frame_close_self(name, length, &as) : length;
    if (length - close < 4 || strncmp(name, lambda, sizeof lambda - 1) == 0 ||
        strncmp(name, unnamed, sizeof unnamed - 1) == 0 || memcmp(name + close + 1, "::", 2) != 0)
        return 0;
    *self = (struct frame_self){.type = name + 1, .type_length = (as != 0 ? as : close) - 1};
    if (as != 0) {
        self->trait = name + as + 4;
        self->trait_length = close - (as + 4);
    }
    return close + 1;
}

const char *frame_spell_place(char text[FRAME_PLACE_MAX], const char *module, uint64_t address)
{
    snprintf(text, FRAME_PLACE_MAX, "%s%s0x%llx", frame_basename(module), module[0] == '\0' ? "" : "+",
             (unsigned long long)address);
    return text;
}

size_t frame_skip_noise(const char *text, size_t length)
{
    static const char *const noise[] = {"(anonymous namespace)::", "__cxx11::", "{anonymous}::"};
    for (size_t i = 0; i < COUNT(noise); i++) {
        size_t n = strlen(noise[i]);
        if (length > n && memcmp(text, noise[i], n) == 0)
            return n;
    }
    return 0;
}

size_t frame_split_part(const char *text, size_t length, const char **word, size_t *word_length)
{
    static const char old[] = "{{closure}}";
    if (length >= sizeof old - 1 && memcmp(text, old, sizeof old - 1) == 0) {
        *word = text + 2;
        *word_length = strlen("closure");
        return sizeof old - 1;
    }
    size_t at = 1;
    while (at < length && ((text[at] >= 'a' && text[at] <= 'z') || text[at] == '_'))
        at++;
    if (length == 0 || text[0] != '{' || at == 1 || at == length || text[at] != '#')
        return 0;
    *word = text + 1;
    *word_length = at - 1;
    while (++at < length && text[at] >= '0' && text[at] <= '9')
        continue;
    return at < length && text[at] == '}' ? at + 1 : 0;
}
