/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * notes: the sentences that a recording has about itself, for machines.
 */
#ifndef HW_PRESENT_NOTES_H
#define HW_PRESENT_NOTES_H

#include "present/json.h"
#include "store/reader.h"

/* "notes": a list of texts. */
void notes_add_json(struct json *j, const struct wake_reader *r);

#endif
