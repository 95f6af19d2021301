/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * replaying: `heapwake replay`: what a program did, done again with other
 * allocators.
 */
#include "cmd/allocators.h"
#include "cmd/command.h"
#include "cmd/interactive_query.h"
#include "cmd/playing.h"
#include "cmd/recording_file.h"
#include "cmd/screen.h"
#include "engine/quantity.h"
#include "present/section_replay.h"
#include "present/units.h"
#include "tool/arena.h"
#include "tool/file.h"

#include <string.h>

enum { REPLAYING_RUNS_MAX = 1000 };

struct replaying {
    const char *file;
    VEC(const char *) names; /* of allocators: known ones, or files */
    struct arena arena;      /* the names */
    struct options_count process, pid;
    uint64_t runs;
    bool json;
    unsigned touch; /* enum score_touch */
    VEC(struct replay_row) rows;
    size_t failures; /* plays that did not come to their end */
};

/* What is played, and to whom. */
struct replaying_piece {
    int score;
    bool has_threads;
    const char *name, *file; /* of the allocator; file NULL = libc's own */
};

static const char *const replaying_touches[] = {"none", "first", "all"};

/* ----------------------------------------------------------------- options */

static int replaying_set_names(void *to, const struct option *option, const char *list, struct err *err)
{
    struct replaying *o = to;
    (void)option;
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        const char *name = arena_push_text(&o->arena, list, length);
        if (name == NULL || !vec_push(&o->names, name))
            return err_no_memory(err);
        if (strchr(name, '/') == NULL && allocators_find(name) == NULL)
            return err_set(
                err, ERR_USAGE,
                "There is no allocator '%s'; there are glibc, jemalloc, tcmalloc and mimalloc, and "
                "any file whose name has a slash.",
                name);
        list += length;
        list += *list == ',';
    }
    return 0;
}

static void replaying_add_names(struct strbuf *words)
{
    for (const struct allocator *a = allocators_list; a->name != NULL; a++)
        strbuf_addf(words, "%s\n", a->name);
}

static int replaying_set_process(void *to, const struct option *o, const char *value, struct err *err)
{
    struct options_count *process = to;
    int code = options_set_count(to, o, value, NULL);
    if (code == 0 && process->value != 0)
        return 0;
    return err_set(err, ERR_USAGE, "--process takes a number from 1 on, not '%s'.", value);
}

static int replaying_set_runs(void *to, const struct option *o, const char *value, struct err *err)
{
    uint64_t *runs = to;
    (void)o;
    if (quantity_count(value, runs) && *runs != 0 && *runs <= REPLAYING_RUNS_MAX)
        return 0;
    return err_set(err, ERR_USAGE, "--runs takes a number from 1 to %d, not '%s'.", REPLAYING_RUNS_MAX,
                   value);
}

static int replaying_take(void *options, char *word, struct err *err)
{
    struct replaying *o = options;
    return command_take_recording(&command_replay, &o->file, word, err);
}

/* All allocators, if none is named. */
static int replaying_agree(struct replaying *o, struct err *err)
{
    bool all = o->names.count == 0;
    int code = command_needs_recording(&command_replay, o->file, err);
    for (const struct allocator *a = allocators_list; code == 0 && all && a->name != NULL; a++) {
        if (!vec_push(&o->names, a->name))
            return err_no_memory(err);
    }
    return code;
}

/* ----------------------------------------------------------------- playing */

static int replaying_choose(const struct replaying *o, const struct wake_reader *r, size_t *process,
                            struct err *err)
{
    size_t count = wake_reader_process_count(r);
    *process = o->process.is_given ? (size_t)o->process.value - 1 : replay_script_choose(r);
    if (count == 0)
        return err_set(err, ERR_ABSENT, "%s holds no process: there is nothing to replay.", o->file);
    if (*process >= count)
        return err_set(err, ERR_ABSENT, "%s has %zu process%s: --process goes up to that.", o->file, count,
                       count == 1 ? "" : "es");
    if (!o->pid.is_given)
        return 0;
    /* After an exec several have its number: the one with most to play. */
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        if (p->info.pid == o->pid.value &&
            (best == count || p->events > wake_reader_process(r, best)->events))
            best = i;
    }
    *process = best;
    return best < count ? 0
                        : err_set(err, ERR_ABSENT, "There is no process %llu in the recording.",
                                  (unsigned long long)o->pid.value);
}

