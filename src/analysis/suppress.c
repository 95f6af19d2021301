/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * suppress: see suppress.h.
 */
#include "analysis/suppress.h"

#include "base/libc.h"
#include "store/weight.h"

#include <string.h>

void suppress_init(struct suppress *s)
{
    memset(s, 0, sizeof *s);
    arena_init(&s->arena);
}

void suppress_release(struct suppress *s)
{
    vec_release(&s->rules);
    arena_release(&s->arena);
}

int suppress_no_memory(struct err *err)
{
    return err_no_memory(err);
}

/* ------------------------------------------------------------------- parsing */

static bool suppress_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static int suppress_add_line(struct suppress *s, const char *name, unsigned number, const char *line,
                             size_t length, struct err *err)
{
    static const char type[] = "leak:";
    while (length > 0 && suppress_is_blank(*line))
        line++, length--;
    while (length > 0 && suppress_is_blank(line[length - 1]))
        length--;
    if (length == 0 || line[0] == '#')
        return 0;
    if (length < sizeof type - 1 || memcmp(line, type, sizeof type - 1) != 0)
        return err_set(err, ERR_INPUT, "%s, line %u: '%.*s' does not begin with 'leak:'.", name, number,
                       (int)(length < 60 ? length : 60), line);
    line += sizeof type - 1;
    length -= sizeof type - 1;
    if (length == 0)
        return err_set(err, ERR_INPUT, "%s, line %u: there is no pattern behind 'leak:'.", name, number);
    if (memchr(line, '\0', length) != NULL)
        return err_set(err, ERR_INPUT, "%s, line %u: there is a zero byte in the pattern.", name, number);
    struct suppress_rule rule = {.pattern = arena_push_text(&s->arena, line, length)};
    if (rule.pattern == NULL || !vec_push(&s->rules, rule))
        return suppress_no_memory(err);
    return 0;
}

int suppress_add_text(struct suppress *s, const char *name, const char *text, size_t length, struct err *err)
{
    unsigned number = 1;
    for (size_t at = 0; at < length; number++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t n = end == NULL ? length - at : (size_t)(end - text) - at;
        int code = suppress_add_line(s, name, number, text + at, n, err);
        if (code != 0)
            return code;
        at += n + 1;
    }
    return 0;
}

/* ------------------------------------------------------------------ matching */

/* Where the piece is found in text, or NULL. */
static const char *suppress_find(const char *text, size_t length, const char *piece, size_t n)
{
    return n == 0 ? text : memmem(text, length, piece, n);
}

/* Pieces between asterisks are looked for one after the other, each as early as
 * it comes; a last piece that is bound to the end is compared there. */
bool suppress_matches(const char *pattern, const char *name)
{
    size_t length = strlen(pattern), left = strlen(name);
    bool at_begin = length > 0 && pattern[0] == '^';
    if (at_begin)
        pattern++, length--;
    bool at_end = length > 0 && pattern[length - 1] == '$';
    if (at_end)
        length--;
    if (left == 0)
        return false;
    for (;;) {
        const char *star = memchr(pattern, '*', length);
        size_t n = star == NULL ? length : (size_t)(star - pattern);
        if (star == NULL && at_end) {
            if (n > left || (at_begin && n != left))
                return false;
            return memcmp(name + left - n, pattern, n) == 0;
        }
        const char *found = suppress_find(name, left, pattern, n);
        if (found == NULL || (at_begin && found != name))
            return false;
        if (star == NULL)
            return true;
        left -= (size_t)(found - name) + n;
        name = found + n;
        pattern += n + 1;
        length -= n + 1;
        at_begin = false;
    }
}

static bool suppress_rule_matches_frame(const struct suppress_rule *r, const struct frame *f)
{
    return suppress_matches(r->pattern, f->function) || suppress_matches(r->pattern, f->file) ||
           suppress_matches(r->pattern, f->module) || suppress_matches(r->pattern, f->linkage);
}

/* Names are short; what does not fit is no name of the C library. */
enum { SUPPRESS_NAME_MAX = 256 };

/* The name alone, "" = too long.  The debug information of the C library has a prefix for some. */
static void suppress_take_name(char name[SUPPRESS_NAME_MAX], const char *function)
{
    static const char internal[] = "__GI_";
    size_t length;
    const char *begin = frame_find_name(function, &length);
    if (length >= sizeof internal && memcmp(begin, internal, sizeof internal - 1) == 0) {
        begin += sizeof internal - 1;
        length -= sizeof internal - 1;
    }
    length = length < SUPPRESS_NAME_MAX ? length : 0;
    memcpy(name, begin, length);
    name[length] = '\0';
}

