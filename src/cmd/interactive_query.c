/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * interactive_query: see interactive_query.h.
 */
#include "cmd/interactive_query.h"

#include "cmd/command.h"
#include "cmd/dying.h"
#include "cmd/finish.h"
#include "cmd/recording_file.h"
#include "present/units.h"

#include <stdlib.h>

static volatile sig_atomic_t interactive_query_presses; /* that nothing else has answered */
static struct ask *volatile interactive_query_ask;      /* what a press cancels; NULL: nothing */

static void interactive_query_take_interrupt(int signal)
{
    if (interactive_query_ask != NULL)
        ask_cancel(interactive_query_ask);
    if (++interactive_query_presses < DYING_PRESSES)
        return;
    dying_wipe();
    dying_of(signal);
}

bool interactive_query_is_interrupted(void)
{
    return interactive_query_presses != 0;
}

static void interactive_query_show(void *of, uint64_t done, uint64_t total)
{
    progress_update(of, "Reading events", done, total);
}

void interactive_query_begin(struct interactive_query *i)
{
    struct sigaction interrupt = {.sa_handler = interactive_query_take_interrupt, .sa_flags = SA_RESTART};
    ask_init(&i->ask);
    i->ask.progress = interactive_query_show;
    i->ask.progress_of = &i->progress;
    if (interactive_query_is_interrupted())
        ask_cancel(&i->ask);
    interactive_query_ask = &i->ask;
    sigaction(SIGINT, &interrupt, &i->before);
    progress_begin(&i->progress);
}

void interactive_query_end(struct interactive_query *i)
{
    progress_end(&i->progress);
    sigaction(SIGINT, &i->before, NULL);
    interactive_query_ask = NULL;
}

/* --------------------------------------------------------------------- opening */

/* Ctrl-C that ends the waiting for a server does not end the reading. */
static bool interactive_query_stops_naming(void *of)
{
    struct interactive_query *i = of;
    bool is_asked = interactive_query_presses != 0;
    interactive_query_presses = 0;
    i->ask.is_cancelled = 0;
    return is_asked;
}

static void interactive_query_show_names(void *of, const char *what, uint64_t done, uint64_t total)
{
    struct interactive_query *i = of;
    progress_update(&i->progress, what, done, total);
}

static void interactive_query_say(void *of, const char *sentence)
{
    (void)of;
    command_say("%s", sentence);
}

int interactive_query_open_with(struct interactive_query *i, struct session **s, const char *const *paths,
                                size_t count, struct session_options options, struct err *err)
{
    options.finds_names = finish_wants_names(getenv("HEAPWAKE_SYMBOLS"));
    options.is_stopped = interactive_query_stops_naming;
    options.progress = interactive_query_show_names;
    options.say = interactive_query_say;
    options.explain = recording_file_explain;
    options.of = i;
    int code = session_open(s, paths, count, &options, err);
    if (code == 0 && session_is_partly_named(*s)) {
        interactive_query_presses = 1;
        ask_cancel(&i->ask);
    }
    return code;
}

int interactive_query_open(struct interactive_query *i, struct session **s, const char *const *paths,
                           size_t count, struct err *err)
{
    return interactive_query_open_with(i, s, paths, count, (struct session_options){0}, err);
}

/* ---------------------------------------------------------------------- asking */

/* A moment behind the end is the end: says so. */
static void interactive_query_tell_end(struct interactive_query *i, uint64_t end_ns)
{
    char text[UNITS_MAX];
    if (!i->has_said_end)
        command_say("The recording ends at %s: a later moment is taken as that.", units_time(text, end_ns));
    i->has_said_end = true;
}

/* Where a later file of a series begins; 0 = it is none. */
static uint64_t interactive_query_find_begin(const struct wake_reader *r)
{
    uint64_t begin = UINT64_MAX;
    for (size_t k = 0; k < wake_reader_process_count(r); k++) {
        const struct wake_process *p = wake_reader_process(r, k);
        begin = p->carried_ns != 0 && p->carried_ns < begin ? p->carried_ns : begin;
    }
    return begin == UINT64_MAX ? 0 : begin;
}

void interactive_query_tell_begin(struct interactive_query *i, const struct wake_reader *r, const char *what)
{
    char text[UNITS_MAX];
    uint64_t begin_ns = interactive_query_find_begin(r);
    if (begin_ns == 0)
        return;
    if (!i->has_said_end)
        command_say(
            "This file of a series begins at %s: what was %s before is in earlier ones. Name them too.",
            units_time(text, begin_ns), what);
    i->has_said_end = true;
}

/* What is live is asked of events that end before the program does. */
static void interactive_query_tell_limit(struct interactive_query *i, const struct query *query,
                                         const struct query_result *result)
{
    char text[UNITS_MAX];
    bool is_behind = query->moment.when != WHEN_UNSET && result->moment_ns >= result->limit_ns;
    if (result->limit_ns == 0 || !(is_behind || result->fates_end) || i->has_said_limit)
        return;
    command_say("The file was full at %s: what was live then counts as live at all later moments.",
                units_time(text, result->limit_ns));
    i->has_said_limit = true;
}

void interactive_query_tell_moments(struct interactive_query *i, const struct query *query,
                                    const struct wake_reader *r, const struct query_result *result)
{
    bool has_moment = query->moment.when == WHEN_NS || query->moment.when == WHEN_DATE;
    if (result->later_ns != 0)
        interactive_query_tell_end(i, result->later_ns);
    else if (has_moment && result->moment_ns < interactive_query_find_begin(r))
        interactive_query_tell_begin(i, r, "live");
    interactive_query_tell_limit(i, query, result);
}

int interactive_query_run(struct interactive_query *i, struct session *s, size_t recording,
                          const struct query *query, struct query_result *result, struct err *err)
{
    int code = session_ask_one(s, recording, query, &i->ask, result, err);
    if (code == 0)
        interactive_query_tell_moments(i, query, session_reader(s, recording), result);
    return code;
}

void interactive_query_warn(const struct wake_reader *r, const char *path)
{
    size_t damages = wake_reader_damage_count(r);
    if (damages > 1)
        command_say(
            "%s: %s That is one of %zu damages, which 'heapwake verify' names; shown is what is sound.", path,
            wake_reader_damage(r, 0)->text, damages);
    else if (damages == 1)
        command_say("%s: %s Shown is what is sound.", path, wake_reader_damage(r, 0)->text);
    else if (!wake_reader_summary(r)->closed)
        command_say(
            "%s was not closed by its recorder: it is still being made, or was cut. Shown is what is in it.",
            path);
}
