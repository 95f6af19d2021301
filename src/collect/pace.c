/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pace: see pace.h.
 */
#include "collect/pace.h"

#define MS UINT64_C(1000000)

enum { PACE_PART = 4 }; /* of the room is ample */

bool pace_is_due(const struct pace *p, uint64_t now_ns, uint64_t room)
{
    uint64_t since_ns = now_ns - p->caught_up_ns;
    if (p->is_behind || p->flow < PACE_SOME || p->during_ns == 0 ||
        since_ns + PACE_LOOK_MS * MS > PACE_LONGEST_MS * MS)
        return true;
    uint64_t ample = room / PACE_PART < PACE_AMPLE ? room / PACE_PART : PACE_AMPLE;
    double expected = (double)p->flow * (double)(since_ns + PACE_LOOK_MS * MS) / (double)p->during_ns;
    return expected > (double)ample;
}

bool pace_is_flow(const struct pace *p)
{
    return p->is_behind || p->during_ns == 0 || p->flow >= PACE_SOME;
}

void pace_note(struct pace *p, uint64_t now_ns, uint64_t taken)
{
    p->taken += taken;
    p->is_behind = taken >= PACE_A_LOT;
    if (p->is_behind)
        return;
    if (p->caught_up_ns != 0) { /* else since when, nobody knows yet */
        p->flow = p->taken;
        p->during_ns = now_ns - p->caught_up_ns;
    }
    p->caught_up_ns = now_ns;
    p->taken = 0;
}

uint64_t pace_flush_ns(uint64_t age_ns)
{
    uint64_t part = age_ns / PACE_FLUSH_PART, least = 1000 * MS, most = PACE_FLUSH_MOST_S * least;
    return part < least ? least : part < most ? part : most;
}