/* One play.  False: it did not come to its end; it has been said why, or *is_absent. */
static bool replaying_play_once(struct replaying *o, const struct replaying_piece *piece,
                                enum score_lead lead, struct score_result *result, bool *is_absent)
{
    struct err err;
    err_init(&err);
    int code = playing_run(piece->score, o->touch, lead, piece->file, result, &err);
    *is_absent = code == 0 && result->outcome == SCORE_NOT_LOADED;
    if (code == 0 && (result->outcome == SCORE_PLAYED || *is_absent))
        return !*is_absent;
    o->failures++;
    if (code == ERR_ABSENT)
        command_say("%s", err.text);
    else
        command_say("The play with %s failed: %s.", piece->name,
                    code != 0 ? err.text : playing_describe(result));
    return false;
}

/* The quickest of so many plays.  Where there are threads, times are those of threads that run
 * freely, and memory that of a play in which they keep together. */
static bool replaying_play(struct replaying *o, const struct replaying_piece *piece,
                           struct score_result *best, bool *is_absent)
{
    struct score_result together = {0};
    for (uint64_t i = 0; i < o->runs; i++) {
        struct score_result result = {0};
        if (!replaying_play_once(o, piece, SCORE_LEAD_FREE, &result, is_absent))
            return false;
        if (i == 0 || result.cpu_ns < best->cpu_ns)
            *best = result;
    }
    if (!piece->has_threads)
        return true;
    if (!replaying_play_once(o, piece, SCORE_LEAD_TOGETHER, &together, is_absent)) {
        best->outcome = 0;
        return false;
    }
    best->peak_rss_bytes = together.peak_rss_bytes;
    best->own_rss_bytes = together.own_rss_bytes;
    return true;
}

static void replaying_play_known(struct replaying *o, struct replaying_piece piece, const struct allocator *a,
                                 struct replay_row *row)
{
    struct strbuf missing;
    bool is_absent;
    if (a->files[0] == NULL) {
        (void)replaying_play(o, &piece, &row->result, &is_absent);
        return;
    }
    strbuf_init(&missing);
    for (size_t i = 0; i < ALLOCATORS_FILES_MAX && a->files[i] != NULL; i++) {
        piece.file = a->files[i];
        bool played = replaying_play(o, &piece, &row->result, &is_absent);
        if (played || !is_absent) {
            strbuf_release(&missing);
            return;
        }
        strbuf_addf(&missing, "%s%s", i == 0 ? "" : ", ", a->files[i]);
    }
    command_say("%s is not installed here: the loader finds none of %s.", a->name, strbuf_get(&missing));
    strbuf_release(&missing);
}

static int replaying_play_all(struct replaying *o, int score, bool has_threads, struct err *err)
{
    for (size_t i = 0; i < o->names.count; i++) {
        struct replay_row row = {.name = o->names.data[i]};
        struct replaying_piece piece = {score, has_threads, row.name, NULL};
        const struct allocator *a = allocators_find(row.name);
        bool is_absent;
        if (a != NULL) {
            replaying_play_known(o, piece, a, &row);
        } else {
            piece.file = row.name;
            if (!replaying_play(o, &piece, &row.result, &is_absent) && is_absent)
                command_say("The loader cannot load %s.", row.name);
        }
        if (!vec_push(&o->rows, row))
            return err_no_memory(err);
    }
    return 0;
}

/* A play that takes more than there is would have the system end some other program.  Threads that run
 * freely take up to twice as much as was recorded. */
static int replaying_check_room(const struct replaying *o, const struct replay_script *c, struct err *err)
{
    char need[UNITS_MAX], have[UNITS_MAX];
    uint64_t available = playing_available(), most = c->parts.count > 1 ? available / 2 : available;
    if (o->touch != SCORE_TOUCH_ALL || c->peak_bytes <= most)
        return 0;
    return err_set(err, ERR_LIMIT,
                   "The program held %s at once and there are %s here; '--touch first' plays without filling "
                   "the blocks.",
                   units_bytes(need, c->peak_bytes), units_bytes(have, available));
}

/* ----------------------------------------------------------------- showing */

static bool replaying_show(const struct replaying *o, const struct section_replay *s)
{
    struct strbuf out;
    struct page page;
    struct json j;
    strbuf_init(&out);
    if (o->json) {
        json_init(&j, &out);
        json_open_object(&j, NULL);
        json_add_text(&j, "heapwake", HEAPWAKE_VERSION, strlen(HEAPWAKE_VERSION));
        section_replay_json(&j, s);
        json_close_object(&j);
    } else {
        screen_init(&page, &out);
        section_replay_text(&page, s);
    }
    bool done = command_print(&out);
    strbuf_release(&out);
    return done;
}

