/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * whole_file: see whole_file.h.
 */
#include "cmd/whole_file.h"

#include <string.h>

#include "cmd/unfinished.h"
#include "tool/file.h"
#include "tool/memory.h"

int whole_file_write(const char *path, const struct strbuf *text, struct err *err)
{
    struct file_new file = {.fd = -1};
    struct err ignored;
    err_init(&ignored);
    if (text->failed || memory_has_failed())
        return err_no_memory(err);
    int code = file_new_open_readable(&file, path, err);
    if (code != 0)
        return code;
    unfinished_guard(file.temp);
    int failed = file_write_all(file.fd, strbuf_get(text), text->length, NULL);
    unfinished_settle();
    if (failed != 0)
        code = err_set(err, file_code(-failed), "%s cannot be written: %s.", path, strerror(-failed));
    if (code == 0)
        code = file_new_publish(&file, err);
    (void)file_new_close(&file, code == 0 ? err : &ignored);
    unfinished_leave();
    return code;
}
