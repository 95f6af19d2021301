/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * units: numbers as people read them.  Each writes into a buffer of UNITS_MAX
 * bytes and returns it.
 */
#ifndef HW_PRESENT_UNITS_H
#define HW_PRESENT_UNITS_H

#include <stdint.h>

enum { UNITS_MAX = 40 };

/* From now on units_bytes and units_change_bytes write exact bytes: "1,363,148 bytes".  For a command that was asked
 * for that, before it prints; not for several threads. */
void units_show_bytes(void);
/* 20,000,012 */
const char *units_count(char *text, uint64_t value);
/* The end of a word that is counted: "" for one, else "s". */
const char *units_plural(uint64_t value);
/* 72 bytes, 1.3 MiB */
const char *units_bytes(char *text, uint64_t bytes);
/* So also where exact ones are asked for: on axes. */
const char *units_rounded_bytes(char *text, uint64_t bytes);
/* The same with a sign: +1.3 MiB, -20; 0 is +0. */
const char *units_change_bytes(char *text, int64_t change);
const char *units_change_count(char *text, int64_t change);
/* 350 us, 1.24 s, 2 min 5 s, 3 h 12 min */
const char *units_time(char *text, uint64_t ns);

#endif
