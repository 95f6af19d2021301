/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * symbols: names as payloads of symbols chunks, and back.  Each payload can be
 * decoded alone; what a later one says of a place or an image counts.
 */
#ifndef HW_STORE_SYMBOLS_H
#define HW_STORE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/names.h"
#include "tool/strbuf.h"

/* Anything but 0 ends the encoding and is what it gives. */
typedef int symbols_put_fn(void *of, const struct strbuf *payload);

/* Calls back with one payload after the other.  0, ERR_MEMORY, or what `put` gave. */
int symbols_encode(const struct names *n, symbols_put_fn *put, void *of);

/* Adds what a payload says.  *budget: bytes of memory that it may take, and is
 * lessened by.  0, ERR_INPUT: makes no sense (what stood before that stays
 * added), ERR_MEMORY. */
int symbols_decode(struct names *n, const uint8_t *bytes, size_t length, uint64_t *budget);

#endif
