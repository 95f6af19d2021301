/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recording_input: opens a file as a recording.
 */
#include "session/recording_input.h"

#include "collect/spool.h"
#include "session/series_files.h"
#include "store/series.h"
#include "tool/file.h"
#include "tool/strbuf.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Converts into a file that has no name any more once it is open. */
static int recording_input_convert(struct wake_reader **r, int spool, struct err *err)
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
static void recording_input_look_for_partial(const char *path, struct err *err)
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

/* A recording stays open as long as it may be asked; of an MPI job there are thousands. */
static void recording_input_allow_many(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int recording_input_open(struct wake_reader **r, const char *path, struct err *err)
{
    int fd = -1;
    uint64_t size;
    *r = NULL;
    recording_input_allow_many();
    int code = file_open(&fd, &size, path, err);
    if (code == 0 && spool_is_one(fd))
        code = recording_input_convert(r, fd, err);
    else if (code == 0)
        code = wake_reader_open(r, path, err);
    file_close(fd);
    if (code == ERR_ABSENT)
        recording_input_look_for_partial(path, err);
    return code;
}

int recording_input_open_series(struct wake_reader **r, const char *const *paths, size_t count,
                                struct err *err)
{
    if (count == 1)
        return recording_input_open(r, paths[0], err);
    recording_input_allow_many();
    return wake_series_open(r, paths, count, err);
}

static int recording_input_open_pattern(struct wake_reader **r, const char *pattern, glob_t *found,
                                        struct err *err)
{
    struct series_files files = {0};
    int code = glob(pattern, 0, NULL, found);
    if (code == GLOB_NOMATCH)
        code = err_set(err, ERR_INPUT, "No file is called '%s'.", pattern);
    else if (code != 0)
        code = err_set(err, ERR_IO, "The files '%s' cannot be looked for.", pattern);
    else
        code = series_files_init(&files, (const char *const *)found->gl_pathv, found->gl_pathc, err);
    if (code == 0 && files.first.count > 1)
        code = err_set(err, ERR_INPUT, "'%s' is %zu recordings; one is needed, or the files of one series.",
                       pattern, files.first.count);
    if (code == 0)
        code = recording_input_open_series(r, files.paths.data, files.paths.count, err);
    series_files_release(&files);
    return code;
}

int recording_input_open_any(struct wake_reader **r, const char *path, struct err *err)
{
    glob_t found = {0};
    *r = NULL;
    if (strpbrk(path, "*?[") == NULL || access(path, F_OK) == 0)
        return recording_input_open(r, path, err);
    int code = recording_input_open_pattern(r, path, &found, err);
    globfree(&found);
    return code;
}
