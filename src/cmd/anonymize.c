/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * anonymize: a recording that can be given to others: tokens instead of names,
 * no arguments, no binaries, every figure as it was.
 */
#include "analysis/anonymize_recording.h"
#include "cmd/command.h"
#include "cmd/interactive_query.h"
#include "cmd/recording_file.h"
#include "present/safe.h"
#include "present/units.h"
#include "store/rewrite.h"

struct anonymize_options {
    const char *file, *output;
    enum anonymize_level level;
};

static int anonymize_set_level(void *to, const struct option *o, const char *value, struct err *err)
{
    unsigned index = 0;
    int code = options_set_choice(&index, o, value, err);
    *(enum anonymize_level *)to = index == 0 ? ANONYMIZE_PARTIAL : ANONYMIZE_FULL;
    return code;
}

static int anonymize_take(void *options, char *word, struct err *err)
{
    struct anonymize_options *o = options;
    return command_take_recording(&command_anonymize, &o->file, word, err);
}

static int anonymize_agree(const struct anonymize_options *o, struct err *err)
{
    if (o->file == NULL || o->output == NULL)
        return err_set(err, ERR_USAGE,
                       "A recording and the name of a new one are needed: heapwake anonymize FILE -o NEW");
    return command_spare(o->file, o->output, err);
}

static int anonymize_write(const struct anonymize_options *o, struct wake_reader *r, struct err *err)
{
    const struct rewrite_options options = {
        .wall_ns = wake_reader_summary(r)->wall_ns,
        .is_stopped = interactive_query_is_interrupted,
    };
    struct anonymize_recording disguise;
    struct wake_rewrite *rewrite;
    int code = anonymize_recording_init(&disguise, r, o->level, err);
    if (code == 0)
        code = recording_file_rewrite(&rewrite, o->output, &options, err);
    if (code == 0)
        code = recording_file_close(rewrite, wake_rewrite_add(rewrite, r, &disguise.mask, err), err);
    anonymize_recording_release(&disguise);
    return code;
}

static bool anonymize_tell(const struct anonymize_options *o, const struct wake_reader *r)
{
    char count[UNITS_MAX];
    struct strbuf out;
    strbuf_init(&out);
    safe_add_text(&out, o->output);
    strbuf_addf(&out, ": %s events, %s.\n", units_count(count, wake_reader_summary(r)->events),
                o->level == ANONYMIZE_FULL ? "every name is a token" : "the program's own names are tokens");
    bool done = command_print(&out);
    strbuf_release(&out);
    return done;
}

static int anonymize_run(const struct command *self, int argc, char **argv)
{
    struct anonymize_options o = {.level = ANONYMIZE_FULL};
    struct interactive_query i = {0};
    struct session *session = NULL;
    struct wake_reader *r = NULL;
    struct err err;
    err_init(&err);
    int code = options_parse(self, &o, argc, argv, NULL, &err);
    if (code == 0)
        code = anonymize_agree(&o, &err);
    if (code == 0) {
        command_bear_limits();
        interactive_query_begin(&i);
        code = interactive_query_open(&i, &session, &o.file, 1, &err);
        if (code == 0) {
            r = session_reader(session, 0);
            progress_watch(&i.progress, r, "Copying", 1);
            code = anonymize_write(&o, r, &err);
        }
        interactive_query_end(&i);
    }
    if (r != NULL)
        interactive_query_warn(r, o.file);
    if (code != 0 && err.text[0] != '\0')
        command_say("%s", err.text);
    int status = code == ERR_USAGE                    ? EXIT_USAGE
                 : code == 0 && anonymize_tell(&o, r) ? EXIT_DONE
                                                      : EXIT_FAILED;
    session_close(session);
    return status;
}

static const struct option anonymize_options[] = {
    {.names = "-o, --output",
     .argument = "NEW",
     .help = "name of the new recording",
     .set = options_set_text,
     .at = offsetof(struct anonymize_options, output)},
    {.names = "--level",
     .argument = "partial|full",
     .help = "tokens instead of the program's own names, or of all (default full)",
     .set = anonymize_set_level,
     .at = offsetof(struct anonymize_options, level)},
    {0},
};

const struct command command_anonymize = {
    .name = "anonymize",
    .summary = "make a recording without names, to be given to others",
    .usage = "[--level partial|full] FILE -o NEW",
    .options = anonymize_options,
    .notes =
        "The new recording has every figure of the old one. Arguments and embedded binaries are left out.",
    .run = anonymize_run,
    .take = anonymize_take,
};
