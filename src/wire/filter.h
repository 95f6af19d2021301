/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * filter: which blocks of a sampled program are samples, for whoever frees one.
 *
 * A table in the segment, by address; a word stands for 256 bytes of the program, and for those 16 MiB away and so on:
 *
 *     bits 0..15   count: samples made here whose release the collector has not applied; at FILTER_FULL it stays
 *     bits 16..63  whose release is to be told: 0 = nobody's; an address: of that block alone; all ones: of every
 *                  block here, because several samples are live, or one of several may be
 *
 * and before it a byte for each group of eight words: how many of them say that a release is to be told. A free looks at
 * that byte alone, nearly always: a shift, a mask and a comparison. The bytes of a whole heap are in the cache when the
 * words are not, which was most of what a free cost.
 *
 * The probe adds a sample before it publishes it, and takes it out when it has told of its release: from then on
 * an address that is in use again and again costs nothing. What only a count can tell, the collector does: it counts
 * down for each sample that is gone, and at 0 nothing is live.
 *
 * Invariants: while a sample is live, its word names it or all. A byte is never less than the words that it stands for
 * say (whoever is interrupted for good in between leaves it too high, which costs a second look and nothing else). All
 * steps are atomic; nobody waits.
 */
#ifndef HW_WIRE_FILTER_H
#define HW_WIRE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FILTER_SLOTS = 1 << 16,
    FILTER_GROUP = 8, /* words */
    FILTER_FULL = 0xffff,
};

#define FILTER_ALL (~(uint64_t)FILTER_FULL)

struct filter {
    uint8_t groups[FILTER_SLOTS / FILTER_GROUP];
    uint64_t words[FILTER_SLOTS];
};

static inline uint32_t filter_slot(uint64_t address)
{
    return (uint32_t)(address >> 8) & (FILTER_SLOTS - 1);
}

static inline uint64_t filter_count(uint64_t word)
{
    return word & FILTER_FULL;
}

static inline uint64_t filter_whose(uint64_t word)
{
    return word & FILTER_ALL;
}

static inline uint64_t filter_its_name(uint64_t address)
{
    return address << 16;
}

/* Is any release to be told here, or nearby? */
static inline bool filter_is_used(const struct filter *f, uint64_t address)
{
    return __atomic_load_n(&f->groups[filter_slot(address) / FILTER_GROUP], __ATOMIC_RELAXED) != 0;
}

static inline uint64_t filter_read(const struct filter *f, uint64_t address)
{
    return __atomic_load_n(&f->words[filter_slot(address)], __ATOMIC_RELAXED);
}

/* Is that of this block? */
static inline bool filter_has(const struct filter *f, uint64_t address)
{
    uint64_t whose = filter_whose(filter_read(f, address));
    return whose == filter_its_name(address) || whose == FILTER_ALL;
}

/* One step; the byte is counted up before and down behind it. */
static inline bool filter_change(struct filter *f, uint64_t address, uint64_t *old, uint64_t to)
{
    uint32_t slot = filter_slot(address);
    uint8_t *group = &f->groups[slot / FILTER_GROUP];
    bool begins = filter_whose(*old) == 0 && filter_whose(to) != 0;
    bool ends = filter_whose(*old) != 0 && filter_whose(to) == 0;
    if (begins)
        __atomic_fetch_add(group, 1, __ATOMIC_ACQ_REL);
    bool is_done =
        __atomic_compare_exchange_n(&f->words[slot], old, to, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (is_done ? ends : begins)
        __atomic_fetch_sub(group, 1, __ATOMIC_ACQ_REL);
    return is_done;
}

/* The release of the block is to be told (again, when that of a realloc was told which then failed). */
static inline void filter_name(struct filter *f, uint64_t address, bool is_new)
{
    uint64_t old = filter_read(f, address), to;
    const uint64_t name = filter_its_name(address);
    do {
        uint64_t whose = filter_whose(old);
        to = filter_count(old) + (whose == 0 || whose == name ? name : FILTER_ALL);
        to += is_new && filter_count(old) < FILTER_FULL;
    } while (!filter_change(f, address, &old, to));
}

/* A block that is a sample; before it is published. */
static inline void filter_add(struct filter *f, uint64_t address)
{
    filter_name(f, address, true);
}

/* Its release has been told. */
static inline void filter_take(struct filter *f, uint64_t address)
{
    uint64_t old = filter_read(f, address);
    const uint64_t name = filter_its_name(address);
    while (filter_whose(old) == name && !filter_change(f, address, &old, old - name))
        ;
}

/* The collector: a sample is gone. */
static inline void filter_drop(struct filter *f, uint64_t address)
{
    uint64_t old = filter_read(f, address), to;
    do {
        if (filter_count(old) == 0 || filter_count(old) == FILTER_FULL)
            return;
        to = filter_count(old) == 1 ? 0 : old - 1;
    } while (!filter_change(f, address, &old, to));
}

/* No sample, but whoever frees what lies here must look twice, for ever: the word names what is no block. */
static inline void filter_warn(struct filter *f, uint64_t address)
{
    uint64_t old = filter_read(f, address), to;
    const uint64_t no_block = filter_its_name(1);
    do {
        uint64_t whose = filter_whose(old);
        to = (whose == 0 || whose == no_block ? no_block : FILTER_ALL) + FILTER_FULL;
    } while (!filter_change(f, address, &old, to));
}

#endif
