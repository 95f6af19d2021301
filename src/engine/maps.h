/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * maps: mappings as things that live: who made them, what of them was removed when and by
 * what, what is left at the end, and how much of them was in memory.
 *
 *     made       by mmap; by brk or sbrk, what the break has grown by; by mremap, what it
 *                gives in place of what it was given
 *     removed    by munmap, by a mapping that was put over it (MAP_FIXED), by mremap, by a break
 *                that moved back; in pieces or as a whole
 *     leaked     something of it is left at the end
 *     freed      nothing is; by the call that removed the last of it
 *
 * A removal that the kernel refused was no removal.  Only calls that the probe sees count: those of
 * glibc's malloc and of the loader are not among them.  How much of a mapping was in memory is known
 * where that was sampled (store: usage); a sample tells of a mapping where all ranges that it
 * has there are its own alone.
 */
#ifndef HW_ENGINE_MAPS_H
#define HW_ENGINE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "engine/watch.h"
#include "engine/when.h"
#include "store/reader.h"
#include "store/writer.h"
#include "tool/err.h"
#include "tool/vec.h"

enum { MAPS_MAX = 1 << 18 }; /* mappings that are followed; those beyond are counted */

#define MAPS_NONE SIZE_MAX

enum maps_cause { MAPS_MMAP, MAPS_MUNMAP, MAPS_MREMAP, MAPS_BRK, MAPS_CAUSES };

/* Where a piece was cut out of what was there. */
enum maps_cut { MAPS_WHOLE, MAPS_START, MAPS_END, MAPS_MIDDLE };

struct maps_removal {
    uint64_t time_ns, start, end;
    uint64_t call; /* those of one call have the same; rising, from 1 on */
    uint32_t thread, stack;
    uint8_t cause; /* enum maps_cause: what removed it */
    uint8_t cut;   /* enum maps_cut */
    size_t by;     /* the mapping that is there instead, or that mremap made of it; MAPS_NONE = none */
};

struct maps_piece {
    uint64_t start, end;
};

struct maps_usage {
    uint64_t time_ns, rss_bytes, anonymous_bytes, swap_bytes;
};

struct mapping {
    uint32_t process; /* counted over all recordings */
    uint32_t number;  /* in its process, from 1 on */
    uint32_t mark;    /* number + 1 of the latest mark before it; 0 = none */
    uint32_t thread, stack;
    uint8_t how; /* enum maps_cause: what made it */
    uint32_t prot, flags;
    uint64_t made_ns, start, end;  /* whole pages */
    size_t previous;               /* that mremap made it of; MAPS_NONE = none */
    uint64_t left_bytes;           /* at the end: 0 = it is gone */
    uint64_t gone_ns;              /* ... since then */
    uint64_t thread_made;          /* by its thread so far, itself included */
    uint64_t thread_made_since;    /* ... until it was gone, if its own thread removed the last of it */
    VEC(struct maps_piece) pieces; /* that are left at the end, by rising address */
    VEC(struct maps_removal) removals;
    /* From samples: */
    bool has_usage;
    bool is_blurred; /* in some samples its use could not be told from that of its neighbours */
    uint64_t peak_rss_bytes, peak_rss_ns;
    uint8_t rights;               /* enum wake_rights, as last seen */
    const char *name;             /* likewise; "" = none; the reader's */
    VEC(struct maps_usage) usage; /* whenever it changed */
};

/* How much of a mapping there is, from then on. */
struct maps_change {
    uint64_t time_ns;
    size_t mapping;
    int64_t bytes;
};

/* What samples tell of memory that no mapping of ours is in, by name. */
struct maps_other {
    uint32_t process;
    const char *name;          /* "" = none; the reader's */
    uint64_t bytes, rss_bytes; /* at present */
    uint64_t peak_bytes, peak_rss_bytes;
};

struct maps {
    VEC(struct mapping) list; /* process by process, in the order in which they were made */
    VEC(struct maps_other) others;
    uint64_t beyond;  /* mappings that were not followed */
    uint64_t samples; /* of their use */
    /* Of those that the query asks for: */
    VEC(size_t) chosen;  /* numbers in list, rising until maps_order */
    uint64_t peak_bytes; /* of them at once in a process in the window, at most */
    uint64_t peak_ns;
    uint64_t left_bytes;             /* at the end, in all processes */
    uint64_t left;                   /* mappings of which something is left */
    VEC(struct maps_change) changes; /* in order, of the process that was read last */
    /* The query on the clock of the recording that was read last, which takes a look at all its processes. */
    struct when when;
    const struct wake_reader *when_of; /* NULL: none yet */
};

/* An allocation in the mapping of this number, and the number of the block.  False: no memory. */
typedef bool maps_block_fn(void *of, uint32_t mapping, uint64_t block);

enum maps_sort { MAPS_BY_PEAK_RSS = 0, MAPS_BY_SIZE, MAPS_BY_TIME, MAPS_BY_ADDRESS, MAPS_SORTS };

/* Stable words: mmap, munmap, mremap, brk; whole, start, end, middle; peak-rss, size, time, address. */
const char *maps_cause_name(unsigned cause);
const char *maps_cut_name(unsigned cut);
const char *maps_sort_name(unsigned by);

/* As last seen, or as it was made. */
static inline unsigned mapping_rights(const struct mapping *m)
{
    bool is_seen = m->has_usage || m->is_blurred;
    return is_seen ? m->rights & (WAKE_READ | WAKE_WRITE | WAKE_EXECUTE)
                   : m->prot & (WAKE_READ | WAKE_WRITE | WAKE_EXECUTE);
}

void maps_init(struct maps *m);
void maps_release(struct maps *m);
/* Adds what a process had, and chooses what the query asks for; base: number of the reader's first process
 * among all.  ERR_USAGE: it asks for what mappings do not have; ERR_ABSENT, ERR_MEMORY; interrupted: 0,
 * with what was seen. */
int maps_read(struct maps *m, const struct query *q, struct wake_reader *r, uint32_t process, uint32_t base,
              struct err *err);
/* The same without a choice.  Calls block, unless it is NULL, for each allocation in a mapping, in the order of
 * events; while a call of munmap or mremap goes on, nobody has the place.  0, WATCH_STOP, ERR_MEMORY. */
int maps_play(struct maps *m, struct watch *watch, struct wake_reader *r, uint32_t process, uint32_t base,
              maps_block_fn *block, void *of, struct err *err);
/* Sorts `chosen`: largest first, or earliest, or lowest; is_reverse: the other way.  Of equal ones the earlier
 * in the list comes first; of those of which as much was in memory the larger, then the earlier. */
void maps_order(struct maps *m, enum maps_sort by, bool is_reverse);

#endif
