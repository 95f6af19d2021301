/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * omitted: see omitted.h.
 */
#include "query/omitted.h"

uint64_t omitted_find(const struct when *w, const struct wake_process *p, uint64_t *limited)
{
    const struct wake_omissions *o = &p->omitted;
    bool is_before = w->window.max < o->limit_ns;
    *limited = o->is_limited && !is_before ? o->allocations : 0;
    return wake_process_omitted(p) - (o->allocations - *limited);
}

void omitted_note(struct query_result *r, const struct when *w, const struct wake_process *p)
{
    uint64_t limited;
    r->omitted_blocks += omitted_find(w, p, &limited);
    if (limited == 0)
        return;
    if (r->limited_blocks == 0 || p->omitted.limit_ns < r->limit_ns)
        r->limit_ns = p->omitted.limit_ns;
    r->limited_blocks += limited;
}
