/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * map: linear probing.
 *
 * Invariants
 *  1. A slot whose stored key is 0 is free.  The map's key is stored ^
 *     MAP_FREE_KEY, so the only key that cannot stand in a slot is
 *     MAP_FREE_KEY itself, which has a place of its own in struct map.
 *  2. From the home slot of a key to the slot where it is, no slot is free.
 *     Removal restores this by moving later keys of the run back.
 *  3. At most 3/4 of the slots are taken, so every probe ends.
 */
#include "tool/map.h"

#include <stdlib.h>

#include "base/hash.h"
#include "tool/memory.h"

#define MAP_FREE_KEY UINT64_C(0xfedcba9876543210)

enum { MAP_BITS_MIN = 4 };

void map_init(struct map *m)
{
    *m = (struct map){0};
}

void map_release(struct map *m)
{
    free(m->slots);
    map_init(m);
}

static size_t map_home(const struct map *m, uint64_t stored)
{
    return (size_t)(hash_spread(stored ^ (stored >> 32)) >> (64 - m->bits));
}

/* The slot of the stored key, or the free slot where it would go. */
static size_t map_probe(const struct map *m, uint64_t stored)
{
    size_t mask = ((size_t)1 << m->bits) - 1;
    size_t at = map_home(m, stored);
    while (m->slots[at].key != 0 && m->slots[at].key != stored)
        at = (at + 1) & mask;
    return at;
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
    uint64_t stored = key ^ MAP_FREE_KEY;
    if (stored == 0)
        return m->has_free_key ? (uint64_t *)&m->free_key_value : NULL;
    if (m->bits == 0)
        return NULL;
    struct map_slot *slot = &m->slots[map_probe(m, stored)];
    return slot->key == 0 ? NULL : &slot->value;
}

void map_fetch(const struct map *m, uint64_t key)
{
    if (m->bits != 0)
        __builtin_prefetch(&m->slots[map_home(m, key ^ MAP_FREE_KEY)], 1);
}

static bool map_grow(struct map *m)
{
    struct map bigger = *m;
    bigger.bits = m->bits == 0 ? MAP_BITS_MIN : m->bits + 1;
    bigger.slots = memory_new_zeroed((size_t)1 << bigger.bits, sizeof *bigger.slots);
    if (bigger.slots == NULL)
        return false;
    size_t count = m->bits == 0 ? 0 : (size_t)1 << m->bits;
    for (size_t i = 0; i < count; i++)
        if (m->slots[i].key != 0)
            bigger.slots[map_probe(&bigger, m->slots[i].key)] = m->slots[i];
    free(m->slots);
    *m = bigger;
    return true;
}

bool map_set(struct map *m, uint64_t key, uint64_t value)
{
    uint64_t stored = key ^ MAP_FREE_KEY;
    if (stored == 0) {
        m->has_free_key = true;
        m->free_key_value = value;
        return true;
    }
    if (m->bits == 0 || m->count >= ((size_t)3 << m->bits) / 4) {
        if (!map_grow(m))
            return false;
    }
    struct map_slot *slot = &m->slots[map_probe(m, stored)];
    m->count += slot->key == 0;
    *slot = (struct map_slot){.key = stored, .value = value};
    return true;
}

/* Fills the hole at `hole` from the run behind it. */
static void map_close_hole(struct map *m, size_t hole)
{
    size_t mask = ((size_t)1 << m->bits) - 1;
    for (size_t at = (hole + 1) & mask; m->slots[at].key != 0; at = (at + 1) & mask) {
        size_t home = map_home(m, m->slots[at].key);
        /* It may move back unless its home lies behind the hole. */
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            m->slots[hole] = m->slots[at];
            hole = at;
        }
    }
    m->slots[hole].key = 0;
}

bool map_remove(struct map *m, uint64_t key, uint64_t *value)
{
    uint64_t *found = map_find(m, key);
    if (found == NULL)
        return false;
    if (value != NULL)
        *value = *found;
    if ((key ^ MAP_FREE_KEY) == 0) {
        m->has_free_key = false;
        return true;
    }
    map_close_hole(m, map_probe(m, key ^ MAP_FREE_KEY));
    m->count--;
    return true;
}

size_t map_count(const struct map *m)
{
    return m->count + (m->has_free_key ? 1 : 0);
}

bool map_next(const struct map *m, size_t *at, uint64_t *key, uint64_t *value)
{
    size_t size = m->bits == 0 ? 0 : (size_t)1 << m->bits;
    for (; *at < size; ++*at) {
        if (m->slots[*at].key == 0)
            continue;
        *key = m->slots[*at].key ^ MAP_FREE_KEY;
        *value = m->slots[*at].value;
        ++*at;
        return true;
    }
    if (*at != size || !m->has_free_key)
        return false;
    ++*at;
    *key = MAP_FREE_KEY;
    *value = m->free_key_value;
    return true;
}
