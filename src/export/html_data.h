/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * html_data: what the script of the report page reads (page/page.js says how it
 * is laid out): the largest sites and functions of every measure, all the frames
 * they have, the timeline.
 *
 * It is JSON without the characters that mean something to HTML, so that it can
 * stand inside a page.
 */
#ifndef HW_EXPORT_HTML_DATA_H
#define HW_EXPORT_HTML_DATA_H

#include "export/export.h"
#include "tool/err.h"

/* ERR_MEMORY. */
int html_data_put(const struct export_job *job, struct err *err);

#endif
