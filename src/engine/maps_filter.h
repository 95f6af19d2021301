/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * maps_filter: which mappings a query asks for, in the words that it has for blocks.
 *
 *     size, address        those of the mapping when it was made; its size is whole pages
 *     allocated            made; leaked, freed: see maps.h
 *     lifetime             until it is freed, or its process ends
 *     temporary            freed by the thread that made it, before that thread has made as many
 *                          others; or within the time
 *     freed by, from       by the thread, from the stack of the call that removed the last of it
 *     window               mappings of which something was there at some time in it
 *     peak-rss             as samples tell; one that none tells of does not match
 *     readable ...         as last seen in a sample; else as it was made
 *
 * What else is asked for means the same as of blocks, or is refused.
 */
#ifndef HW_ENGINE_MAPS_FILTER_H
#define HW_ENGINE_MAPS_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "engine/maps.h"
#include "engine/query.h"
#include "store/reader.h"
#include "tool/err.h"

/* Adds to `chosen`, and to the figures that go with it, what fits of a process: the mappings from `first` on,
 * which have just been played.  ERR_USAGE, ERR_ABSENT, ERR_MEMORY. */
int maps_choose(struct maps *m, size_t first, const struct query *q, const struct wake_reader *r,
                uint32_t process, struct err *err);

#endif
