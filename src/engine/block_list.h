/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * block_list: blocks that somebody else has chosen, by their numbers: with SQL, with a script, by hand.
 *
 * A file has one block a line: the number of its process and its own, as the table `block` of an SQLite
 * export has them, with blanks, tabs, commas or bars between; or its own alone, where the recording has one process.
 * Empty lines, lines that begin with # and a first line of words (names of columns) are passed over.
 */
#ifndef HW_ENGINE_BLOCK_LIST_H
#define HW_ENGINE_BLOCK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/err.h"

struct block_list;

/* NULL: no memory. */
struct block_list *block_list_new(const char *name);
void block_list_free(struct block_list *l);
/* From a file of that name, "-" the standard input.  ERR_ABSENT, ERR_IO, ERR_MEMORY, or ERR_INPUT: the sentence
 * names the line that is wrong. */
int block_list_read(struct block_list **l, const char *path, struct err *err);

/* False: no memory. */
bool block_list_add(struct block_list *l, uint32_t process, uint64_t block);
/* After the last. */
void block_list_seal(struct block_list *l);

/* May these be blocks of a recording with so many processes?  ERR_INPUT: the sentence says why not. */
int block_list_check(const struct block_list *l, size_t processes, struct err *err);
/* The numbers of a process, rising, and UINT64_MAX behind them. */
const uint64_t *block_list_blocks(const struct block_list *l, uint32_t process);

#endif
