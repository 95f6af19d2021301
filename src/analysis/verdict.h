/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * verdict: what a person would conclude from the life of a site's memory.
 *
 *     grows     it becomes more, up to the end, and nothing shows a bound
 *     stopped   it grew as long as it was called; then the calls ended, and it was kept
 *     bounded   it was filled, or goes up and down, and stays below a bound: a cache
 *     at-exit   nearly all of it is held until the program shuts down, and freed then
 *     once      it was made within a moment, and kept
 *     passing   it has come and gone, nearly all of it
 *     unclear   it began too late to tell
 *
 * Looked at is the floor: the least that was live in each tick, so that bursts of
 * what is freed at once do not count.  The shutdown of a program that exits is not
 * part of its life.
 *
 * A site is judged from its first call to its last, without the ticks in between where nothing happened to it and the
 * process did nearly nothing: while a load pauses, neither leaks nor caches grow.  Where only this
 * site pauses, the ticks stay: a cache that seldom misses is nearly full.  Growth is what passes all of these:
 *
 *   1. Of all pairs of ticks, so many more rise than fall that chance would do so
 *      less than once in a hundred times (the test of Mann and Kendall: it asks for
 *      no shape, and single outliers hardly matter).
 *   2. The last third rises at least 0.3 times as steeply as the whole: a
 *      cache that has nearly filled does not.
 *   3. The last third never falls back to the middle of the first.
 *   4. It rose to new heights in at least four ticks and three quarters of those in which something happened to it, and
 *      in the last quarter: what fills once, late, does not.
 *
 * The slope is the median of all pairs' slopes (Theil and Sen), over all of the time from the first call to the last.
 *
 * Growth has stopped if no call came for a quarter of the life, which is longer than any pause between calls by half, and three quarters were
 * kept.  Then the last third has to rise half as steeply as the whole, since whether it would have gone on is not known.
 * In too few ticks for a trend, what was never freed has stopped if it rose as evenly.  What was made within a sixteenth of the
 * life is `once`, unless it took many ticks and a tenth of a second: that is a load.
 */
#ifndef HW_ANALYSIS_VERDICT_H
#define HW_ANALYSIS_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "store/level_table.h"
#include "tool/map.h"
#include "tool/vec.h"

enum verdict_kind {
    VERDICT_NONE = 0, /* nobody has looked */
    VERDICT_GROWS,
    VERDICT_STOPPED,
    VERDICT_BOUNDED,
    VERDICT_AT_EXIT,
    VERDICT_ONCE,
    VERDICT_PASSING,
    VERDICT_UNCLEAR,
    VERDICT_COUNT
};

struct verdict {
    enum verdict_kind kind;
    double bytes_per_minute; /* VERDICT_GROWS */
    double confidence;       /* VERDICT_GROWS: 0 to 1 */
    uint64_t until_ns;  /* VERDICT_STOPPED: about when the last call was, by the clock of the recording */
    bool leaves_some;   /* VERDICT_PASSING: less than a tenth of what there was at once */
    bool freed_at_exit; /* of what was held, nine tenths or more were freed in the shutdown */
};

/* A stable word: grows, bounded, at-exit, once, passing, unclear. */
const char *verdict_name(enum verdict_kind kind);

struct verdict verdict_find(const struct level_table *l, const struct level_table_row *r);

/* Verdicts of sites, by their trace. */
struct verdicts {
    struct map by_trace; /* -> index in list */
    VEC(struct verdict) list;
};

void verdicts_init(struct verdicts *v);
void verdicts_release(struct verdicts *v);
/* False: no memory. */
bool verdicts_add(struct verdicts *v, uint32_t trace, struct verdict verdict);
/* NULL: nobody has looked. */
const struct verdict *verdicts_find(const struct verdicts *v, uint32_t trace);

#endif
