/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * strip: copies a recording without the events of short-lived blocks.
 */
#include "cmd/asking.h"
#include "cmd/command.h"
#include "cmd/guess.h"
#include "cmd/progress.h"
#include "cmd/recording_file.h"
#include "present/safe.h"
#include "present/units.h"
#include "query/quantity.h"
#include "store/thin.h"

#include <sys/stat.h>

enum { STRIP_PENDING = 1 << 24 }; /* events that may wait: what a finished file needs in 1 GiB */

static bool strip_say(struct wake_reader *from, const char *path)
{
    char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX];
    struct stat st;
    struct strbuf out;
    uint64_t size = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
    strbuf_init(&out);
    safe_add_text(&out, path);
    strbuf_addf(&out, ": %s, was %s of %s events\n", units_bytes(a, size),
                units_bytes(b, wake_reader_summary(from)->file_size),
                units_count(c, wake_reader_summary(from)->events));
    bool done = command_print(&out);
    strbuf_release(&out);
    return done;
}

static int strip_run(const char *path, const char *to, uint64_t threshold)
{
    struct err err;
    struct progress progress;
    err_init(&err);
    struct wake_reader *r = recording_file_open(path);
    if (r == NULL)
        return EXIT_FAILED;
    const struct wake_cull_options options = {.threshold_ns = threshold, .pending = STRIP_PENDING};
    struct strbuf partial;
    command_bear_limits();
    strbuf_init(&partial);
    int code = recording_file_begin(&partial, to, &err);
    if (code == 0) {
        progress_begin(&progress);
        progress_watch(&progress, r, "Copying", 1);
        code = wake_thin(r, strbuf_get(&partial), &options, &err);
        progress_end(&progress);
        code = recording_file_end(&partial, to, code, &err);
        asking_warn(r, path);
    }
    strbuf_release(&partial);
    if (code != 0)
        command_say("%s", err.text);
    bool done = code == 0 && strip_say(r, to);
    wake_reader_close(r);
    return done ? EXIT_DONE : EXIT_FAILED;
}

int command_strip(int argc, char **argv)
{
    const char *path = NULL, *to = NULL, *value;
    uint64_t threshold = 0;
    for (int i = 1; i < argc; i++) {
        if (command_option(argv, &i, "--threshold", &value)) {
            if (!quantity_duration(value, &threshold) || threshold == 0)
                return command_misused("--threshold takes a duration such as 500ms or 10s, not '%s'.", value);
        } else if (command_option(argv, &i, "-o", &value) || command_option(argv, &i, "--output", &value)) {
            to = value;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            return guess_option_say("strip", argv[i]);
        } else if (path != NULL) {
            return command_misused(
                "'heapwake strip' takes one recording; a series of files is a pattern in quotes.");
        } else {
            path = argv[i];
        }
    }
    if (path == NULL || to == NULL || to[0] == '\0' || threshold == 0)
        return command_misused("usage: heapwake strip --threshold DURATION FILE -o OUT");
    struct err err;
    err_init(&err);
    if (command_spare(path, to, &err) != 0)
        return command_misused("%s", err.text);
    return strip_run(path, to, threshold);
}
