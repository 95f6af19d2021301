/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * known_leaks: see known_leaks.h.
 */
#include "cmd/known_leaks.h"

#include "cmd/small_file.h"

#include <stdlib.h>

int known_leaks_read(struct suppress *s, const char *const *paths, size_t count, bool built_in,
                     struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        size_t length;
        char *text = small_file_read(paths[i], "a list of suppressions", &length, err);
        code = text == NULL ? err->code : suppress_add_text(s, paths[i], text, length, err);
        free(text);
    }
    return code == 0 && built_in ? suppress_add_built_in(s, err) : code;
}
