/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pairing: goes through events in their order and gives each release what was kept of its block: for those that follow
 * single blocks.
 *
 *     struct pairing p;
 *     pairing_init(&p, sizeof(struct mine), birth, death, context)
 *     p.each, p.other = ...                                          where they are needed
 *     wake_reader_visit(reader, process, ..., pairing_visit, &p, &err)
 *     pairing_release(&p)
 *
 * Memory goes by live blocks that are kept.
 */
#ifndef HW_ENGINE_PAIRING_H
#define HW_ENGINE_PAIRING_H

#include <stddef.h>
#include <stdint.h>

#include "engine/watch.h"
#include "store/numbered.h"
#include "store/reader.h"

enum {
    PAIRING_MAX = 128, /* bytes that can be kept of a block */
    PAIRING_KEEP = 1,
};

/* An allocation: fills `entry`.  PAIRING_KEEP, 0: nothing is kept of it, or negative: that ends it all. */
typedef int pairing_birth_fn(void *context, const struct wake_block *b, uint32_t i, void *entry);
/* A release; entry NULL: nothing was kept.  0, or negative. */
typedef int pairing_death_fn(void *context, const struct wake_block *b, uint32_t i, const void *entry);
/* 0, or negative. */
typedef int pairing_event_fn(void *context, const struct wake_block *b, uint32_t i);

struct pairing {
    struct numbered live;
    size_t size; /* of an entry */
    pairing_birth_fn *birth;
    pairing_death_fn *death;
    pairing_event_fn *each;  /* before every event; NULL: none, this and the next */
    pairing_event_fn *other; /* an event that is neither */
    void *context;
    struct watch *watch; /* NULL: nobody watches */
};

void pairing_init(struct pairing *p, size_t size, pairing_birth_fn *birth, pairing_death_fn *death,
                  void *context);
void pairing_release(struct pairing *p);
/* Forgets all blocks. */
void pairing_restart(struct pairing *p);
/* Of the type wake_block_fn; context: a struct pairing. */
int pairing_visit(const struct wake_block *b, void *pairing);

#endif
