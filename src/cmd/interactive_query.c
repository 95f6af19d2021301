/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * interactive_query: see interactive_query.h.
 */
#include "cmd/interactive_query.h"

#include "cmd/command.h"
#include "cmd/fatal_signal.h"
#include "cmd/finish.h"
#include "cmd/recording_file.h"
#include "present/caveat_text.h"

#include <stdlib.h>

static volatile sig_atomic_t interactive_query_presses; /* that nothing else has answered */
static struct ask *volatile interactive_query_ask;      /* what a press cancels; NULL: nothing */

static void interactive_query_take_interrupt(int signal)
{
    if (interactive_query_ask != NULL)
        ask_cancel(interactive_query_ask);
    if (++interactive_query_presses < FATAL_SIGNAL_PRESSES)
        return;
    fatal_signal_wipe();
    fatal_signal_of(signal);
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

void interactive_query_say_caveat(const struct caveat *c, const char *subject)
{
    struct strbuf text;
    strbuf_init(&text);
    caveat_text_add(&text, c, subject);
    command_say("%s.", strbuf_get(&text));
    strbuf_release(&text);
}

/* Those that were not said before. */
static void interactive_query_tell(struct interactive_query *i, const struct caveats *found)
{
    for (enum caveat_kind kind = 0; kind < CAVEAT_COUNT; kind++) {
        const struct caveat *c = caveats_find(found, kind);
        if (c != NULL && caveats_find(&i->told, kind) == NULL)
            interactive_query_say_caveat(c, "");
    }
    caveats_join(&i->told, found);
}

void interactive_query_tell_begin(struct interactive_query *i, const struct wake_reader *r, const char *what)
{
    struct caveats found = {0};
    caveats_of_series(&found, r, what);
    interactive_query_tell(i, &found);
}

void interactive_query_tell_moments(struct interactive_query *i, const struct query *query,
                                    const struct wake_reader *r, const struct query_result *result)
{
    struct caveats found = {0};
    caveats_of_moments(&found, query, result, r);
    interactive_query_tell(i, &found);
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
    struct caveats found = {0};
    caveats_of_reader(&found, r);
    if (caveats_find(&found, CAVEAT_DAMAGED) != NULL) /* which is why it has no end, perhaps */
        interactive_query_say_caveat(caveats_find(&found, CAVEAT_DAMAGED), path);
    else if (caveats_find(&found, CAVEAT_UNCLOSED) != NULL)
        interactive_query_say_caveat(caveats_find(&found, CAVEAT_UNCLOSED), path);
}
