/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_jemalloc: the heap profile of jemalloc.
 *
 *     heap_v2/524288                            one byte in so many is looked at
 *       t*: 28: 106496 [30: 120000]             live blocks, bytes [ever allocated], of all threads
 *       t0: 28: 106496 [30: 120000]             of a thread
 *     @ 0x5f6a 0x7f12 ...                       a stack, the innermost first
 *       t*: 13: 6688 [0: 0]
 *       t0: 13: 6688 [0: 0]
 *
 *     MAPPED_LIBRARIES:
 *     5555... /proc/PID/maps
 */
#include "import/import.h"

#include "import/callsites.h"

struct jemalloc_file {
    struct import_job *job;
    struct callsites sites;
    uint64_t period;
    bool has_head, is_over;
    bool accumulates; /* what was ever allocated is told */
};

/* t*: or t12: and the sums */
static bool jemalloc_take_sums(struct jemalloc_file *j, struct linescan *s)
{
    struct lot_sum end, allocated;
    bool is_all = linescan_skip(s, "*");
    if (!is_all)
        (void)linescan_decimal(s);
    linescan_expect(s, ":");
    callsites_sums(s, &end, &allocated);
    if (s->bad)
        return false;
    j->accumulates |= allocated.blocks > 0;
    if (is_all && j->sites.list.count > 0) {
        struct callsite *site = &j->sites.list.data[j->sites.list.count - 1];
        site->end = callsites_scale(end, j->period);
        site->allocated = callsites_scale(allocated, j->period);
        if (site->allocated.blocks < site->end.blocks || site->allocated.bytes < site->end.bytes)
            site->allocated = site->end; /* not told, or rounded */
    }
    return true;
}

static int jemalloc_line(struct jemalloc_file *j, const char *line, size_t length, struct err *err)
{
    struct linescan s;
    linescan_init(&s, line, length);
    if (!j->has_head) {
        linescan_expect(&s, "heap_v2/");
        j->period = linescan_decimal(&s);
        if (s.bad)
            return feed_refuse(j->job->feed, err,
                               "a heap profile of jemalloc begins with heap_v2/ and a number.");
        j->has_head = true;
        return 0;
    }
    if (length == 0)
        return 0;
    if (linescan_skip(&s, "MAPPED_LIBRARIES:")) {
        j->is_over = true;
        return 0;
    }
    if (linescan_skip(&s, "@")) {
        (void)callsites_begin(&j->sites, &s);
    } else {
        linescan_skip_spaces(&s);
        linescan_expect(&s, "t");
        (void)jemalloc_take_sums(j, &s);
    }
    if (j->sites.failed)
        return err_no_memory(err);
    return s.bad ? feed_refuse(j->job->feed, err, "this is no line of a heap profile.") : 0;
}

bool from_jemalloc_is_one(const char *head, size_t length)
{
    struct linescan s;
    linescan_init(&s, head, length);
    return linescan_skip(&s, "heap_v2/");
}

int from_jemalloc(struct import_job *job, struct err *err)
{
    struct jemalloc_file j = {.job = job};
    const char *line;
    size_t length;
    int code = 0;
    while (code == 0 && !j.is_over && feed_line(job->feed, &line, &length))
        code = jemalloc_line(&j, line, length, err);
    if (code == 0)
        code = feed_check(job->feed, err);
    if (code == 0) {
        recast_note(job->recast,
                    "jemalloc's profile tells of one moment: what was live then is taken as never freed. "
                    "Sizes are those of its size classes, not those asked for.");
        if (j.period > 1)
            recast_note(
                job->recast,
                "It is a sample of one byte in %llu: the figures are estimates, reckoned as jeprof does.",
                (unsigned long long)j.period);
        if (!j.accumulates)
            recast_note(job->recast, "It does not tell what was freed before (prof_accum was off).");
        code = callsites_write(&j.sites, job, err);
    }
    callsites_release(&j.sites);
    return code;
}
