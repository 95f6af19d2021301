/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * known_leaks: see known_leaks.h.
 */
#include "session/known_leaks.h"

#include "tool/file.h"

#include <stdlib.h>

enum { KNOWN_LEAKS_MAX = 16 << 20 }; /* bytes of one file */

int known_leaks_read(struct suppress *s, const char *const *paths, size_t count, bool built_in,
                     struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        char *text;
        size_t length;
        code = file_read_text(&text, &length, paths[i], KNOWN_LEAKS_MAX, err);
        if (code == 0)
            code = suppress_add_text(s, paths[i], text, length, err);
        free(text);
    }
    return code == 0 && built_in ? suppress_add_built_in(s, err) : code;
}
