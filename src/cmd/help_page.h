/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * help_page: lays out help for the screen that it is read on.
 *
 * What a line says goes on in lines that begin further in, or, where it has no beginning of its own, in lines that
 * begin at the margin as it does and follow one without a full stop or a colon at its end.  An option and what is said
 * of it stand apart by two spaces and more.
 */
#ifndef HW_CMD_HELP_PAGE_H
#define HW_CMD_HELP_PAGE_H

#include <stdbool.h>

/* To standard output; false: it could not be written. */
bool help_page_print(const char *text);

#endif
