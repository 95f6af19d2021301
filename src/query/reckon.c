/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * reckon: see reckon.h.
 */
#include "query/reckon.h"

#include "query/counting.h"

/* Entries from..to-1, with no moment between them. */
static void reckon_add(struct counting *c, struct crew *crew, size_t from, size_t to)
{
    size_t counted = crew_begin(crew, from, to);
    counting_add(c, from, counted);
    crew_end(crew, c);
}

/* All entries up to a time, and the moments between them. */
static void reckon_add_all(struct scan *s, struct counting *c, struct crew *crew, uint64_t until)
{
    const struct entries *l = crew->entries;
    size_t count = until == UINT64_MAX ? l->published : counting_find(c, until + 1);
    for (size_t next = 0; next < count && !s->failed;) {
        uint64_t moment = scan_next_moment(s);
        size_t end = moment == UINT64_MAX ? count : counting_find(c, moment);
        end = end < count ? end : count;
        reckon_add(c, crew, next, end);
        next = end;
        if (end < count)
            scan_moment(s, moment);
    }
    /* Behind the last entry there may be events of other kinds. */
    uint64_t seen_ns = l->seen_ns < until ? l->seen_ns : until;
    for (uint64_t moment; !s->failed && (moment = scan_next_moment(s)) <= seen_ns;)
        scan_moment(s, moment);
}

int reckon_run(struct scan *s, const struct entries *l, const struct ledger_limits *limits,
               const struct query *q, const struct when *w, struct filter *f, struct watch *watch,
               const struct wake_process *p, struct query_result *result, struct err *err)
{
    int code = scan_begin(s, q, w, f, NULL, watch, p, result, err);
    if (code != 0)
        return code;
    struct counting *c = counting_new(s, l, f);
    struct crew crew;
    crew_init(&crew, limits, s, l);
    s->failed = c == NULL;
    if (!s->failed)
        reckon_add_all(s, c, &crew, w->window.max > w->moment ? w->window.max : w->moment);
    counting_free(c);
    if (s->failed)
        return scan_no_memory(err);
    s->seen_ns = l->seen_ns;
    scan_finish(s, p);
    return 0;
}
