/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * session: keeps readers open, and sees to it that no question is asked while they change.
 *
 * Invariants
 *  1. Names are read, and looked up if that is wanted, while a recording is opened or refreshed: a question finds
 *     them there and changes nothing in a reader.
 *  2. Questions hold the lock for reading, a refresh holds it for writing.
 */
#include "session/session.h"

#include "engine/combine.h"
#include "engine/ledger.h"
#include "session/recording_input.h"
#include "session/series_files.h"
#include "symbol/naming.h"
#include "tool/memory.h"
#include "tool/vec.h"

#include <pthread.h>
#include <stdlib.h>

struct session_recording {
    struct wake_reader *reader;
    const char *path;
    uint32_t base;
};

struct session {
    struct session_options options;
    pthread_rwlock_t lock;
    VEC(struct session_recording) list;
    uint64_t generation;
    bool is_partly_named;
};

/* ----------------------------------------------------------------------- names */

static bool session_is_named(struct names *names)
{
    for (uint32_t i = 1; i <= names_image_count(names); i++) {
        if (names_get_image(names, i)->source != NAME_SOURCE_NONE)
            return true;
    }
    return false;
}

static int session_find_names(struct session *s, struct wake_reader *r, struct err *err)
{
    const struct session_options *o = &s->options;
    const struct naming_options options = {
        .is_stopped = o->is_stopped, .is_stopped_of = o->of, .progress = o->progress, .progress_of = o->of};
    struct err why;
    err_init(&why);
    struct naming *n = naming_open(&options, err);
    if (n == NULL)
        return ERR_MEMORY;
    int code = naming_resolve(n, r, &why);
    s->is_partly_named |= naming_is_stopped(n);
    if (!naming_is_stopped(n) && naming_get_remark(n)[0] != '\0' && o->say != NULL)
        o->say(o->of, naming_get_remark(n));
    naming_close(n);
    return code == 0
               ? 0
               : err_set(err, code, "%s HEAPWAKE_SYMBOLS=0 shows addresses instead of names.", why.text);
}

/* Modules become images at their first use: all do so now. */
static void session_find_images(struct wake_reader *r)
{
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        for (uint32_t k = 0; k <= wake_reader_process(r, i)->modules.count; k++)
            (void)wake_reader_image(r, i, k);
    }
}

static int session_name(struct session *s, struct wake_reader *r, struct err *err)
{
    struct names *names = wake_reader_names(r);
    if (names == NULL)
        return err_no_memory(err);
    int code = s->options.finds_names && !session_is_named(names) ? session_find_names(s, r, err) : 0;
    session_find_images(r);
    return code;
}

/* --------------------------------------------------------------------- opening */

static int session_add(struct session *s, const char *const *paths, size_t count, struct err *err)
{
    struct session_recording one = {.path = paths[0]};
    size_t before = s->list.count;
    if (before > 0) {
        const struct session_recording *last = &s->list.data[before - 1];
        one.base = last->base + (uint32_t)wake_reader_process_count(last->reader);
    }
    int code = count == 1 ? recording_input_open_any(&one.reader, paths[0], err)
                          : recording_input_open_series(&one.reader, paths, count, err);
    if (code == ERR_INPUT && s->options.explain != NULL)
        s->options.explain(s->options.of, paths[0], err);
    if (code != 0)
        return code;
    if (!vec_push(&s->list, one)) {
        wake_reader_close(one.reader);
        return err_no_memory(err);
    }
    code = session_name(s, one.reader, err);
    wake_reader_rest(one.reader);
    return code == 0 && s->options.remembers ? ledger_attach(one.reader, NULL, err) : code;
}

int session_open(struct session **out, const char *const *paths, size_t count,
                 const struct session_options *options, struct err *err)
{
    struct session *s = memory_new_zeroed(1, sizeof *s);
    struct series_files files = {0};
    *out = NULL;
    if (s == NULL)
        return err_no_memory(err);
    s->options = *options;
    pthread_rwlock_init(&s->lock, NULL);
    int code = series_files_init(&files, paths, count, err);
    for (size_t i = 0; i < files.first.count && code == 0; i++)
        code = session_add(s, files.paths.data + files.first.data[i], series_files_count(&files, i), err);
    series_files_release(&files);
    if (code == 0)
        *out = s;
    else
        session_close(s);
    return code;
}

void session_close(struct session *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->list.count; i++)
        wake_reader_close(s->list.data[i].reader);
    vec_release(&s->list);
    pthread_rwlock_destroy(&s->lock);
    free(s);
}

bool session_is_partly_named(const struct session *s)
{
    return s->is_partly_named;
}

size_t session_count(const struct session *s)
{
    return s == NULL ? 0 : s->list.count;
}

struct wake_reader *session_reader(const struct session *s, size_t recording)
{
    return s->list.data[recording].reader;
}

