/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * regions: see regions.h.
 */
#include "engine/regions.h"

#include <string.h>

#include "base/sorted.h"

void regions_init(struct regions *r)
{
    memset(r, 0, sizeof *r);
}

void regions_release(struct regions *r)
{
    vec_release(&r->list);
}

void regions_clear(struct regions *r)
{
    r->list.count = 0;
}

size_t regions_find(const struct regions *r, uint64_t address)
{
    return sorted_up_to_by(r->list.data, r->list.count, address, end);
}

static bool regions_put(struct regions *r, size_t at, struct region region)
{
    if (!vec_reserve(&r->list, r->list.count + 1))
        return false;
    memmove(r->list.data + at + 1, r->list.data + at, (r->list.count - at) * sizeof region);
    r->list.data[at] = region;
    r->list.count++;
    return true;
}

static void regions_drop(struct regions *r, size_t first, size_t count)
{
    memmove(r->list.data + first, r->list.data + first + count,
            (r->list.count - first - count) * sizeof *r->list.data);
    r->list.count -= count;
}

bool regions_remove(struct regions *r, uint64_t start, uint64_t end, regions_cut_fn *cut, void *of)
{
    size_t first = regions_find(r, start), whole;
    bool fine = true;
    if (start >= end)
        return true;
    for (size_t i = first; cut != NULL && fine && i < r->list.count && r->list.data[i].start < end; i++) {
        struct region piece = r->list.data[i];
        piece.start = piece.start < start ? start : piece.start;
        piece.end = piece.end > end ? end : piece.end;
        fine = cut(of, &piece);
    }
    if (!fine || first == r->list.count || r->list.data[first].start >= end)
        return fine;
    struct region *begin = &r->list.data[first];
    if (begin->start < start && begin->end > end) { /* out of the middle */
        struct region behind = {end, begin->end, begin->value};
        begin->end = start;
        return regions_put(r, first + 1, behind);
    }
    if (begin->start < start) {
        begin->end = start;
        first++;
    }
    for (whole = 0; first + whole < r->list.count && r->list.data[first + whole].end <= end; whole++)
        continue;
    regions_drop(r, first, whole);
    if (first < r->list.count && r->list.data[first].start < end)
        r->list.data[first].start = end;
    return true;
}

/* Is this very range there, and would stay apart from its neighbours with the value?  Then nothing has to move, which
 * takes long where there are many: samples tell of the same ranges again and again. */
static bool regions_is_alone(const struct regions *r, size_t at, uint64_t start, uint64_t end, uint64_t value)
{
    const struct region *list = r->list.data;
    if (at == r->list.count || list[at].start != start || list[at].end != end)
        return false;
    bool joins_before = at > 0 && list[at - 1].end == start && list[at - 1].value == value;
    bool joins_behind = at + 1 < r->list.count && list[at + 1].start == end && list[at + 1].value == value;
    return !joins_before && !joins_behind;
}

bool regions_insert(struct regions *r, uint64_t start, uint64_t end, uint64_t value, regions_cut_fn *cut,
                    void *of)
{
    if (start >= end)
        return true;
    size_t at = regions_find(r, start);
    if (regions_is_alone(r, at, start, end, value)) {
        struct region piece = r->list.data[at];
        if (cut != NULL && !cut(of, &piece))
            return false;
        r->list.data[at].value = value;
        return true;
    }
    if (!regions_remove(r, start, end, cut, of))
        return false;
    at = regions_find(r, start);
    struct region *before = at == 0 ? NULL : &r->list.data[at - 1];
    struct region *behind = at == r->list.count ? NULL : &r->list.data[at];
    bool joins_before = before != NULL && before->end == start && before->value == value;
    bool joins_behind = behind != NULL && behind->start == end && behind->value == value;
    if (joins_before && joins_behind) {
        before->end = behind->end;
        regions_drop(r, at, 1);
    } else if (joins_before) {
        before->end = end;
    } else if (joins_behind) {
        behind->start = start;
    } else {
        return regions_put(r, at, (struct region){start, end, value});
    }
    return true;
}
