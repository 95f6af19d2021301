/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_gperftools: the text heap profile of gperftools and of others that took
 * it over.
 *
 *     heap profile:   3:  1064960 [  43: 1082368] @ heapprofile
 *          1:  1048576 [   1:  1048576] @ 0x5555 0x7f12 ...      live blocks, bytes [ever allocated] @ stack
 *
 *     MAPPED_LIBRARIES:
 *     5555... /proc/PID/maps
 *
 * Behind the @ of the first line stands heapprofile (every call), or heap_v2/N
 * or heapz_v2/N (one byte in N is looked at).
 */
#include "import/import.h"

#include <string.h>

#include "import/callsites.h"

struct gperftools_file {
    struct import_job *job;
    struct callsites sites;
    uint64_t period; /* 0: every call is in it */
    bool has_head, is_over;
};

static int gperftools_head(struct gperftools_file *g, struct linescan *s, struct err *err)
{
    struct lot_sum end, allocated;
    linescan_expect(s, "heap profile:");
    callsites_sums(s, &end, &allocated);
    linescan_skip_spaces(s);
    linescan_expect(s, "@");
    linescan_skip_spaces(s);
    if (s->bad)
        return feed_refuse(g->job->feed, err, "the first line of a heap profile makes no sense.");
    g->has_head = true;
    if (linescan_skip(s, "heapprofile") || linescan_left(s) == 0)
        return 0;
    if (linescan_skip(s, "heap_v2/") || linescan_skip(s, "heapz_v2/") || linescan_skip(s, "heap/"))
        g->period = linescan_decimal(s);
    else
        s->bad = true;
    if (s->bad)
        return feed_refuse(g->job->feed, err, "this is another kind of profile than that of a heap.");
    return 0;
}

static int gperftools_line(struct gperftools_file *g, const char *line, size_t length, struct err *err)
{
    struct linescan s;
    struct lot_sum end, allocated;
    linescan_init(&s, line, length);
    if (!g->has_head)
        return gperftools_head(g, &s, err);
    linescan_skip_spaces(&s);
    if (linescan_left(&s) == 0)
        return 0;
    if (linescan_skip(&s, "MAPPED_LIBRARIES:")) {
        g->is_over = true;
        return 0;
    }
    callsites_sums(&s, &end, &allocated);
    linescan_skip_spaces(&s);
    linescan_expect(&s, "@");
    struct callsite *site = s.bad ? NULL : callsites_begin(&g->sites, &s);
    if (g->sites.failed)
        return err_no_memory(err);
    if (s.bad || site == NULL)
        return feed_refuse(g->job->feed, err, "this is no line of a heap profile.");
    site->end = callsites_scale(end, g->period);
    site->allocated = callsites_scale(allocated, g->period);
    if (site->allocated.blocks < site->end.blocks || site->allocated.bytes < site->end.bytes)
        site->allocated = site->end; /* not told, or rounded */
    return 0;
}

bool from_gperftools_is_one(const char *head, size_t length)
{
    struct linescan s;
    linescan_init(&s, head, length);
    return linescan_skip(&s, "heap profile:");
}

int from_gperftools(struct import_job *job, struct err *err)
{
    struct gperftools_file g = {.job = job};
    const char *line;
    size_t length;
    int code = 0;
    while (code == 0 && !g.is_over && feed_line(job->feed, &line, &length))
        code = gperftools_line(&g, line, length, err);
    if (code == 0)
        code = feed_check(job->feed, err);
    if (code == 0) {
        recast_note(job->recast,
                    "A heap profile tells of one moment: what was live then is taken as never freed.");
        if (g.period > 1)
            recast_note(
                job->recast,
                "It is a sample of one byte in %llu: the figures are estimates, reckoned as pprof does.",
                (unsigned long long)g.period);
        code = callsites_write(&g.sites, job, err);
    }
    callsites_release(&g.sites);
    return code;
}
