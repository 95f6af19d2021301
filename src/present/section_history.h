/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_history: what happened at an address.
 */
#ifndef HW_PRESENT_SECTION_HISTORY_H
#define HW_PRESENT_SECTION_HISTORY_H

#include "analysis/address_history.h"
#include "analysis/trace.h"
#include "present/json.h"
#include "present/page.h"
#include "store/reader.h"

#include <stddef.h>
#include <stdint.h>

struct section_history {
    struct traces *traces; /* of this recording alone */
    const struct address_histories *touches;
    const struct wake_reader *reader;
    uint64_t address;
    const char *(*event)(unsigned event);
    const char *(*label)(unsigned event, unsigned detail);
};

/* ERR_MEMORY. */
int section_history_text(struct page *p, const struct section_history *s, struct err *err);
/* "events": [...] */
int section_history_json(struct json *j, const struct section_history *s, struct err *err);

#endif
