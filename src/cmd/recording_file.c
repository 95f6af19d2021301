/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recording_file: see recording_file.h.
 */
#include "cmd/recording_file.h"

#include "cmd/command.h"
#include "cmd/program.h"
#include "cmd/unfinished.h"
#include "import/import.h"
#include "session/recording_input.h"
#include "tool/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void recording_file_explain(void *of, const char *path, struct err *err)
{
    const struct import_format *format = import_guess(path);
    (void)of;
    if (format != NULL)
        (void)err_set(err, ERR_INPUT,
                      "%s is not a heapwake recording, but seems to be a file of %s, which 'heapwake import' "
                      "makes a recording of.",
                      path, format->name);
    if (program_is_one(path))
        (void)err_set(err, ERR_INPUT,
                      "%s is a program and not a recording; to record it: heapwake record %s%s", path,
                      program_prefix(path), path);
}

struct wake_reader *recording_file_open(const char *path)
{
    struct wake_reader *r;
    struct err err;
    err_init(&err);
    if (recording_input_open_any(&r, path, &err) == 0)
        return r;
    if (err.code == ERR_INPUT)
        recording_file_explain(NULL, path, &err);
    command_say("%s", err.text);
    return NULL;
}

int recording_file_begin(struct strbuf *partial, const char *name, struct err *err)
{
    strbuf_addf(partial, "%s.partial", name);
    int code = partial->failed ? err_no_memory(err) : file_new_check(name, err);
    if (code == 0)
        unfinished_guard(strbuf_get(partial));
    return code;
}

int recording_file_end(const struct strbuf *partial, const char *name, int code, struct err *err)
{
    unfinished_settle();
    if (code == 0 && rename(strbuf_get(partial), name) != 0)
        code = err_set(err, ERR_IO, "%s cannot be made: %s.", name, strerror(errno));
    if (code != 0)
        unlink(strbuf_get(partial));
    unfinished_leave();
    return code;
}

int recording_file_rewrite(struct wake_rewrite **rw, const char *name, const struct rewrite_options *options,
                           struct err *err)
{
    unfinished_hold();
    int code = wake_rewrite_open(rw, name, options, err);
    if (code == 0)
        unfinished_guard(wake_rewrite_get_temp(*rw));
    else
        unfinished_leave();
    return code;
}

int recording_file_close(struct wake_rewrite *rw, int code, struct err *err)
{
    unfinished_settle();
    int closed = wake_rewrite_close(rw, code == 0, err);
    unfinished_leave();
    return code != 0 ? code : closed;
}
