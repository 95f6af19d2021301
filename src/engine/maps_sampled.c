/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * maps_sampled: see maps_sampled.h.
 *
 * After each sample the ranges that have been told so far are held against what is mapped: a range
 * inside of one mapping is that mapping's; one that lies in several, or sticks out, is
 * nobody's, unless nothing of it is in memory.  Ranges that no mapping of ours is in are
 * added up by name.
 *
 * A sample takes time, in which a place may be given up and taken again.  What is mapped
 * is looked at when the sample is over, and what was made meanwhile has no part in it.
 */
#include "engine/maps_sampled.h"

#include <string.h>

enum maps_sampled_seen { SEEN_NOT = 0, SEEN_CLEAR, SEEN_BLURRED };

void maps_sampled_init(struct maps_sampled *s, struct maps *maps, struct watch *watch,
                       const struct wake_process *process, uint32_t number)
{
    memset(s, 0, sizeof *s);
    s->maps = maps;
    s->watch = watch;
    s->process = process;
    s->number = number;
    s->first_mapping = maps->list.count;
    s->first_other = maps->others.count;
    regions_init(&s->ranges);
}

void maps_sampled_release(struct maps_sampled *s)
{
    regions_release(&s->ranges);
    vec_release(&s->sums);
    vec_release(&s->seen);
}

/* What a sample says has changed. */
static bool sampled_apply(struct maps_sampled *s, const struct wake_usage_sample *sample)
{
    bool fine = true;
    if (sample->anew)
        regions_clear(&s->ranges);
    size_t end = sample->first + sample->count;
    for (size_t i = sample->first; fine && i < end && watch_advance(s->watch, 0) == 0; i++) {
        const struct wake_usage *u = &s->process->usage.data[i];
        fine = u->is_gone ? regions_remove(&s->ranges, u->start, u->end, NULL, NULL)
                          : regions_insert(&s->ranges, u->start, u->end, i, NULL, NULL);
    }
    return fine;
}

/* Nothing is known yet of what is mapped. */
static bool sampled_begin(struct maps_sampled *s, const struct regions *live)
{
    size_t count = s->maps->list.count - s->first_mapping;
    if (!vec_reserve(&s->sums, count) || !vec_reserve(&s->seen, count))
        return false;
    for (size_t i = 0; i < live->list.count; i++) {
        size_t local = (size_t)live->list.data[i].value - s->first_mapping;
        s->sums.data[local] = (struct maps_usage){0};
        s->seen.data[local] = SEEN_NOT;
    }
    return true;
}

static bool sampled_add_other(struct maps_sampled *s, const struct wake_usage *u)
{
    struct maps_other *o = s->maps->others.data + s->first_other;
    struct maps_other *end = s->maps->others.data + s->maps->others.count;
    while (o < end && strcmp(o->name, u->name) != 0)
        o++;
    if (s->maps->others.count == s->first_other || o == end) {
        if (!vec_push(&s->maps->others, ((struct maps_other){.process = s->number, .name = u->name})))
            return false;
        o = &s->maps->others.data[s->maps->others.count - 1];
    }
    o->bytes += u->end - u->start;
    o->rss_bytes += u->rss_bytes;
    return true;
}

/* A range that is some mapping's, or several's. */
static void sampled_give(struct maps_sampled *s, const struct regions *live, size_t at,
                         const struct wake_usage *u, uint64_t begin_ns)
{
    bool is_inside = live->list.data[at].start <= u->start && u->end <= live->list.data[at].end;
    bool is_idle = u->rss_bytes == 0 && u->swap_bytes == 0;
    for (; at < live->list.count && live->list.data[at].start < u->end; at++) {
        size_t number = (size_t)live->list.data[at].value, local = number - s->first_mapping;
        struct mapping *m = &s->maps->list.data[number];
        if (m->made_ns > begin_ns)
            continue; /* the range may be from before its time */
        m->name = u->name[0] == '\0' ? m->name : u->name;
        m->rights = u->rights;
        if (!is_inside && !is_idle) {
            s->seen.data[local] = SEEN_BLURRED;
            continue;
        }
        if (s->seen.data[local] == SEEN_NOT)
            s->seen.data[local] = SEEN_CLEAR;
        if (is_inside) {
            s->sums.data[local].rss_bytes += u->rss_bytes;
            s->sums.data[local].anonymous_bytes += u->anonymous_bytes;
            s->sums.data[local].swap_bytes += u->swap_bytes;
        }
    }
}

