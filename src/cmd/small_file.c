/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * small_file: see small_file.h.
 */
#include "cmd/small_file.h"

#include "tool/file.h"

#include <stdlib.h>

enum { SMALL_FILE_MAX = 16 << 20 };

char *small_file_read(const char *path, const char *what, size_t *length, struct err *err)
{
    int fd;
    uint64_t size;
    char *text = NULL;
    *length = 0;
    if (file_open(&fd, &size, path, err) != 0)
        return NULL;
    if (size > SMALL_FILE_MAX) {
        (void)err_set(err, ERR_LIMIT, "%s is too large for %s.", path, what);
    } else if ((text = malloc((size_t)size + 1)) == NULL) {
        (void)err_set(err, ERR_MEMORY, "There is no memory to read %s.", path);
    } else if (file_read_at(fd, text, (size_t)size, 0, length) != 0) {
        (void)err_set(err, ERR_IO, "%s cannot be read.", path);
        free(text);
        text = NULL;
    } else {
        text[*length] = '\0';
    }
    file_close(fd);
    return text;
}
