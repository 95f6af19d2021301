/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memlog: an incremental report as text that other tools know:
 *
 *     Outanding bytes: LIVE (SIGNED CHANGE)
 *     SIGNED BYTES
 *     <TAB>FUNCTION<TAB>(MODULE)       innermost first
 *     <TAB>MODULE+0xADDRESS            where there is no name
 *     <TAB>0xADDRESS                   where there is no module either
 *
 * The first line is spelled as those tools expect it.  What has grown most
 * comes first; what has not changed is left out.
 */
#ifndef HW_PRESENT_MEMLOG_H
#define HW_PRESENT_MEMLOG_H

#include "analysis/moment_diff.h"
#include "present/json.h"
#include "tool/strbuf.h"

#include <stdint.h>

struct memlog {
    const struct traces *traces;
    const struct drift *drift; /* sorted */
    const char *program, *name;
    uint32_t pid, sequence;
    uint64_t live_bytes, live_blocks;
};

void memlog_text(struct strbuf *out, const struct memlog *m);
/* The same as one JSON object. */
void memlog_json(struct json *j, const struct memlog *m);

#endif
