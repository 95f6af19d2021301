/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_replay: what a replay cost with each allocator, side by side.
 */
#ifndef HW_PRESENT_SECTION_REPLAY_H
#define HW_PRESENT_SECTION_REPLAY_H

#include "analysis/replay_script.h"
#include "present/json.h"
#include "present/page.h"
#include "wire/score.h"

#include <stddef.h>
#include <stdint.h>

struct replay_row {
    const char *name; /* of the allocator, as it was asked for */
    struct score_result result;
};

struct section_replay {
    const struct replay_script *compose;
    uint32_t pid;
    const char *touch; /* the word of the option */
    const struct replay_row *rows;
    size_t count;
};

void section_replay_text(struct page *p, const struct section_replay *s);
/* "process": {...}, "allocators": [...] */
void section_replay_json(struct json *j, const struct section_replay *s);

#endif
