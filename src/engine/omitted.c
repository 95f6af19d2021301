/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * omitted: see omitted.h.
 */
#include "engine/omitted.h"

struct omitted omitted_find(const struct wake_process *p, uint64_t until_ns)
{
    const struct wake_omissions *o = &p->omitted;
    uint64_t others = o->culled_blocks + o->allocations;
    return (struct omitted){.culled = o->culled_blocks,
                            .elsewhere = wake_process_omitted(p) - others,
                            .limited = o->is_limited && until_ns >= o->limit_ns ? o->allocations : 0};
}

struct omitted_need omitted_understand(const struct when *w, const struct filter *f)
{
    const unsigned fate = CHECK_AT_DEATH | CHECK_GROUP_TIMES | CHECK_RELEASE | CHECK_INSIDE;
    bool has_fate = (f->checks & fate) != 0;
    uint64_t last_ns = w->window.max < f->born.max ? w->window.max : f->born.max;
    return (struct omitted_need){.until_ns = has_fate ? UINT64_MAX : last_ns,
                                 .moment_ns = w->moment,
                                 .window_ns = w->window.max,
                                 .has_fate = has_fate};
}

static void omitted_note_limit(uint64_t *first_ns, uint64_t limit_ns)
{
    if (limit_ns != 0 && (*first_ns == 0 || limit_ns < *first_ns)) /* 0: it had no event since then */
        *first_ns = limit_ns;
}

void omitted_note(struct query_result *r, const struct wake_process *p, const struct omitted_need *need)
{
    const struct omitted o = omitted_find(p, need->until_ns);
    uint64_t limit_ns = p->omitted.limit_ns;
    r->omitted_blocks += o.culled + o.elsewhere + o.limited;
    r->limited_blocks += o.limited;
    if (!p->omitted.is_limited)
        return;
    omitted_note_limit(&r->limit_ns, limit_ns);
    r->fates_end |= need->has_fate;
    if (need->moment_ns < limit_ns && !need->has_fate)
        r->later_blocks += o.limited;
}

void omitted_note_timeline(struct query_result *r, const struct wake_process *p,
                           const struct omitted_need *need, bool has_culled)
{
    const struct omitted o = omitted_find(p, need->until_ns);
    r->timeline_omitted_blocks += (has_culled ? 0 : o.culled + o.elsewhere) + o.limited;
    r->timeline_has_culled |= !has_culled && o.culled != 0;
    if (p->omitted.is_limited && need->window_ns >= p->omitted.limit_ns)
        omitted_note_limit(&r->timeline_limit_ns, p->omitted.limit_ns);
}