static bool sampled_keep(struct mapping *m, const struct maps_usage *now)
{
    const struct maps_usage *last = m->usage.count == 0 ? NULL : &m->usage.data[m->usage.count - 1];
    if (!m->has_usage || now->rss_bytes > m->peak_rss_bytes) {
        m->peak_rss_bytes = now->rss_bytes;
        m->peak_rss_ns = now->time_ns;
    }
    m->has_usage = true;
    if (last != NULL && last->rss_bytes == now->rss_bytes && last->swap_bytes == now->swap_bytes &&
        last->anonymous_bytes == now->anonymous_bytes)
        return true;
    return vec_push(&m->usage, *now);
}

static bool sampled_count(struct maps_sampled *s, const struct regions *live, uint64_t time_ns,
                          uint64_t took_ns)
{
    struct maps *maps = s->maps;
    bool fine = sampled_begin(s, live);
    for (size_t i = s->first_other; i < maps->others.count; i++)
        maps->others.data[i].bytes = maps->others.data[i].rss_bytes = 0;
    for (size_t i = 0, at = 0; fine && i < s->ranges.list.count; i++) {
        const struct region *range = &s->ranges.list.data[i];
        const struct wake_usage *u = &s->process->usage.data[range->value];
        if (range->start != u->start || range->end != u->end)
            continue; /* something else is said of a part of it */
        while (at < live->list.count && live->list.data[at].end <= u->start)
            at++;
        if (at < live->list.count && live->list.data[at].start < u->end)
            sampled_give(s, live, at, u, time_ns > took_ns ? time_ns - took_ns : 0);
        else
            fine = sampled_add_other(s, u);
    }
    for (size_t i = 0; fine && i < live->list.count; i++) {
        struct mapping *m = &maps->list.data[live->list.data[i].value];
        size_t local = (size_t)live->list.data[i].value - s->first_mapping;
        s->sums.data[local].time_ns = time_ns;
        m->is_blurred = m->is_blurred || s->seen.data[local] == SEEN_BLURRED;
        if (s->seen.data[local] == SEEN_CLEAR)
            fine = sampled_keep(m, &s->sums.data[local]);
        s->seen.data[local] = SEEN_NOT; /* it may have more pieces */
    }
    for (size_t i = s->first_other; fine && i < maps->others.count; i++) {
        struct maps_other *o = &maps->others.data[i];
        o->peak_bytes = o->bytes > o->peak_bytes ? o->bytes : o->peak_bytes;
        o->peak_rss_bytes = o->rss_bytes > o->peak_rss_bytes ? o->rss_bytes : o->peak_rss_bytes;
    }
    return fine;
}

bool maps_sampled_take(struct maps_sampled *s, const struct regions *live, uint64_t before_ns)
{
    const struct wake_process *p = s->process;
    while (s->next < p->usage_samples.count && p->usage_samples.data[s->next].time_ns < before_ns &&
           watch_advance(s->watch, 0) == 0) {
        uint64_t time_ns = p->usage_samples.data[s->next].time_ns, took_ns = 0;
        /* One sample may have been written in several records. */
        while (s->next < p->usage_samples.count && p->usage_samples.data[s->next].time_ns == time_ns) {
            const struct wake_usage_sample *sample = &p->usage_samples.data[s->next++];
            took_ns = sample->took_ns > took_ns ? sample->took_ns : took_ns;
            if (!sampled_apply(s, sample))
                return false;
        }
        s->maps->samples++;
        if (!sampled_count(s, live, time_ns, took_ns))
            return false;
    }
    return true;
}