const char *session_path(const struct session *s, size_t recording)
{
    return s->list.data[recording].path;
}

uint32_t session_base(const struct session *s, size_t recording)
{
    return s->list.data[recording].base;
}

int session_add_traces(const struct session *s, struct traces *traces, struct err *err)
{
    int code = 0;
    uint32_t base;
    for (size_t i = 0; i < s->list.count && code == 0; i++)
        code = traces_add_reader(traces, s->list.data[i].reader, &base, err);
    return code;
}

/* ------------------------------------------------------------------- following */

enum session_state session_state(const struct session *s)
{
    static const enum session_state states[] = {[WAKE_CLOSED] = SESSION_WHOLE,
                                                [WAKE_GROWING] = SESSION_GROWING,
                                                [WAKE_CUT] = SESSION_CUT,
                                                [WAKE_REPLACED] = SESSION_REPLACED};
    enum session_state worst = SESSION_WHOLE;
    for (size_t i = 0; i < s->list.count; i++) {
        enum session_state one = states[wake_reader_state(s->list.data[i].reader)];
        worst = one > worst ? one : worst;
    }
    return worst;
}

/* A ledger is made in the background: it is left before the reader changes, and begun anew. */
static int session_follow(struct session *s, struct session_recording *one, struct err *err)
{
    bool has_grown = false;
    if (!wake_reader_has_more(one->reader))
        return 0;
    if (s->options.remembers)
        wake_reader_attach(one->reader, NULL, NULL);
    int code = wake_reader_refresh(one->reader, &has_grown, err);
    if (code == 0 && s->options.remembers)
        code = ledger_attach(one->reader, NULL, err);
    if (code == 0 && has_grown)
        code = session_name(s, one->reader, err);
    s->generation += has_grown;
    return code;
}

int session_refresh(struct session *s, uint64_t *generation, struct err *err)
{
    uint32_t base = 0;
    int code = 0;
    pthread_rwlock_wrlock(&s->lock);
    for (size_t i = 0; i < s->list.count && code == 0; i++) {
        struct session_recording *one = &s->list.data[i];
        code = session_follow(s, one, err);
        one->base = base;
        base += (uint32_t)wake_reader_process_count(one->reader);
    }
    *generation = s->generation;
    pthread_rwlock_unlock(&s->lock);
    return code;
}

/* ---------------------------------------------------------------------- asking */

void ask_init(struct ask *ask)
{
    *ask = (struct ask){0};
}

void ask_cancel(struct ask *ask)
{
    ask->is_cancelled = 1;
}

struct progress_of_ask ask_progress(const struct ask *ask)
{
    return (struct progress_of_ask){__atomic_load_n(&ask->done, __ATOMIC_RELAXED),
                                    __atomic_load_n(&ask->total, __ATOMIC_RELAXED)};
}

static void ask_note(void *context, uint64_t done, uint64_t total)
{
    struct ask *ask = context;
    __atomic_store_n(&ask->done, done, __ATOMIC_RELAXED);
    __atomic_store_n(&ask->total, total, __ATOMIC_RELAXED);
    if (ask->progress != NULL)
        ask->progress(ask->progress_of, done, total);
}

static const struct name_place *session_find_place(void *context, uint32_t process,
                                                   const struct wake_node *node)
{
    return wake_reader_name(context, process, node);
}

void session_prepare(struct session *s, size_t recording, const struct query *q, struct ask *ask,
                     struct query *ready)
{
    *ready = *q;
    ready->find_place = session_find_place;
    ready->place_context = s->list.data[recording].reader;
    ready->progress = ask_note;
    ready->progress_context = ask;
    ready->interrupt = &ask->is_cancelled;
    ready->has_afterwards = s->list.count > 1;
}

/* With the lock held. */
static int session_answer(struct session *s, size_t recording, const struct query *q, struct ask *ask,
                          struct query_result *result, struct err *err)
{
    struct query ready;
    session_prepare(s, recording, q, ask, &ready);
    return query_run(&ready, s->list.data[recording].reader, result, err);
}

int session_ask_one(struct session *s, size_t recording, const struct query *q, struct ask *ask,
                    struct query_result *result, struct err *err)
{
    pthread_rwlock_rdlock(&s->lock);
    int code = session_answer(s, recording, q, ask, result, err);
    pthread_rwlock_unlock(&s->lock);
    return code;
}

int session_ask(struct session *s, const struct query *q, struct ask *ask, struct query_result *result,
                struct err *err)
{
    int code = 0;
    pthread_rwlock_rdlock(&s->lock);
    for (size_t i = 0; i < s->list.count && code == 0; i++) {
        struct query_result one;
        query_result_init(&one);
        code = session_answer(s, i, q, ask, &one, err);
        if (code == 0)
            code = combine_add(result, &one, s->list.data[i].base, err);
        query_result_release(&one);
    }
    pthread_rwlock_unlock(&s->lock);
    return code;
}
