/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * session: recordings that are open and are asked questions.
 *
 *     session_open(&s, paths, count, &options, &err)
 *     ask_init(&ask)
 *     session_ask(s, &query, &ask, &result, &err)      as often as wanted, from any thread
 *     session_refresh(s, &generation, &err)            what was recorded meanwhile counts from now on
 *     session_close(s)
 *
 * Several recordings are one heap to whoever asks: processes count through all of them, in the order of the
 * recordings.  Questions may be asked from several threads at once; a refresh waits for them.
 */
#ifndef HW_SESSION_SESSION_H
#define HW_SESSION_SESSION_H

#include "analysis/trace.h"
#include "engine/query.h"
#include "engine/result.h"
#include "store/reader.h"
#include "tool/err.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

/* All may be NULL. */
struct session_options {
    /* A recording that nobody has put names into gets them from the files that are here; its own file stays as it
     * is. */
    bool finds_names;
    bool (*is_stopped)(void *of); /* ends the search for names; asked now and then */
    void (*progress)(void *of, const char *what, uint64_t done, uint64_t total);
    void (*say)(void *of, const char *sentence); /* what could not be done */
    /* A better sentence about a file that is not a recording, where there is one. */
    void (*explain)(void *of, const char *path, struct err *err);
    void *of;
    bool
        remembers; /* many questions will be asked: what is read for one is kept for the next (engine/ledger.h) */
};

/* Files of one series are one recording, in the place of the first of them.  The texts of paths live as long as
 * the session.  ERR_ABSENT, ERR_INPUT (not a recording), ERR_IO, ERR_MEMORY. */
int session_open(struct session **s, const char *const *paths, size_t count,
                 const struct session_options *options, struct err *err);
void session_close(struct session *s);

/* Was the search for names stopped before it had all? */
bool session_is_partly_named(const struct session *s);
/* Recordings.  NULL has none. */
size_t session_count(const struct session *s);
/* For those who read events themselves, or show what the file says of itself. */
struct wake_reader *session_reader(const struct session *s, size_t recording);
/* The first file of a recording. */
const char *session_path(const struct session *s, size_t recording);
/* The number of its first process among all. */
uint32_t session_base(const struct session *s, size_t recording);
/* All processes, with the numbers that rows name them by. */
int session_add_traces(const struct session *s, struct traces *traces, struct err *err);

enum session_state {
    SESSION_WHOLE,    /* every recording is closed */
    SESSION_GROWING,  /* one is being written */
    SESSION_CUT,      /* one will never be closed: its recorder is gone */
    SESSION_REPLACED, /* another file has the name of one */
};
enum session_state session_state(const struct session *s);
/* Takes in what was appended.  *generation rises when there was something: rows, traces and pointers into readers
 * from before are stale. */
int session_refresh(struct session *s, uint64_t *generation, struct err *err);

/* One question that is being answered, for whoever waits for it. */
struct ask {
    volatile sig_atomic_t is_cancelled;
    uint64_t done, total; /* events, as far as known */
    void (*progress)(void *of, uint64_t done,
                     uint64_t total); /* called by the thread that asks; may be NULL */
    void *progress_of;
};

struct progress_of_ask {
    uint64_t done, total;
};

void ask_init(struct ask *ask);
/* From any thread, and from a signal handler: the answer is then about what had been read. */
void ask_cancel(struct ask *ask);
/* From any thread. */
struct progress_of_ask ask_progress(const struct ask *ask);

/* Answers about all recordings together, as query_run does about one. */
int session_ask(struct session *s, const struct query *q, struct ask *ask, struct query_result *result,
                struct err *err);
/* The same about one of them; its processes count from 0. */
int session_ask_one(struct session *s, size_t recording, const struct query *q, struct ask *ask,
                    struct query_result *result, struct err *err);
/* The question as it is put to one recording: with its names, to be cancelled and watched by ask.  Lists and texts
 * stay those of q. */
void session_prepare(struct session *s, size_t recording, const struct query *q, struct ask *ask,
                     struct query *ready);

#endif
