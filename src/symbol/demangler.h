/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * demangler: from the names that linkers know to those that people wrote:
 * C++ (Itanium), Rust (both schemes) and D.
 */
#ifndef HW_SYMBOL_DEMANGLER_H
#define HW_SYMBOL_DEMANGLER_H

#include "tool/strbuf.h"

#include <stdbool.h>

/* Appends what `linkage` means to out.  False: it is no mangled name, is longer
 * than DEMANGLER_MAX, or means more than DEMANGLER_OUTPUT_MAX bytes; out is as before. */
bool demangle(struct strbuf *out, const char *linkage);

enum {
    DEMANGLER_MAX = 16 << 10,
    DEMANGLER_OUTPUT_MAX = 64 << 10,
};

#endif
