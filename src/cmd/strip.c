/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * strip: copies a recording without the events of short-lived blocks.
 */
#include "cmd/command.h"
#include "cmd/interactive_query.h"
#include "cmd/progress.h"
#include "cmd/recording_file.h"
#include "engine/quantity.h"
#include "present/safe.h"
#include "present/units.h"
#include "store/rewrite.h"

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
    const struct wake_cull_options cull = {.threshold_ns = threshold, .pending = STRIP_PENDING};
    const struct rewrite_options options = {.wall_ns = wake_reader_summary(r)->wall_ns, .cull = &cull};
    struct wake_rewrite *rewrite;
    command_bear_limits();
    int code = recording_file_rewrite(&rewrite, to, &options, &err);
    if (code == 0) {
        progress_begin(&progress);
        progress_watch(&progress, r, "Copying", 1);
        code = wake_rewrite_add(rewrite, r, NULL, &err);
        progress_end(&progress);
        code = recording_file_close(rewrite, code, &err);
        interactive_query_warn(r, path);
    }
    if (code != 0)
        command_say("%s", err.text);
    bool done = code == 0 && strip_say(r, to);
    wake_reader_close(r);
    return done ? EXIT_DONE : EXIT_FAILED;
}

struct strip_options {
    const char *file, *output;
    uint64_t threshold;
};

static int strip_set_threshold(void *to, const struct option *o, const char *value, struct err *err)
{
    uint64_t *threshold = to;
    (void)o;
    if (quantity_duration(value, threshold) && *threshold != 0)
        return 0;
    return err_set(err, ERR_USAGE, "--threshold takes a duration such as 500ms or 10s, not '%s'.", value);
}

static int strip_take(void *options, char *word, struct err *err)
{
    struct strip_options *o = options;
    return command_take_recording(&command_strip, &o->file, word, err);
}

static int strip_main(const struct command *self, int argc, char **argv)
{
    struct strip_options o = {0};
    struct err err;
    err_init(&err);
    if (options_parse(self, &o, argc, argv, NULL, &err) != 0)
        return command_misused("%s", err.text);
    if (o.file == NULL || o.output == NULL || o.threshold == 0)
        return command_misused("usage: heapwake strip %s", self->usage);
    if (command_spare(o.file, o.output, &err) != 0)
        return command_misused("%s", err.text);
    return strip_run(o.file, o.output, o.threshold);
}

static const struct option strip_options[] = {
    {.names = "-o, --output",
     .argument = "OUT",
     .help = "name of the new recording",
     .set = options_set_text,
     .at = offsetof(struct strip_options, output)},
    {.names = "--threshold",
     .argument = "DURATION",
     .help = "what is short: 500ms, 10s",
     .set = strip_set_threshold,
     .at = offsetof(struct strip_options, threshold)},
    {0},
};

const struct command command_strip = {
    .name = "strip",
    .summary = "copy a recording without short-lived blocks",
    .usage = "--threshold DURATION FILE -o OUT",
    .about = "Blocks, and whole realloc chains, that lived shorter than DURATION are not among the events of "
             "OUT. They are still counted: all totals, by site too, stay exact.",
    .options = strip_options,
    .run = strip_main,
    .take = strip_take,
};
