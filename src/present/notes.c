/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * notes: see notes.h.
 */
#include "present/notes.h"

#include <string.h>

void notes_add_json(struct json *j, const struct wake_reader *r)
{
    json_open_array(j, "notes");
    for (size_t i = 0; i < wake_reader_note_count(r); i++)
        json_add_text(j, NULL, wake_reader_note(r, i), strlen(wake_reader_note(r, i)));
    json_close_array(j);
}
