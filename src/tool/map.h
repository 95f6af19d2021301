/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * map: 64-bit keys to 64-bit values, in one open-addressing table.
 *
 * Any key is allowed.  Memory: 16 bytes a slot, at most three quarters full.
 * Removal leaves no tombstones, so a map that is filled and emptied for ever
 * stays as quick as it was.  Not for several threads.
 */
#ifndef HW_TOOL_MAP_H
#define HW_TOOL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key; /* key of the map ^ MAP_FREE_KEY, so that zeroed slots are free */
    uint64_t value;
};

struct map {
    struct map_slot *slots;
    size_t count;      /* keys, without MAP_FREE_KEY */
    unsigned bits;     /* log2 of the number of slots; 0 = none yet */
    bool has_free_key; /* the one key that marks a free slot lives outside the table */
    uint64_t free_key_value;
};

void map_init(struct map *m);
void map_release(struct map *m);

/* The value of key, or NULL.  Valid until the map next changes. */
uint64_t *map_find(const struct map *m, uint64_t key);
/* Sets key to value, whether it was there or not.  False: no memory, map unchanged. */
bool map_set(struct map *m, uint64_t key, uint64_t value);
/* Takes key out; *value (may be NULL) gets what it had.  False: was not there. */
bool map_remove(struct map *m, uint64_t key, uint64_t *value);
/* Asks the memory for the slot of a key that will be looked for soon. */
void map_fetch(const struct map *m, uint64_t key);
/* Keys in the map. */
size_t map_count(const struct map *m);
/* The next pair from *at (start with 0) on, in no order.  False: no more.  The
 * map must not change meanwhile. */
bool map_next(const struct map *m, size_t *at, uint64_t *key, uint64_t *value);

#endif
