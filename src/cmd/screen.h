/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * screen: the page that standard output is: a terminal with its width and
 * colours, or a pipe with 80 columns and none.
 */
#ifndef HW_CMD_SCREEN_H
#define HW_CMD_SCREEN_H

#include "present/page.h"
#include "tool/strbuf.h"

void screen_init(struct page *page, struct strbuf *out);

#endif
