/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * markup: text for XML and HTML: what means something there is written as an
 * entity, what is forbidden there is replaced.
 */
#ifndef HW_EXPORT_MARKUP_H
#define HW_EXPORT_MARKUP_H

#include "tool/strbuf.h"

/* Any bytes; for text and for attributes in either sort of quotes. */
void markup_add(struct strbuf *out, const char *text);

#endif
