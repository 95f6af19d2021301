/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * finish: see finish.h.
 */
#include "cmd/finish.h"

#include "cmd/progress.h"
#include "collect/timebase.h"
#include "symbol/symbolize_file.h"

#include <stdio.h>
#include <string.h>

#define FINISH_PATIENCE_NS UINT64_C(1500000000) /* before it is said what takes so long */

bool finish_wants_names(const char *value)
{
    return value == NULL || strcmp(value, "0") != 0;
}

bool finish_wants_binaries(const char *value)
{
    return value != NULL && strcmp(value, "1") == 0;
}

/* ------------------------------------------------------------- a collector */

struct finish_round {
    struct symbolize_file file;
    const struct collector_options *options;
    struct naming *naming;
    struct launch *launch;
    unsigned asked; /* how often it has been asked to leave that needs no answer any more */
    uint64_t start_ns;
    bool notice;
    struct progress progress;
};

static void finish_progress(void *of, const char *what, uint64_t done, uint64_t total)
{
    progress_update(of, what, done, total);
}

/* A finish's `say`: on the terminal not behind the line of progress. */
static void finish_say(void *of, enum level level, const char *sentence)
{
    struct finish_round *round = of;
    progress_clear(&round->progress);
    round->options->say(round->options->say_of, level, sentence);
}

/* SIGTERM counts twice: it ends the waiting for a server and the search. */
static unsigned finish_count(const struct launch *l)
{
    return 2 * l->terms + l->interrupts;
}

static bool finish_is_stopped(void *of)
{
    struct finish_round *round = of;
    launch_take_signals(round->launch);
    if (round->notice && timebase_now() - round->start_ns > FINISH_PATIENCE_NS) {
        round->notice = false;
        finish_say(round, LEVEL_WARN,
                   "Looking up the names of functions; Ctrl-C leaves the rest to 'heapwake symbolize'.");
    }
    bool is_asked = finish_count(round->launch) > round->asked;
    round->asked += is_asked;
    return is_asked;
}

static void finish_closed(void *of, const char *path)
{
    struct finish_round *round = of;
    struct err err;
    err_init(&err);
    if (round->naming != NULL && !naming_is_stopped(round->naming) &&
        symbolize_file_run(&round->file, round->naming, path, &err) != 0)
        finish_say(round, LEVEL_WARN, err.text);
}

void finish_collector(struct collector *c, bool names, bool embeds, bool notice)
{
    struct err err;
    struct finish_round round = {
        .file = {.names = names, .embeds = embeds, .say = finish_say},
        .options = &c->options,
        .launch = c->launch,
        .asked = finish_count(c->launch),
        .start_ns = timebase_now(),
        .notice = notice,
    };
    round.file.say_of = &round;
    round.file.naming.is_stopped = finish_is_stopped;
    round.file.naming.is_stopped_of = &round;
    /* Who has sent SIGTERM (mpirun, timeout -k, a batch system) may send SIGKILL next, in the middle of the search. */
    if (c->launch->is_asked || c->leavers.count != 0)
        output_publish_all(&c->output);
    leaver_answer(c);
    progress_begin(&round.progress);
    if (notice) {
        round.file.naming.progress = finish_progress;
        round.file.naming.progress_of = &round.progress;
    }
    err_init(&err);
    /* Whoever asked to leave is not kept waiting. */
    bool is_wanted = (names || embeds) && !c->launch->leave;
    if (is_wanted) {
        round.naming = naming_open(&round.file.naming, &err);
        if (round.naming == NULL)
            c->options.say(c->options.say_of, LEVEL_WARN, err.text);
    }
    output_finish(&c->output, is_wanted ? finish_closed : NULL, &round);
    progress_end(&round.progress);
    if (round.naming != NULL && !naming_is_stopped(round.naming) &&
        naming_get_remark(round.naming)[0] != '\0')
        c->options.say(c->options.say_of, LEVEL_WARN, naming_get_remark(round.naming));
    naming_close(round.naming);
}
