/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * caveats: see caveats.h.
 */
#include "session/caveats.h"

const struct caveat *caveats_find(const struct caveats *c, enum caveat_kind kind)
{
    return c->has[kind] ? &c->of[kind] : NULL;
}

uint64_t caveats_count(const struct caveats *c, enum caveat_kind kind)
{
    return c->has[kind] ? c->of[kind].count : 0;
}

void caveats_add(struct caveats *c, struct caveat one)
{
    c->of[one.kind] = one;
    c->has[one.kind] = true;
}

void caveats_join(struct caveats *c, const struct caveats *more)
{
    for (enum caveat_kind kind = 0; kind < CAVEAT_COUNT; kind++) {
        if (more->has[kind] && !c->has[kind])
            caveats_add(c, more->of[kind]);
    }
}

/* Begins one without figures. */
static struct caveat caveats_make(enum caveat_kind kind)
{
    return (struct caveat){.kind = kind, .because = CAVEAT_COUNT};
}

static void caveats_add_count(struct caveats *c, enum caveat_kind kind, uint64_t count)
{
    struct caveat one = caveats_make(kind);
    one.count = count;
    if (count != 0)
        caveats_add(c, one);
}

static void caveats_add_time(struct caveats *c, enum caveat_kind kind, uint64_t ns)
{
    struct caveat one = caveats_make(kind);
    one.ns = ns;
    caveats_add(c, one);
}

static void caveats_add_reason(struct caveats *c, enum caveat_kind kind, enum caveat_kind because)
{
    struct caveat one = caveats_make(kind);
    one.because = because;
    caveats_add(c, one);
}

/* ----------------------------------------------------------------- recordings */

void caveats_of_reader(struct caveats *c, const struct wake_reader *r)
{
    size_t damages = wake_reader_damage_count(r);
    struct caveat damaged = caveats_make(CAVEAT_DAMAGED);
    damaged.count = caveats_count(c, CAVEAT_DAMAGED) + damages;
    if (damages != 0) {
        damaged.text = c->has[CAVEAT_DAMAGED] ? c->of[CAVEAT_DAMAGED].text : wake_reader_damage(r, 0)->text;
        caveats_add(c, damaged);
    }
    if (!wake_reader_summary(r)->closed)
        caveats_add_count(c, CAVEAT_UNCLOSED, caveats_count(c, CAVEAT_UNCLOSED) + 1);
}

static void caveats_add_culled(struct caveats *c, const struct summary *s)
{
    struct caveat one = caveats_make(CAVEAT_CULLED);
    if (s->cull_threshold_ns == 0)
        return;
    one.count = s->culled_blocks;
    one.bytes = s->culled_bytes;
    one.ns = s->cull_threshold_ns;
    one.is_sampled = s->sample_rate != 0;
    one.is_unknown = s->lacks_culled;
    caveats_add(c, one);
}

static void caveats_add_partial(struct caveats *c, const struct summary *s)
{
    struct caveat sampled = caveats_make(CAVEAT_SAMPLED), limited = caveats_make(CAVEAT_LIMITED);
    sampled.count = s->samples;
    sampled.bytes = s->sample_rate;
    if (s->sample_rate != 0)
        caveats_add(c, sampled);
    limited.count = s->limited_events;
    limited.ns = s->limit_ns;
    if (s->limited_events != 0)
        caveats_add(c, limited);
    if (s->made_up)
        caveats_add(c, caveats_make(CAVEAT_MADE_UP));
}

static void caveats_add_temporary(struct caveats *c, const struct caveats *recording, bool lacks_order)
{
    if (recording->has[CAVEAT_MADE_UP])
        caveats_add_reason(c, CAVEAT_TEMPORARY, CAVEAT_MADE_UP);
    else if (recording->has[CAVEAT_SAMPLED])
        caveats_add_reason(c, CAVEAT_TEMPORARY, CAVEAT_SAMPLED);
    else if (lacks_order)
        caveats_add_reason(c, CAVEAT_TEMPORARY, CAVEAT_CULLED);
}

