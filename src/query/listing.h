/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * listing: blocks that somebody else has chosen, by their numbers: with SQL, with a script, by hand.
 *
 * A file has one block a line: the number of its process and its own, as the table `block` of an SQLite
 * export has them, with blanks, tabs, commas or bars between; or its own alone, where the recording has one process.
 * Empty lines, lines that begin with # and a first line of words (names of columns) are passed over.
 */
#ifndef HW_QUERY_LISTING_H
#define HW_QUERY_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/err.h"

struct listing;

/* NULL: no memory. */
struct listing *listing_new(const char *name);
void listing_free(struct listing *l);
/* From a file of that name, "-" the standard input.  ERR_ABSENT, ERR_IO, ERR_MEMORY, or ERR_INPUT: the sentence
 * names the line that is wrong. */
int listing_read(struct listing **l, const char *path, struct err *err);

/* False: no memory. */
bool listing_add(struct listing *l, uint32_t process, uint64_t block);
/* After the last. */
void listing_seal(struct listing *l);

/* May these be blocks of a recording with so many processes?  ERR_INPUT: the sentence says why not. */
int listing_check(const struct listing *l, size_t processes, struct err *err);
/* The numbers of a process, rising, and UINT64_MAX behind them. */
const uint64_t *listing_blocks(const struct listing *l, uint32_t process);

#endif
