/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_misuse: releases that should not have been.
 */
#ifndef HW_PRESENT_SECTION_MISUSE_H
#define HW_PRESENT_SECTION_MISUSE_H

#include "analysis/misuse.h"
#include "analysis/trace.h"
#include "present/json.h"
#include "present/page.h"
#include "store/reader.h"

#include <stddef.h>
#include <stdint.h>

struct section_misuse {
    struct traces *traces;
    const struct misuses *misuses; /* of one recording */
    const struct wake_reader *reader;
    uint32_t base; /* number of the recording's first process among those of the traces */
    const char *(*label)(unsigned event, unsigned detail);
};

/* ERR_MEMORY. */
int section_misuse_text(struct page *p, const struct section_misuse *s, struct err *err);
/* "misuse": [...] */
int section_misuse_json(struct json *j, const struct section_misuse *s, struct err *err);

#endif
