/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recording_file: see recording_file.h.
 */
#include "cmd/recording_file.h"

#include "cmd/command.h"
#include "session/series_files.h"
#include "cmd/program.h"
#include "cmd/unfinished.h"
#include "collect/spool.h"
#include "import/import.h"
#include "store/series.h"
#include "tool/file.h"
#include "tool/strbuf.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Converts into a file that has no name any more once it is open. */
static int recording_file_convert(struct wake_reader **r, int spool, struct err *err)
{
    const char *folder = getenv("TMPDIR");
    struct strbuf name;
    strbuf_init(&name);
    strbuf_addf(&name, "%s/heapwake.XXXXXX", folder == NULL || folder[0] == '\0' ? "/tmp" : folder);
    int fd = name.failed ? -1 : mkstemp(name.text);
    if (fd < 0) {
        strbuf_release(&name);
        return err_set(err, ERR_IO, "No temporary file can be made to read the spool.");
    }
    close(fd);
    int code = spool_convert(spool, strbuf_get(&name), err);
    if (code == 0)
        code = wake_reader_open(r, strbuf_get(&name), err);
    unlink(strbuf_get(&name));
    strbuf_release(&name);
    return code;
}

/* A recording gets its name when it is whole. */
static void recording_file_look_for_partial(const char *path, struct err *err)
{
    struct strbuf name;
    strbuf_init(&name);
    strbuf_addf(&name, "%s.partial", path);
    if (!name.failed && access(strbuf_get(&name), F_OK) == 0)
        (void)err_set(
            err, ERR_ABSENT,
            "%s is not there, but %s.partial is, which can be read: it is being recorded (then 'heapwake "
            "ctl PID report' reports on the program), or its recorder was killed.",
            path, path);
    strbuf_release(&name);
}

/* What other tools wrote can be read too. */
static void recording_file_look_for_import(const char *path, struct err *err)
{
    const struct import_format *format = import_guess(path);
    if (format != NULL)
        (void)err_set(err, ERR_INPUT,
                      "%s is not a heapwake recording, but seems to be a file of %s, which 'heapwake import' "
                      "makes a recording of.",
                      path, format->name);
}

static void recording_file_look_for_program(const char *path, struct err *err)
{
    const char *prefix = program_prefix(path);
    if (program_is_one(path))
        (void)err_set(err, ERR_INPUT,
                      "%s is a program and not a recording; to record it: heapwake record %s%s", path, prefix,
                      path);
}

/* A recording stays open as long as it may be asked; of an MPI job there are thousands. */
static void recording_file_allow_many(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static struct wake_reader *recording_file_open_one(const char *path)
{
    struct wake_reader *r = NULL;
    struct err err;
    err_init(&err);
    int fd = -1;
    uint64_t size;
    recording_file_allow_many();
    int code = file_open(&fd, &size, path, &err);
    if (code == 0) {
        if (spool_is_one(fd))
            code = recording_file_convert(&r, fd, &err);
        else
            code = wake_reader_open(&r, path, &err);
        file_close(fd);
    }
    if (code == ERR_ABSENT)
        recording_file_look_for_partial(path, &err);
    if (code == ERR_INPUT) {
        recording_file_look_for_import(path, &err);
        recording_file_look_for_program(path, &err);
    }
    if (code != 0)
        command_say("%s", err.text);
    return code == 0 ? r : NULL;
}

static struct wake_reader *recording_file_open_pattern(const char *pattern, glob_t *found)
{
    struct wake_reader *r = NULL;
    struct series_files parts = {0};
    struct err err;
    err_init(&err);
    int code = glob(pattern, 0, NULL, found);
    if (code == GLOB_NOMATCH)
        code = err_set(&err, ERR_INPUT, "No file is called '%s'.", pattern);
    else if (code != 0)
        code = err_set(&err, ERR_IO, "The files '%s' cannot be looked for.", pattern);
    else
        code = series_files_init(&parts, (const char *const *)found->gl_pathv, found->gl_pathc, &err);
    if (code == 0 && parts.first.count > 1)
        code = err_set(&err, ERR_INPUT, "'%s' is %zu recordings; one is needed, or the files of one series.",
                       pattern, parts.first.count);
    if (code != 0)
        command_say("%s", err.text);
    else
        r = recording_file_open_series(parts.paths.data, parts.paths.count);
    series_files_release(&parts);
    return r;
}

struct wake_reader *recording_file_open(const char *path)
{
    glob_t found = {0};
    if (strpbrk(path, "*?[") == NULL || access(path, F_OK) == 0)
        return recording_file_open_one(path);
    struct wake_reader *r = recording_file_open_pattern(path, &found);
    globfree(&found);
    return r;
}

struct wake_reader *recording_file_open_series(const char *const *paths, size_t count)
{
    struct wake_reader *r = NULL;
    struct err err;
    err_init(&err);
    if (count == 1)
        return recording_file_open_one(paths[0]);
    recording_file_allow_many();
    if (wake_series_open(&r, paths, count, &err) != 0)
        command_say("%s", err.text);
    return r;
}

int recording_file_begin(struct strbuf *partial, const char *name, struct err *err)
{
    strbuf_addf(partial, "%s.partial", name);
    int code = partial->failed ? err_set(err, ERR_MEMORY, "There is no memory for the name of the recording.")
                               : file_new_check(name, err);
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
