/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * diagnose: why a program that has run never said hello, or never could.
 */
#ifndef HW_COLLECT_DIAGNOSE_H
#define HW_COLLECT_DIAGNOSE_H

#include "tool/err.h"

#include <stdbool.h>

/* Looks at the program that argv0 names (found as a shell would) and puts one
 * sentence into err. */
void diagnose_silence(const char *argv0, struct err *err);

/* Would preloading a 64-bit glibc library disturb this program (musl, 32-bit)?
 * Then err says so, as above. */
bool diagnose_is_foreign(const char *argv0, struct err *err);

/* Is it built with a sanitizer, beside which nothing can be recorded?  Then err says so. */
bool diagnose_is_sanitized(const char *argv0, struct err *err);

/* Is there a program that argv0 names, found as above? */
bool diagnose_has_program(const char *argv0);

#endif
