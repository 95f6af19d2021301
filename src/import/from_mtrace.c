/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_mtrace: the log of glibc's mtrace(3).
 *
 *     = Start
 *     @ ./app:(read_config+0x1d)[0x11b0] + 0x55b4c51c34a0 0x64      a block and its size
 *     @ ./app:[0x11e7] - 0x55b4c51c34a0                             its release
 *     @ ./app:[0x11e7] < 0x55b4c51c3510                             realloc: the old block,
 *     @ ./app:[0x11e7] > 0x55b4c51c3510 0x1388                      the new one;
 *     @ ./app:[0x1267] ! 0x55b4c51c3610 0x1388                      or it failed
 *     = End
 *
 * What stands before the sign may be missing.  Since glibc 2.34 the address is
 * counted from where the file was loaded, before it was the address itself.
 */
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

#include "import/addressed.h"
#include "import/linescan.h"
#include "import/segments.h"
#include "tool/map.h"
#include "tool/strbuf.h"
#include "wire/record.h"

enum { MTRACE_LINE_NS = 1000 }; /* time that a line stands for: the log has none */

struct mtrace_file {
    struct import_job *job;
    struct addressed addressed;
    struct segments segments;
    struct map bases; /* number of the module with bias 0 -> first address of its file */
    struct strbuf path;
    uint64_t old; /* of a realloc that is under way: number + 1; 0 = none */
};

/* The first address of a file; 0 where that is not known. */
static uint64_t mtrace_base(struct mtrace_file *m, uint32_t module)
{
    uint64_t base = 0;
    const uint64_t *known = map_find(&m->bases, module);
    if (known != NULL)
        return *known;
    if (!segments_find(&m->segments, strbuf_get(&m->path), 0, &base))
        base = 0;
    if (!map_set(&m->bases, module, base))
        m->addressed.failed = true;
    return base;
}

/* path:(function+0x1d)[0x11b0] */
static uint32_t mtrace_stack(struct mtrace_file *m, const char *where, size_t length)
{
    struct recast *r = m->job->recast;
    const char *bracket = memrchr(where, '[', length);
    struct linescan s;
    if (bracket == NULL)
        return 0;
    linescan_init(&s, bracket + 1, length - (size_t)(bracket + 1 - where));
    uint64_t address = linescan_address(&s);
    size_t before = (size_t)(bracket - where);
    struct recast_name name = {{"", 0}, {"", 0}, 0};
    const char *open = memrchr(where, '(', before);
    if (open != NULL && before > 0 && where[before - 1] == ')') {
        const char *plus = memchr(open, '+', before - (size_t)(open - where));
        size_t end = plus == NULL ? before - 1 : (size_t)(plus - where);
        name.function = (struct recast_text){open + 1, end - (size_t)(open + 1 - where)};
        before = (size_t)(open - where);
    }
    if (before > 0 && where[before - 1] == ':')
        before--;
    uint32_t module = 0;
    if (before > 0) {
        strbuf_clear(&m->path);
        strbuf_add(&m->path, where, before);
        module = recast_module_at(r, where, before);
        uint64_t base = mtrace_base(m, module);
        if (address < base)
            address += base;
    }
    struct wake_frame frame = recast_frame(r, module, address, &name, name.function.length > 0);
    return recast_stack(r, &frame, 1);
}

static uint64_t mtrace_pointer(struct linescan *s)
{
    return linescan_skip(s, "(nil)") ? 0 : linescan_address(s);
}

static int mtrace_event(struct mtrace_file *m, struct linescan *s, uint32_t stack, struct err *err)
{
    char sign = linescan_left(s) > 0 ? *s->at : '\0';
    linescan_skip(s, (char[]){sign, '\0'});
    linescan_expect(s, " ");
    uint64_t address = mtrace_pointer(s), size = 0;
    if (sign == '+' || sign == '>' || sign == '!') {
        linescan_expect(s, " ");
        size = linescan_skip(s, "0x") ? linescan_hex(s) : linescan_decimal(s);
    }
    if (s->bad || sign == '\0' || strchr("+-<>!", sign) == NULL)
        return feed_refuse(m->job->feed, err, "this is no line of mtrace.");
    recast_clock(m->job->recast, recast_now(m->job->recast) + MTRACE_LINE_NS);
    if (sign == '+')
        addressed_alloc(&m->addressed, KIND_MALLOC, stack, address, size, 0);
    else if (sign == '-')
        (void)addressed_free(&m->addressed, HOW_FREE, address);
    else if (sign == '<')
        m->old = addressed_free(&m->addressed, HOW_REALLOC, address);
    else if (sign == '>')
        addressed_alloc(&m->addressed, KIND_REALLOC, stack, address, size, m->old);
    if (sign != '<')
        m->old = 0;
    return 0;
}

static int mtrace_line(struct mtrace_file *m, const char *line, size_t length, struct err *err)
{
    struct linescan s;
    uint32_t stack = 0;
    linescan_init(&s, line, length);
    if (length == 0 || linescan_skip(&s, "= Start") || linescan_skip(&s, "= End"))
        return 0;
    if (linescan_skip(&s, "@ ")) {
        const char *end = memrchr(s.at, ']', linescan_left(&s));
        if (end == NULL || end + 1 == s.end || end[1] != ' ')
            return feed_refuse(m->job->feed, err, "it does not say where it was called from.");
        if (end + 2 < s.end && (end[2] == '+' || end[2] == '>'))
            stack = mtrace_stack(m, s.at, (size_t)(end - s.at));
        s.at = end + 2;
    }
    int code = mtrace_event(m, &s, stack, err);
    if (code == 0)
        code = recast_check(m->job->recast, err);
    if (code == 0 && (m->addressed.failed || m->path.failed))
        code = err_no_memory(err);
    return code;
}

bool from_mtrace_is_one(const char *head, size_t length)
{
    struct linescan s;
    linescan_init(&s, head, length);
    if (linescan_skip(&s, "= Start\n"))
        return true;
    if (linescan_skip(&s, "@ ")) {
        size_t line;
        const char *text = linescan_until(&s, '\n', &line);
        return memmem(text, line, "[0x", 3) != NULL;
    }
    return linescan_skip(&s, "+ 0x") || linescan_skip(&s, "- 0x");
}

int from_mtrace(struct import_job *job, struct err *err)
{
    struct mtrace_file m = {.job = job};
    const char *line;
    size_t length;
    int code = 0;
    addressed_init(&m.addressed, job->recast);
    segments_init(&m.segments, job->sysroot);
    map_init(&m.bases);
    strbuf_init(&m.path);
    recast_begin(job->recast, 0, "", 0, "", 0);
    recast_note(job->recast,
                "mtrace tells one caller of each call and no times (a line stands for a "
                "microsecond), threads, kinds of calls or usable sizes, nor which program it was.");
    while (code == 0 && feed_line(job->feed, &line, &length))
        code = mtrace_line(&m, line, length, err);
    recast_miss_clock(job->recast);
    job->is_nameless = true;
    strbuf_release(&m.path);
    map_release(&m.bases);
    segments_release(&m.segments);
    addressed_release(&m.addressed);
    return code;
}
