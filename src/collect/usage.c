/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * usage: see usage.h.
 */
#include "collect/usage.h"

#include "base/sorted.h"
#include "collect/smaps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USAGE_PAGE UINT64_C(4096)
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_FILE (UINT64_C(1) << 61) /* or shared */

enum { USAGE_PAGES = 4096 }; /* looked at in one go */

void usage_init(struct usage *u, uint32_t pid, uint64_t period_ns)
{
    memset(u, 0, sizeof *u);
    u->pid = pid;
    u->period_ns = period_ns;
    u->is_fresh = true;
    u->pages = -1;
}

static void usage_sample_release(struct usage_sample *s)
{
    vec_release(&s->ranges);
    vec_release(&s->names_at);
    strbuf_release(&s->names);
}

void usage_release(struct usage *u)
{
    usage_sample_release(&u->now);
    usage_sample_release(&u->last);
    vec_release(&u->ends);
    vec_release(&u->changed);
}

/* ------------------------------------------------------------ ends of mappings */

static int usage_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void usage_sort(struct usage *u)
{
    size_t kept = 0;
    if (u->sorted == u->ends.count)
        return;
    qsort(u->ends.data, u->ends.count, sizeof *u->ends.data, usage_compare);
    for (size_t i = 0; i < u->ends.count; i++) {
        if (kept == 0 || u->ends.data[kept - 1] != u->ends.data[i])
            u->ends.data[kept++] = u->ends.data[i];
    }
    u->ends.count = u->sorted = kept;
}

void usage_note(struct usage *u, uint64_t start, uint64_t length)
{
    if (u->period_ns == 0 || length == 0)
        return;
    if (u->ends.count + 2 > USAGE_ENDS_MAX)
        usage_sort(u);
    if (u->ends.count + 2 > USAGE_ENDS_MAX)
        return;
    uint64_t end = (start + length + USAGE_PAGE - 1) & ~(USAGE_PAGE - 1);
    (void)(vec_push(&u->ends, start & ~(USAGE_PAGE - 1)) && vec_push(&u->ends, end));
}

/* Forgets those that lie in no range, nor at the end of one. */
static void usage_prune(struct usage *u)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < u->ends.count; i++) {
        while (at < u->now.ranges.count && u->now.ranges.data[at].end < u->ends.data[i])
            at++;
        if (at < u->now.ranges.count && u->now.ranges.data[at].start <= u->ends.data[i])
            u->ends.data[kept++] = u->ends.data[i];
    }
    u->ends.count = u->sorted = kept;
}

/* ---------------------------------------------------------------- one sample */

/* Counts what of a part is in memory.  False: not to be known. */
static bool usage_count(const struct usage *u, struct wake_usage *part)
{
    static uint64_t pages[USAGE_PAGES];
    part->rss_bytes = part->anonymous_bytes = part->swap_bytes = 0;
    uint64_t page = part->start / USAGE_PAGE, end = part->end / USAGE_PAGE;
    while (page < end) {
        size_t count = end - page < USAGE_PAGES ? (size_t)(end - page) : USAGE_PAGES;
        ssize_t got = pread(u->pages, pages, count * sizeof *pages, (off_t)(page * sizeof *pages));
        if (got <= 0 || got % (ssize_t)sizeof *pages != 0)
            return false;
        count = (size_t)got / sizeof *pages;
        for (size_t i = 0; i < count; i++) {
            part->rss_bytes += (pages[i] & PAGE_PRESENT) != 0 ? USAGE_PAGE : 0;
            part->anonymous_bytes += (pages[i] & (PAGE_PRESENT | PAGE_FILE)) == PAGE_PRESENT ? USAGE_PAGE : 0;
            part->swap_bytes += (pages[i] & (PAGE_PRESENT | PAGE_SWAPPED)) == PAGE_SWAPPED ? USAGE_PAGE : 0;
        }
        page += count;
    }
    return true;
}

static bool usage_add(struct usage *u, const struct wake_usage *range)
{
    struct usage_sample *s = &u->now;
    if (s->ranges.count >= USAGE_RANGES_MAX)
        return false;
    size_t at = s->names.length;
    strbuf_add(&s->names, range->name, strlen(range->name) + 1);
    return !s->names.failed && vec_push(&s->names_at, at) && vec_push(&s->ranges, *range);
}

