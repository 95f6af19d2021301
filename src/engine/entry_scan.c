/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entry_scan: see entry_scan.h.
 */
#include "engine/entry_scan.h"

#include "engine/entry_counts.h"

/* Entries from..to-1, with no moment between them. */
static void entry_scan_add(struct entry_counts *c, struct crew *crew, size_t from, size_t to)
{
    size_t counted = crew_begin(crew, from, to);
    entry_counts_add(c, from, counted);
    crew_end(crew, c);
}

/* All entries up to a time, and the moments between them. */
static void entry_scan_add_all(struct scan *s, struct entry_counts *c, struct crew *crew, uint64_t until)
{
    const struct entries *l = crew->entries;
    size_t count = until == UINT64_MAX ? l->published : entry_counts_find(c, until + 1);
    for (size_t next = 0; next < count && !s->failed;) {
        uint64_t moment = scan_next_moment(s);
        size_t end = moment == UINT64_MAX ? count : entry_counts_find(c, moment);
        end = end < count ? end : count;
        entry_scan_add(c, crew, next, end);
        next = end;
        if (end < count)
            scan_moment(s, moment);
    }
    /* Behind the last entry there may be events of other kinds. */
    uint64_t seen_ns = l->seen_ns < until ? l->seen_ns : until;
    for (uint64_t moment; !s->failed && (moment = scan_next_moment(s)) <= seen_ns;)
        scan_moment(s, moment);
}

int entry_scan_run(struct scan *s, const struct entries *l, const struct ledger_limits *limits,
                   const struct query *q, const struct when *w, struct filter *f, struct watch *watch,
                   const struct wake_process *p, struct query_result *result, struct err *err)
{
    int code = scan_begin(s, q, w, f, NULL, watch, p, result, err);
    if (code != 0)
        return code;
    struct entry_counts *c = entry_counts_new(s, l, f);
    struct crew crew;
    crew_init(&crew, limits, s, l);
    s->failed = c == NULL;
    if (!s->failed)
        entry_scan_add_all(s, c, &crew, w->window.max > w->moment ? w->window.max : w->moment);
    entry_counts_free(c);
    if (s->failed)
        return scan_no_memory(err);
    s->seen_ns = l->seen_ns;
    scan_finish(s, p);
    return 0;
}
