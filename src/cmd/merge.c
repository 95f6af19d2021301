/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * merge: several recordings in one file, on one clock.
 */
#include "cmd/asking.h"
#include "cmd/command.h"
#include "cmd/duplicates.h"
#include "cmd/guess.h"
#include "cmd/unfinished.h"
#include "present/safe.h"
#include "present/units.h"
#include "store/splice.h"

struct merge {
    const char *output;
    VEC(const char *) files;
    VEC(struct wake_reader *) readers;
};

static int merge_take(struct merge *m, int argc, char **argv, struct err *err)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (command_option(argv, &i, "-o", &value) || command_option(argv, &i, "--output", &value))
            m->output = value;
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            return guess_option("merge", argv[i], err);
        else if (!vec_push(&m->files, argv[i]))
            return err_set(err, ERR_MEMORY, "There is no memory for the names of files.");
    }
    if (m->files.count == 0 || m->output == NULL || m->output[0] == '\0')
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

int command_merge(int argc, char **argv)
{
    struct merge m = {0};
    struct asking asking = {0};
    struct err err;
    err_init(&err);
    int code = merge_take(&m, argc, argv, &err);
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