void caveats_of_summary(struct caveats *c, const struct summary *s)
{
    struct caveat lost = caveats_make(CAVEAT_LOST);
    lost.count = s->lost_events;
    lost.is_unknown = s->lost_events == 0;
    if (!s->complete || s->lost_events != 0)
        caveats_add(c, lost);
    caveats_add_count(c, CAVEAT_UNRECORDED, s->unrecorded_processes);
    if (s->off_ns != 0)
        caveats_add_time(c, CAVEAT_OFF, s->off_ns);
    caveats_add_count(c, CAVEAT_CUT_STACKS, s->cut_stacks);
    caveats_add_culled(c, s);
    caveats_add_partial(c, s);
    caveats_add_temporary(c, c, s->lacks_temporaries && s->temporary_blocks == 0);
}

/* -------------------------------------------------------------------- answers */

void caveats_add_omitted(struct caveats *c, const struct caveats *recording, uint64_t blocks)
{
    struct caveat one = caveats_make(CAVEAT_OMITTED);
    one.count = blocks;
    one.is_sampled = recording->has[CAVEAT_SAMPLED];
    if (blocks > caveats_count(c, CAVEAT_OMITTED))
        caveats_add(c, one);
}

static void caveats_add_timeline(struct caveats *c, const struct caveats *recording,
                                 const struct query_result *r)
{
    struct caveat one = caveats_make(CAVEAT_TIMELINE);
    one.count = r->timeline_omitted_blocks;
    one.ns = r->timeline_limit_ns;
    one.because = r->timeline_has_culled ? CAVEAT_CULLED : CAVEAT_COUNT;
    one.is_sampled = recording->has[CAVEAT_SAMPLED];
    if (one.count != 0 || one.ns != 0)
        caveats_add(c, one);
}

void caveats_of_answer(struct caveats *c, const struct caveats *recording, const struct query_result *r,
                       bool is_about_moments)
{
    caveats_add_omitted(c, recording, r->omitted_blocks - (is_about_moments ? r->later_blocks : 0));
    caveats_add_timeline(c, recording, r);
    caveats_add_count(c, CAVEAT_RELEASES, r->releases_without_stack);
    caveats_add_temporary(c, recording, r->lacks_temporaries);
    if (r->limited_blocks != 0)
        caveats_add_reason(c, CAVEAT_LEAKED, CAVEAT_LIMITED);
}

/* Where a later file of a series begins; 0 = it is none. */
static uint64_t caveats_find_begin(const struct wake_reader *r)
{
    uint64_t begin = UINT64_MAX;
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        begin = p->carried_ns != 0 && p->carried_ns < begin ? p->carried_ns : begin;
    }
    return begin == UINT64_MAX ? 0 : begin;
}

void caveats_of_series(struct caveats *c, const struct wake_reader *r, const char *what)
{
    struct caveat one = caveats_make(CAVEAT_MOMENT_BEFORE);
    one.ns = caveats_find_begin(r);
    one.text = what;
    if (one.ns != 0)
        caveats_add(c, one);
}

void caveats_of_moments(struct caveats *c, const struct query *q, const struct query_result *result,
                        const struct wake_reader *r)
{
    bool has_moment = q->moment.when == WHEN_NS || q->moment.when == WHEN_DATE;
    bool is_behind = q->moment.when != WHEN_UNSET && result->moment_ns >= result->limit_ns;
    if (result->later_ns != 0)
        caveats_add_time(c, CAVEAT_MOMENT_AFTER_END, result->later_ns);
    else if (has_moment && result->moment_ns < caveats_find_begin(r))
        caveats_of_series(c, r, "live");
    /* What is live is asked of events that end before the program does. */
    if (result->limit_ns != 0 && (is_behind || result->fates_end))
        caveats_add_time(c, CAVEAT_MOMENT_AFTER_FULL, result->limit_ns);
}

struct caveat caveats_interruption(const struct query_result *r)
{
    struct caveat one = caveats_make(CAVEAT_INTERRUPTED);
    one.ns = r->interrupted ? r->read_until_ns : 0;
    one.is_unknown = !r->interrupted;
    return one;
}