static void suppress_drop_end(char *name, const char *end)
{
    size_t length = strlen(name), n = strlen(end);
    if (length > n && strcmp(name + length - n, end) == 0)
        name[length - n] = '\0';
}

/* Is it one of these, under any of the names that one function has: puts and _IO_puts, printf and __printf_chk,
 * fputs and fputs_unlocked, getpwuid and getpwuid_r? */
static bool suppress_is_any(const char *const *list, const char *function)
{
    char name[SUPPRESS_NAME_MAX];
    suppress_take_name(name, function);
    const char *bare = strncmp(name, "_IO_", 4) == 0 ? name + 4 : name + strspn(name, "_");
    suppress_drop_end(name, "_unlocked");
    suppress_drop_end(name, "_chk");
    suppress_drop_end(name, "_r");
    for (; *list != NULL; list++) {
        if (strcmp(*list, bare) == 0)
            return true;
    }
    return false;
}

/* What is linked into a program counts as if it were in the library. */
static const char *suppress_module(const struct frame *f)
{
    return strcmp(f->file, LIBC_ARCHIVE) == 0 ? "libc.so.6" : frame_basename(f->module);
}

static bool suppress_is_libc(const struct frame *f)
{
    static const char *const modules[] = {"^libc.so.", "^ld-linux", "^libnss_", "^libresolv.so"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        if (suppress_matches(modules[i], suppress_module(f)))
            return true;
    }
    return false;
}

/* What the program called, where the innermost frames are the C library's: the outermost of these.  NULL: they are not. */
static const struct frame *suppress_find_called(const struct traces *c, uint32_t at)
{
    const struct frame *called = NULL;
    for (; at != 0 && suppress_is_libc(traces_frame(c, at)); at = traces_parent(c, at))
        called = traces_frame(c, at);
    return called;
}

/* Are they blocks of this size? A sample counts more than once, always by the same. */
static bool suppress_has_size(const struct metrics *m, uint64_t size, uint64_t rate)
{
    uint64_t counted = weight_made(rate, 0, size).bytes;
    return rate == 0 ? m->leaked_bytes == m->leaked_blocks * size
                     : m->leaked_bytes != 0 && counted != 0 && m->leaked_bytes % counted == 0;
}

/* rate: of a sampled process. */
static bool suppress_rule_matches(const struct suppress_rule *r, const struct traces *c, uint32_t at,
                                  const struct metrics *m, uint64_t rate)
{
    if (!r->built_in) {
        for (; at != 0; at = traces_parent(c, at)) {
            if (suppress_rule_matches_frame(r, traces_frame(c, at)))
                return true;
        }
        return false;
    }
    while (at != 0 && traces_frame(c, at)->role == FRAME_ALLOCATOR)
        at = traces_parent(c, at);
    if (at == 0)
        return false;
    if (r->size != 0 && !suppress_has_size(m, r->size, rate))
        return false;
    if (r->called != NULL) {
        const struct frame *called = suppress_find_called(c, at);
        return called != NULL && suppress_is_any(r->called, called->function);
    }
    const struct frame *f = traces_frame(c, at);
    char name[SUPPRESS_NAME_MAX];
    suppress_take_name(name, f->function);
    return (r->innermost_module == NULL || suppress_matches(r->innermost_module, suppress_module(f))) &&
           (r->innermost_function == NULL || suppress_matches(r->innermost_function, name));
}

int suppress_apply(struct suppress *s, struct traces *c, struct query_result *r, struct err *err)
{
    for (size_t i = 0; i < r->rows.count; i++) {
        struct metrics *m = &r->rows.data[i].m;
        uint32_t trace;
        int code = traces_find(c, r->rows.data[i].process, r->rows.data[i].stack, &trace, err);
        if (code != 0)
            return code;
        const struct wake_process *p = c->processes.data[r->rows.data[i].process].process;
        uint64_t rate = p == NULL ? 0 : p->omitted.sample_rate;
        for (size_t n = 0; n < s->rules.count && m->leaked_blocks != 0; n++) {
            struct suppress_rule *rule = &s->rules.data[n];
            if (!suppress_rule_matches(rule, c, trace, m, rate))
                continue;
            rule->blocks += m->leaked_blocks;
            rule->bytes += m->leaked_bytes;
            r->total.leaked_blocks -= m->leaked_blocks;
            r->total.leaked_bytes -= m->leaked_bytes;
            m->leaked_blocks = m->leaked_bytes = 0;
        }
    }
    return 0;
}

uint64_t suppress_bytes(const struct suppress *s)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->rules.count; i++)
        bytes += s->rules.data[i].bytes;
    return bytes;
}

uint64_t suppress_blocks(const struct suppress *s)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < s->rules.count; i++)
        blocks += s->rules.data[i].blocks;
    return blocks;
}
