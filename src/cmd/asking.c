/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * asking: see asking.h.
 */
#include "cmd/asking.h"

#include "cmd/command.h"
#include "cmd/dying.h"
#include "cmd/finish.h"
#include "cmd/recording_file.h"
#include "present/units.h"
#include "symbol/naming.h"

#include <stdlib.h>

static volatile sig_atomic_t asking_interrupt; /* presses that nobody has answered otherwise */

static void asking_take_interrupt(int signal)
{
    if (++asking_interrupt < DYING_PRESSES)
        return;
    dying_wipe();
    dying_of(signal);
}

bool asking_is_interrupted(void)
{
    return asking_interrupt != 0;
}

/* Ctrl-C that ends the waiting for a server does not end the reading. */
static bool asking_is_stopped(void *of)
{
    (void)of;
    bool is_asked = asking_interrupt != 0;
    asking_interrupt = 0;
    return is_asked;
}

void asking_begin(struct asking *a)
{
    struct sigaction interrupt = {.sa_handler = asking_take_interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &interrupt, &a->before);
    progress_begin(&a->progress);
}

void asking_end(struct asking *a)
{
    progress_end(&a->progress);
    sigaction(SIGINT, &a->before, NULL);
}

static void asking_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(context, "Reading events", done, total);
}

static void asking_progress_of_names(void *context, const char *what, uint64_t done, uint64_t total)
{
    progress_update(context, what, done, total);
}

static const struct name_place *asking_find_place(void *context, uint32_t process,
                                                  const struct wake_node *node)
{
    return wake_reader_name(context, process, node);
}

static int asking_name(struct asking *a, struct wake_reader *r, struct err *err)
{
    struct names *names = wake_reader_names(r);
    if (names == NULL)
        return err_set(err, ERR_MEMORY, "There is no memory for the names.");
    for (uint32_t i = 1; i <= names_image_count(names); i++) {
        if (names_get_image(names, i)->source != NAME_SOURCE_NONE)
            return 0;
    }
    if (!finish_wants_names(getenv("HEAPWAKE_SYMBOLS")))
        return 0;
    const struct naming_options options = {
        .is_stopped = asking_is_stopped, .progress = asking_progress_of_names, .progress_of = &a->progress};
    struct naming *n = naming_open(&options, err);
    struct err why;
    err_init(&why);
    int code = n == NULL ? ERR_MEMORY : naming_resolve(n, r, &why);
    if (n != NULL && naming_is_stopped(n))
        asking_interrupt = 1;
    else if (n != NULL && naming_get_remark(n)[0] != '\0')
        command_say("%s", naming_get_remark(n));
    naming_close(n);
    if (n != NULL && code != 0)
        err_set(err, code, "%s HEAPWAKE_SYMBOLS=0 shows addresses instead of names.", why.text);
    return code;
}

/* r: NULL, or gets its names; NULL, and closed: there is no memory for them. */
static struct wake_reader *asking_named(struct asking *a, struct wake_reader *r, struct err *err)
{
    if (r != NULL && asking_name(a, r, err) != 0) {
        wake_reader_close(r);
        r = NULL;
    }
    return r;
}

struct wake_reader *asking_open(struct asking *a, const char *path, struct err *err)
{
    return asking_named(a, recording_file_open(path), err);
}

struct wake_reader *asking_open_series(struct asking *a, const char *const *paths, size_t count,
                                       struct err *err)
{
    return asking_named(a, recording_file_open_series(paths, count), err);
}

void asking_prepare(struct asking *a, struct query *ready, const struct query *query, struct wake_reader *r)
{
    *ready = *query;
    ready->find_place = asking_find_place;
    ready->place_context = r;
    ready->progress = asking_progress;
    ready->progress_context = &a->progress;
    ready->interrupt = &asking_interrupt;
    ready->has_afterwards = a->has_several;
}

/* A moment behind the end is the end: says so. */
static void asking_tell_end(struct asking *a, uint64_t end_ns)
{
    char text[UNITS_MAX];
    if (!a->has_said_end)
        command_say("The recording ends at %s: a later moment is taken as that.", units_time(text, end_ns));
    a->has_said_end = true;
}

/* Where a later file of a series begins; 0 = it is none. */
static uint64_t asking_find_begin(const struct wake_reader *r)
{
    uint64_t begin = UINT64_MAX;
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        begin = p->carried_ns != 0 && p->carried_ns < begin ? p->carried_ns : begin;
    }
    return begin == UINT64_MAX ? 0 : begin;
}

void asking_tell_begin(struct asking *a, const struct wake_reader *r, const char *what)
{
    char text[UNITS_MAX];
    uint64_t begin_ns = asking_find_begin(r);
    if (begin_ns == 0)
        return;
    if (!a->has_said_end)
        command_say(
            "This file of a series begins at %s: what was %s before is in earlier ones. Name them too.",
            units_time(text, begin_ns), what);
    a->has_said_end = true;
}

/* What is live is asked of events that end before the program does. */
static void asking_tell_limit(struct asking *a, const struct query *query, const struct query_result *result)
{
    char text[UNITS_MAX];
    bool is_behind = query->moment.when != WHEN_UNSET && result->moment_ns >= result->limit_ns;
    if (result->limit_ns == 0 || !(is_behind || result->fates_end) || a->has_said_limit)
        return;
    command_say("The file was full at %s: what was live then counts as live at all later moments.",
                units_time(text, result->limit_ns));
    a->has_said_limit = true;
}

void asking_tell_moments(struct asking *a, const struct query *query, const struct wake_reader *r,
                         const struct query_result *result)
{
    bool has_moment = query->moment.when == WHEN_NS || query->moment.when == WHEN_DATE;
    if (result->later_ns != 0)
        asking_tell_end(a, result->later_ns);
    else if (has_moment && result->moment_ns < asking_find_begin(r))
        asking_tell_begin(a, r, "live");
    asking_tell_limit(a, query, result);
}

int asking_run(struct asking *a, const struct query *query, struct wake_reader *r,
               struct query_result *result, struct err *err)
{
    struct query q;
    asking_prepare(a, &q, query, r);
    int code = query_run(&q, r, result, err);
    if (code == 0)
        asking_tell_moments(a, query, r, result);
    return code;
}

void asking_warn(const struct wake_reader *r, const char *path)
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
