/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * merge: several recordings in one file, on one clock.
 */
#include "cmd/asking.h"
#include "cmd/command.h"
#include "cmd/duplicates.h"
#include "cmd/unfinished.h"
#include "present/safe.h"
#include "present/units.h"
#include "store/splice.h"

struct merge {
    const char *output;
    VEC(const char *) files;
    VEC(struct wake_reader *) readers;
};

static int merge_take(void *options, char *word, struct err *err)
{
    struct merge *m = options;
    return vec_push(&m->files, word) ? 0
                                     : err_set(err, ERR_MEMORY, "There is no memory for the names of files.");
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

/* All are open at once: the earliest begins the new one. */
static int merge_open(struct merge *m, struct asking *a, struct err *err)
{
    for (size_t i = 0; i < m->files.count; i++) {
        struct wake_reader *r = asking_open(a, m->files.data[i], err);
        if (r == NULL)
            return err->code != 0 ? err->code : ERR_INPUT;
        if (!vec_push(&m->readers, r)) {
            wake_reader_close(r);
            return err_set(err, ERR_MEMORY, "There is no memory for the recordings.");
        }
        wake_reader_rest(r);
    }
    return 0;
}

static int merge_write(const struct merge *m, struct asking *a, struct err *err)
{
    struct wake_splice *splice = NULL;
    struct err ignored;
    err_init(&ignored);
    int code =
        wake_splice_open(&splice, m->output, wake_splice_earliest(m->readers.data, m->readers.count), err);
    if (code != 0)
        return code;
    unfinished_guard(wake_splice_get_temp(splice));
    wake_splice_heed(splice, asking_is_interrupted);
    for (size_t i = 0; i < m->readers.count && code == 0; i++) {
        progress_watch(&a->progress, m->readers.data[i], "Copying", 1);
        code = wake_splice_add(splice, m->readers.data[i], NULL, err);
        wake_reader_rest(m->readers.data[i]);
    }
    unfinished_settle();
    int closed = wake_splice_close(splice, code == 0, code == 0 ? err : &ignored);
    unfinished_leave();
    return code != 0 ? code : closed;
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
    struct asking asking = {0};
    struct err err;
    err_init(&err);
    int code = options_parse(self, &m, argc, argv, NULL, &err);
    if (code == 0)
        code = merge_agree(&m, &err);
    if (code == 0) {
        command_bear_limits();
        asking_begin(&asking);
        code = merge_open(&m, &asking, &err);
        if (code == 0)
            code = merge_write(&m, &asking, &err);
        asking_end(&asking);
    }
    for (size_t i = 0; i < m.readers.count; i++)
        asking_warn(m.readers.data[i], m.files.data[i]);
    if (code != 0 && err.text[0] != '\0')
        command_say("%s", err.text);
    int status = code == ERR_USAGE ? EXIT_USAGE : code == 0 && merge_tell(&m) ? EXIT_DONE : EXIT_FAILED;
    for (size_t i = 0; i < m.readers.count; i++)
        wake_reader_close(m.readers.data[i]);
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
