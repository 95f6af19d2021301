/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * minidebug: the small symbol table that some distributions leave in stripped
 * programs, as an ELF file packed with xz in the section .gnu_debugdata.
 */
#ifndef HW_SYMBOL_MINIDEBUG_H
#define HW_SYMBOL_MINIDEBUG_H

#include "symbol/elffile.h"

#include <stdbool.h>

/* False: there is none, or it is broken or too large. */
bool minidebug_open(struct elffile *out, const struct elffile *program);

#endif
