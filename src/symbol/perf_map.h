/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * perf_map: names of code that was made at run time, from the file that JIT
 * compilers leave for perf(1): a line each of start, length (both hexadecimal)
 * and name.  What was made last counts where two overlap.
 */
#ifndef HW_SYMBOL_PERF_MAP_H
#define HW_SYMBOL_PERF_MAP_H

#include "tool/arena.h"
#include "tool/err.h"
#include "tool/vec.h"

#include <stdint.h>

struct perf_map_entry {
    uint64_t start, end;
    size_t line; /* order in the file */
    const char *name;
};

struct perf_map {
    struct arena arena;
    VEC(struct perf_map_entry) entries; /* by start */
    uint64_t longest;                   /* of an entry */
};

/* Lines that make no sense are passed over; ERR_INPUT: there is no other. */
int perf_map_open(struct perf_map *m, const char *path, struct err *err);
void perf_map_close(struct perf_map *m);
/* NULL: nobody named it. */
const char *perf_map_find(const struct perf_map *m, uint64_t address);

#endif
