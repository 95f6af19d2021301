/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * first: whether the program's calls to malloc come to us.
 *
 * They do not where the program, or a library that was loaded before us, has a malloc of its own. The loader is asked
 * for the first of that name. But a program that is not position independent and takes the address of malloc has
 * an entry for it all the same: an undefined symbol with an address, that of its own jump to malloc (so that
 * malloc == malloc everywhere). That one defines nothing, and calls through it go to whoever is next.
 */
#ifndef HW_PROBE_FIRST_H
#define HW_PROBE_FIRST_H

#include <stdbool.h>

/* At birth, once real.dl_find_object is known. Allocates nothing. */
bool first_is_ours(void);

#endif
