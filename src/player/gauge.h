/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * gauge: clocks and memory, read without allocating anything.
 */
#ifndef HW_PLAYER_GAUGE_H
#define HW_PLAYER_GAUGE_H

#include <stdbool.h>
#include <stdint.h>

/* CPU time of the calling thread. */
uint64_t gauge_cpu_ns(void);
/* A clock that goes on evenly. */
uint64_t gauge_now_ns(void);

struct gauge_memory {
    uint64_t rss_bytes;      /* now */
    uint64_t peak_rss_bytes; /* at most, since the start or the latest gauge_forget_peak */
};

/* False: /proc does not tell. */
bool gauge_read_memory(struct gauge_memory *m);
/* From here on the peak counts anew.  False: the kernel refuses. */
bool gauge_forget_peak(void);

#endif
