/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * loaded: which module is where in a process that another tool looked at.
 */
#ifndef HW_IMPORT_LOADED_H
#define HW_IMPORT_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/vec.h"

struct loaded_range {
    uint64_t start, end;
    uint32_t module;
};

struct loaded {
    VEC(struct loaded_range) ranges;
};

/* A zeroed one is empty. */
void loaded_release(struct loaded *l);
void loaded_clear(struct loaded *l);
/* What is added later counts where ranges begin alike.  False: no memory. */
bool loaded_add(struct loaded *l, uint64_t start, uint64_t end, uint32_t module);
/* The module at an address; 0: none. */
uint32_t loaded_find(const struct loaded *l, uint64_t address);

#endif
