/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * filter: which blocks of a sampled program are samples, for whoever frees one.
 *
 * A table in the segment, by address; a word stands for 256 bytes of the program or so, and for others that are far away:
 *
 *     bits 0..15   count: samples made here whose release the collector has not applied; at FILTER_FULL it stays
 *     bits 16..63  whose release is to be told: 0 = nobody's; an address: of that block alone; all ones: of every
 *                  block here, because several samples are live, or one of several may be
 *
 * so that a free has a multiplication, a shift, and one comparison with memory to make, which is what it costs.
 *
 * The probe adds a sample before it publishes it, and takes it out when it has told of its release: from then on
 * an address that is in use again and again costs nothing. What only a count can tell, the collector does: it counts
 * down for each sample that is gone, and at 0 nothing is live.
 *
 * Invariant: while a sample is live, its word names it or all. All steps are atomic; nobody waits.
 */
#ifndef HW_WIRE_FILTER_H
#define HW_WIRE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FILTER_SLOTS = 1 << 16,
    FILTER_FULL = 0xffff,
};

#define FILTER_ALL (~(uint64_t)FILTER_FULL)

/* Bits 8 to 23 of the address, and to spread the arenas of threads, which are alike, bits 24 to 39 added to them. */
static inline uint32_t filter_slot(uint64_t address)
{
    return (uint32_t)(address * 0x10001 >> 24) & (FILTER_SLOTS - 1);
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

/* Is any release here to be told? */
static inline bool filter_is_used(const uint64_t *filter, uint64_t address)
{
    return __atomic_load_n(&filter[filter_slot(address)], __ATOMIC_RELAXED) > FILTER_FULL;
}

/* Is that of this block? */
static inline bool filter_has(const uint64_t *filter, uint64_t address)
{
    uint64_t whose = filter_whose(__atomic_load_n(&filter[filter_slot(address)], __ATOMIC_RELAXED));
    return whose == filter_its_name(address) || whose == FILTER_ALL;
}

static inline bool filter_change(uint64_t *word, uint64_t *old, uint64_t to)
{
    return __atomic_compare_exchange_n(word, old, to, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The release of the block is to be told (again, when that of a realloc was told which then failed). */
static inline void filter_name(uint64_t *filter, uint64_t address, bool is_new)
{
    uint64_t *word = &filter[filter_slot(address)], old = __atomic_load_n(word, __ATOMIC_RELAXED), to;
    const uint64_t name = filter_its_name(address);
    do {
        uint64_t whose = filter_whose(old);
        to = filter_count(old) + (whose == 0 || whose == name ? name : FILTER_ALL);
        to += is_new && filter_count(old) < FILTER_FULL;
    } while (!filter_change(word, &old, to));
}

/* A block that is a sample; before it is published. */
static inline void filter_add(uint64_t *filter, uint64_t address)
{
    filter_name(filter, address, true);
}

/* Its release has been told. */
static inline void filter_take(uint64_t *filter, uint64_t address)
{
    uint64_t *word = &filter[filter_slot(address)], old = __atomic_load_n(word, __ATOMIC_RELAXED);
    const uint64_t name = filter_its_name(address);
    while (filter_whose(old) == name && !filter_change(word, &old, old - name))
        ;
}

/* The collector: a sample is gone. */
static inline void filter_drop(uint64_t *filter, uint64_t address)
{
    uint64_t *word = &filter[filter_slot(address)], old = __atomic_load_n(word, __ATOMIC_RELAXED), to;
    do {
        if (filter_count(old) == 0 || filter_count(old) == FILTER_FULL)
            return;
        to = filter_count(old) == 1 ? 0 : old - 1;
    } while (!filter_change(word, &old, to));
}

/* No sample, but whoever frees what lies here must look twice, for ever: the word names what is no block. */
static inline void filter_warn(uint64_t *filter, uint64_t address)
{
    uint64_t *word = &filter[filter_slot(address)], old = __atomic_load_n(word, __ATOMIC_RELAXED), to;
    const uint64_t no_block = filter_its_name(1);
    do {
        uint64_t whose = filter_whose(old);
        to = (whose == 0 || whose == no_block ? no_block : FILTER_ALL) + FILTER_FULL;
    } while (!filter_change(word, &old, to));
}

#endif