/* A play is of the events in the file, and those may not be all that there were. */
static void replaying_warn(const struct wake_process *p)
{
    if (p->end.made_up)
        command_say("The recording was imported from sums: its blocks, and so this play, are made up.");
    if (p->omitted.sample_rate != 0)
        command_say(
            "The recording has samples only: this is a play of those, and tells little about the program.");
    if (p->omitted.is_culled)
        command_say("Blocks that lived shortly were left out of the recording: they are not played.");
    if (p->omitted.is_limited)
        command_say("The recording has no events from where it reached its size: they are not played.");
}

static int replaying_run(struct replaying *o, struct wake_reader *r, struct err *err)
{
    struct replay_script compose;
    size_t process, played = 0;
    int score = -1;
    replay_script_init(&compose);
    int code = replaying_choose(o, r, &process, err);
    if (code == 0) {
        code = replay_script_read(&compose, r, process, err);
        interactive_query_warn(r, o->file);
    }
    if (code == 0)
        code = replaying_check_room(o, &compose, err);
    if (code == 0)
        code = playing_write_score(&score, &compose, r, err);
    if (code == 0)
        code = replaying_play_all(o, score, compose.parts.count > 1, err);
    for (size_t i = 0; i < o->rows.count; i++)
        played += o->rows.data[i].result.outcome == SCORE_PLAYED;
    if (code == 0 && played > 0) {
        const struct section_replay s = {&compose, wake_reader_process(r, process)->info.pid,
                                         replaying_touches[o->touch], o->rows.data, o->rows.count};
        replaying_warn(wake_reader_process(r, process));
        code = replaying_show(o, &s) ? 0 : ERR_IO;
    }
    if (code == 0 && (played == 0 || o->failures > 0))
        code = ERR_SYSTEM;
    file_close(score);
    replay_script_release(&compose);
    return code;
}

static int replaying_main(const struct command *self, int argc, char **argv)
{
    struct replaying o = {.runs = 1, .touch = SCORE_TOUCH_ALL};
    struct err err;
    err_init(&err);
    arena_init(&o.arena);
    command_bear_limits();
    int code = options_parse(self, &o, argc, argv, NULL, &err);
    if (code == 0)
        code = replaying_agree(&o, &err);
    struct wake_reader *r = code == 0 ? recording_file_open(o.file) : NULL;
    if (code == 0)
        code = r == NULL ? ERR_INPUT : replaying_run(&o, r, &err);
    if (code != 0 && err.text[0] != '\0')
        command_say("%s", err.text);
    wake_reader_close(r);
    vec_release(&o.names);
    vec_release(&o.rows);
    arena_release(&o.arena);
    return code == 0 ? EXIT_DONE : code == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

static const struct option replaying_options[] = {
    {.names = "--allocators",
     .argument = "A,B,...",
     .help = "glibc, jemalloc, tcmalloc, mimalloc, or files with a slash in their name (default: all four, "
             "as far as "
             "they are installed)",
     .set = replaying_set_names,
     .add_words = replaying_add_names},
    {.names = "--process",
     .argument = "N",
     .help = "which process, as 'heapwake info' counts them (default: that with most events)",
     .set = replaying_set_process,
     .at = offsetof(struct replaying, process)},
    {.names = "--pid",
     .argument = "PID",
     .help = "the same by its process id",
     .set = options_set_count,
     .at = offsetof(struct replaying, pid)},
    {.names = "--touch",
     .argument = "none|first|all",
     .help = "write to no byte of each block, to its first one, or to one of every page (default all)",
     .set = options_set_choice,
     .at = offsetof(struct replaying, touch)},
    {.names = "--runs",
     .argument = "N",
     .help = "play N times; the quickest counts",
     .set = replaying_set_runs,
     .at = offsetof(struct replaying, runs)},
    {.names = "--json",
     .help = "the same as JSON",
     .set = options_set_flag,
     .at = offsetof(struct replaying, json)},
    {0},
};

const struct command command_replay = {
    .name = "replay",
    .summary = "do what the program did again, with other allocators",
    .usage = "[OPTION...] FILE",
    .options = replaying_options,
    .notes = "Time in the allocator, peak RSS, and RSS for each byte that was live, side by side.",
    .run = replaying_main,
    .take = replaying_take,
};
