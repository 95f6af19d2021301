/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * merge: several recordings in one file, on one clock.
 */
#include "cmd/command.h"
#include "cmd/duplicates.h"
#include "cmd/interactive_query.h"
#include "cmd/recording_file.h"
#include "present/safe.h"
#include "present/units.h"
#include "store/rewrite.h"

struct merge {
    const char *output;
    VEC(const char *) files;
    VEC(struct session *) sessions; /* all are open at once: the earliest begins the new one */
    VEC(struct wake_reader *) readers;
};

static int merge_take(void *options, char *word, struct err *err)
{
    struct merge *m = options;
    return vec_push(&m->files, word) ? 0 : err_no_memory(err);
}

static int merge_agree(struct merge *m, struct err *err)
{
    if (m->files.count == 0 || m->output == NULL)
        return err_set(err, ERR_USAGE,
                       "Recordings and the name of a new one are needed: heapwake merge FILE... -o NEW");
    m->files.count = duplicates_drop(m->files.data, m->files.count);
    int code = 0;
    for (size_t i = 0; i < m->files.count && code == 0; i++)
        code = command_spare(m->files.data[i], m->output, err);
    return code;
}

static int merge_open(struct merge *m, struct interactive_query *i, struct err *err)
{
    int code = 0;
    for (size_t k = 0; k < m->files.count && code == 0; k++) {
        struct session *s;
        code = interactive_query_open(i, &s, &m->files.data[k], 1, err);
        if (code != 0)
            return code;
        if (!vec_push(&m->sessions, s)) {
            session_close(s);
            return err_no_memory(err);
        }
        if (!vec_push(&m->readers, session_reader(s, 0)))
            code = err_no_memory(err);
    }
    return code;
}

static int merge_write(const struct merge *m, struct interactive_query *a, struct err *err)
{
    const struct rewrite_options options = {
        .wall_ns = wake_rewrite_earliest(m->readers.data, m->readers.count),
        .is_stopped = interactive_query_is_interrupted,
    };
    struct wake_rewrite *rewrite;
    int code = recording_file_rewrite(&rewrite, m->output, &options, err);
    if (code != 0)
        return code;
    for (size_t i = 0; i < m->readers.count && code == 0; i++) {
        progress_watch(&a->progress, m->readers.data[i], "Copying", 1);
        code = wake_rewrite_add(rewrite, m->readers.data[i], NULL, err);
        wake_reader_rest(m->readers.data[i]);
    }
    return recording_file_close(rewrite, code, err);
}

static bool merge_tell(const struct merge *m)
{
    char text[UNITS_MAX];
    struct strbuf out;
    uint64_t events = 0, processes = 0;
    for (size_t i = 0; i < m->readers.count; i++) {
        events += wake_reader_summary(m->readers.data[i])->events;
        processes += wake_reader_process_count(m->readers.data[i]);
    }
    strbuf_init(&out);
    safe_add_text(&out, m->output);
    strbuf_addf(&out, ": %s recording%s", units_count(text, m->files.count), m->files.count == 1 ? "" : "s");
    strbuf_addf(&out, ", %s process%s", units_count(text, processes), processes == 1 ? "" : "es");
    strbuf_addf(&out, ", %s event%s.\n", units_count(text, events), units_plural(events));
    bool done = command_print(&out);
    strbuf_release(&out);
    return done;
}

static int merge_run(const struct command *self, int argc, char **argv)
{
    struct merge m = {0};
    struct interactive_query i = {0};
    struct err err;
    err_init(&err);
    int code = options_parse(self, &m, argc, argv, NULL, &err);
    if (code == 0)
        code = merge_agree(&m, &err);
    if (code == 0) {
        command_bear_limits();
        interactive_query_begin(&i);
        code = merge_open(&m, &i, &err);
        if (code == 0)
            code = merge_write(&m, &i, &err);
        interactive_query_end(&i);
    }
    for (size_t k = 0; k < m.readers.count; k++)
        interactive_query_warn(m.readers.data[k], m.files.data[k]);
    if (code != 0 && err.text[0] != '\0')
        command_say("%s", err.text);
    int status = code == ERR_USAGE ? EXIT_USAGE : code == 0 && merge_tell(&m) ? EXIT_DONE : EXIT_FAILED;
    for (size_t k = 0; k < m.sessions.count; k++)
        session_close(m.sessions.data[k]);
    vec_release(&m.sessions);
    vec_release(&m.readers);
    vec_release(&m.files);
    return status;
}

static const struct option merge_options[] = {
    {.names = "-o, --output",
     .argument = "NEW",
     .help = "name of the new recording",
     .set = options_set_text,
     .at = offsetof(struct merge, output)},
    {0},
};

const struct command command_merge = {
    .name = "merge",
    .summary = "put several recordings into one",
    .usage = "FILE... -o NEW",
    .options = merge_options,
    .notes = "The new recording has all processes of the others, on one clock.",
    .run = merge_run,
    .take = merge_take,
};