/* A range in parts, from the first end of a mapping inside of it on.  False: left as it was. */
static bool usage_cut(struct usage *u, const struct wake_usage *range, size_t next)
{
    size_t before = u->now.ranges.count;
    bool is_idle = range->rss_bytes == 0 && range->swap_bytes == 0;
    struct wake_usage part = *range;
    bool fine = is_idle || (u->pages >= 0 && range->end - range->start <= USAGE_CUT_MAX);
    while (fine && part.start < range->end) {
        bool is_last = next >= u->ends.count || u->ends.data[next] >= range->end;
        part.end = is_last ? range->end : u->ends.data[next++];
        fine = (is_idle || usage_count(u, &part)) && usage_add(u, &part);
        part.start = part.end;
    }
    if (!fine)
        u->now.ranges.count = u->now.names_at.count = before;
    return fine;
}

static bool usage_visit(void *of, const struct wake_usage *range)
{
    struct usage *u = of;
    size_t next = sorted_up_to(u->ends.data, u->ends.count, range->start);
    if (next < u->ends.count && u->ends.data[next] < range->end && usage_cut(u, range, next))
        return true;
    return usage_add(u, range);
}

/* Names move while they gather. */
static void usage_name(struct usage_sample *s)
{
    for (size_t i = 0; i < s->ranges.count; i++)
        s->ranges.data[i].name = s->names.text + s->names_at.data[i];
}

/* -------------------------------------------------------------------- changes */

static bool usage_is_same(const struct wake_usage *a, const struct wake_usage *b)
{
    return a->rss_bytes == b->rss_bytes && a->anonymous_bytes == b->anonymous_bytes &&
           a->swap_bytes == b->swap_bytes && a->rights == b->rights && strcmp(a->name, b->name) == 0;
}

/* What is gone, and what is new or used otherwise; both by rising address. */
static bool usage_compare_samples(struct usage *u)
{
    const struct usage_sample *old = &u->last, *now = &u->now;
    size_t at = 0;
    bool fine = true;
    u->changed.count = 0;
    for (size_t i = 0; i < old->ranges.count && !u->is_fresh && fine; i++) {
        const struct wake_usage *o = &old->ranges.data[i];
        while (at < now->ranges.count && now->ranges.data[at].start < o->start)
            at++;
        if (at < now->ranges.count && now->ranges.data[at].start == o->start &&
            now->ranges.data[at].end == o->end)
            continue;
        fine = vec_push(&u->changed, ((struct wake_usage){o->start, o->end, .is_gone = true, .name = ""}));
    }
    at = 0;
    for (size_t i = 0; i < now->ranges.count && fine; i++) {
        const struct wake_usage *n = &now->ranges.data[i];
        while (at < old->ranges.count && old->ranges.data[at].start < n->start)
            at++;
        bool is_known = !u->is_fresh && at < old->ranges.count && old->ranges.data[at].start == n->start &&
                        old->ranges.data[at].end == n->end;
        if (!is_known || !usage_is_same(&old->ranges.data[at], n))
            fine = vec_push(&u->changed, *n);
    }
    return fine;
}

/* Now, on the clock of the recording; what was read of the program was before it. */
static uint64_t usage_time(const struct timeline *line, uint64_t least)
{
    uint64_t now = timebase_now(), time = now > line->base_ns ? now - line->base_ns : 0;
    least = least > line->last ? least : line->last;
    return time > least ? time : least;
}

void usage_take(struct usage *u, struct wake_writer *writer, uint32_t process, const struct timeline *line,
                bool is_still)
{
    uint64_t begin = usage_time(line, 0);
    char path[64];
    struct usage_sample before = u->last;
    u->is_due = false;
    u->now.ranges.count = u->now.names_at.count = 0;
    strbuf_clear(&u->now.names);
    usage_sort(u);
    snprintf(path, sizeof path, "/proc/%u/pagemap", u->pid);
    u->pages = open(path, O_RDONLY | O_CLOEXEC);
    errno = 0;
    bool fine = smaps_read(u->pid, usage_visit, u);
    u->is_refused = u->is_refused || (!fine && (errno == EACCES || errno == EPERM));
    if (u->pages >= 0)
        close(u->pages);
    u->pages = -1;
    fine = fine || u->now.ranges.count == USAGE_RANGES_MAX;
    if (!fine || u->now.ranges.count == 0)
        return;
    usage_name(&u->now);
    if (!usage_compare_samples(u)) {
        u->is_fresh = true;
        return;
    }
    uint64_t end = is_still ? begin : usage_time(line, begin);
    wake_writer_sample_usage(writer, process, end, end - begin, u->is_fresh, u->changed.data,
                             u->changed.count);
    usage_prune(u);
    u->last = u->now;
    u->now = before;
    u->is_fresh = false;
}
