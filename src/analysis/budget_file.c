/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * budget_file: reads the file of limits that budget.h describes, line by line.
 * A line is copied before it is taken apart: nothing is ever read beyond it.
 */
#include "analysis/budget.h"

#include <ctype.h>
#include <string.h>

#include "tool/strbuf.h"

enum { BUDGET_LINE_MAX = 4096, BUDGET_KEYS_MAX = 16 };

struct budget_file {
    struct budget *budget;
    const char *path;
    unsigned line;
    bool in_check;                     /* behind [check] */
    const char *keys[BUDGET_KEYS_MAX]; /* seen so far */
    size_t key_count;
    struct err *err;
};

#define BUDGET_REFUSE(f, ...) budget_file_refuse(f, err_set((f)->err, ERR_INPUT, __VA_ARGS__))

/* Puts file and line before the sentence. */
static int budget_file_refuse(const struct budget_file *f, int code)
{
    char sentence[sizeof f->err->text];
    memcpy(sentence, f->err->text, sizeof sentence);
    return err_set(f->err, code, "%.200s, line %u: %.280s", f->path, f->line, sentence);
}

static char *budget_file_skip(char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static int budget_file_set(struct budget_file *f, const char *key, const char *value)
{
    bool is_path = strcmp(key, "base") == 0 || strcmp(key, "suppressions") == 0;
    const char *slash = strrchr(f->path, '/');
    struct strbuf joined;
    strbuf_init(&joined);
    if (is_path && slash != NULL && value[0] != '\0' && value[0] != '/')
        strbuf_add(&joined, f->path, (size_t)(slash - f->path) + 1);
    strbuf_add_text(&joined, value);
    int code =
        joined.failed ? err_no_memory(f->err) : budget_set(f->budget, key, strbuf_get(&joined), f->err);
    strbuf_release(&joined);
    return code == ERR_USAGE ? budget_file_refuse(f, ERR_INPUT) : code;
}

/* A string in double quotes at *at: unescaped in place; *at moves behind it. */
static int budget_file_string(struct budget_file *f, char **at, const char **text)
{
    char *to = *at + 1, *from = to;
    *text = to;
    for (; *from != '"'; from++) {
        if (*from == '\0')
            return BUDGET_REFUSE(f, "A string has no end.");
        if (*from == '\\' && *++from != '"' && *from != '\\')
            return BUDGET_REFUSE(f, "In a string only \\\" and \\\\ are escapes.");
        *to++ = *from;
    }
    *at = from + 1;
    *to = '\0';
    return 0;
}

/* ["a", "b"]: each is set. */
static int budget_file_list(struct budget_file *f, char **at, const char *key)
{
    const char *text;
    char *next = budget_file_skip(*at + 1);
    if (strcmp(key, "suppressions") != 0)
        return BUDGET_REFUSE(f, "%s takes one value, not a list.", key);
    while (*next != ']') {
        if (*next != '"')
            return BUDGET_REFUSE(f, "A list holds strings with commas between them, on one line.");
        int code = budget_file_string(f, &next, &text);
        if (code == 0)
            code = budget_file_set(f, key, text);
        if (code != 0)
            return code;
        next = budget_file_skip(next);
        if (*next == ',')
            next = budget_file_skip(next + 1);
        else if (*next != ']')
            return BUDGET_REFUSE(f, "A list holds strings with commas between them, on one line.");
    }
    *at = next + 1;
    return 0;
}

/* A whole number; 100_000 is one too. */
static int budget_file_number(struct budget_file *f, char **at, const char *key)
{
    char digits[32];
    size_t length = 0;
    for (; isdigit((unsigned char)**at) || (**at == '_' && length > 0); ++*at) {
        if (**at == '_')
            continue;
        if (length + 1 >= sizeof digits)
            return BUDGET_REFUSE(f, "That number is too large.");
        digits[length++] = **at;
    }
    digits[length] = '\0';
    return budget_file_set(f, key, digits);
}

static int budget_file_value(struct budget_file *f, const char *key, char *at)
{
    const char *text;
    int code;
    if (*at == '"') {
        code = budget_file_string(f, &at, &text);
        if (code == 0)
            code = budget_file_set(f, key, text);
    } else if (*at == '[') {
        code = budget_file_list(f, &at, key);
    } else if (isdigit((unsigned char)*at)) {
        code = budget_file_number(f, &at, key);
    } else {
        return BUDGET_REFUSE(f, "%s takes a number, or a string in double quotes.", key);
    }
    if (code != 0)
        return code;
    at = budget_file_skip(at);
    return *at == '\0' || *at == '#' ? 0 : BUDGET_REFUSE(f, "Behind the value stands '%.60s'.", at);
}

/* Refuses a key that is not known, or came before. */
static int budget_file_note_key(struct budget_file *f, const char *key)
{
    static const char *const known[] = {
        "max-peak",         "max-leak",        "max-leak-per-site", "max-leak-growing",
        "max-leak-stopped", "max-allocations", "max-growth",        "base",
        "suppressions"};
    for (size_t i = 0; i < f->key_count; i++) {
        if (strcmp(f->keys[i], key) == 0)
            return BUDGET_REFUSE(f, "%s is there already.", key);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i], key) == 0) {
            f->keys[f->key_count++] = known[i];
            return 0;
        }
    }
    return BUDGET_REFUSE(
        f,
        "There is no key '%.100s'; there are max-peak, max-leak, max-leak-per-site, "
        "max-leak-growing, max-leak-stopped, max-allocations, max-growth, base and suppressions.",
        key);
}

static int budget_file_line(struct budget_file *f, char *line)
{
    char *at = budget_file_skip(line), *key = at;
    if (*at == '\0' || *at == '#')
        return 0;
    if (*at == '[') {
        bool is_check = strncmp(at, "[check]", 7) == 0;
        char *rest = is_check ? budget_file_skip(at + 7) : at;
        if (!is_check || (*rest != '\0' && *rest != '#'))
            return BUDGET_REFUSE(f, "There is no table '%.60s'; there is [check].", at);
        if (f->in_check)
            return BUDGET_REFUSE(f, "[check] is there already.");
        f->in_check = true;
        return 0;
    }
    while (isalnum((unsigned char)*at) || *at == '-' || *at == '_')
        at++;
    char *end = at;
    at = budget_file_skip(at);
    if (end == key || *at != '=')
        return BUDGET_REFUSE(f, "A line is KEY = VALUE, [check] or a comment, not '%.60s'.", key);
    at = budget_file_skip(at + 1);
    *end = '\0';
    if (!f->in_check)
        return BUDGET_REFUSE(f, "%.100s stands before [check].", key);
    int code = budget_file_note_key(f, key);
    return code == 0 ? budget_file_value(f, key, at) : code;
}

int budget_read(struct budget *b, const char *path, const char *text, size_t length, struct err *err)
{
    struct budget_file f = {.budget = b, .path = path, .err = err};
    int code = 0;
    for (size_t at = 0; at < length && code == 0;) {
        char line[BUDGET_LINE_MAX];
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end == NULL ? length - at : (size_t)(end - text) - at;
        f.line++;
        if (size >= sizeof line)
            return BUDGET_REFUSE(&f, "The line is too long.");
        if (memchr(text + at, '\0', size) != NULL)
            return BUDGET_REFUSE(&f, "There is a NUL in the line.");
        memcpy(line, text + at, size);
        at += size + (end != NULL);
        if (size > 0 && line[size - 1] == '\r')
            size--;
        line[size] = '\0';
        code = budget_file_line(&f, line);
    }
    return code;
}
