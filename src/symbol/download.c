/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * download: see download.h.
 *
 * Each query runs in a thread of its own, and the caller waits for it with an eye on the
 * interrupt flag and on the clock: elfutils 0.192 calls back only once a server has
 * answered.  A query that calls back is asked to stop, and cleans up; any other is
 * cancelled where it sleeps, and its handle is not touched again.
 *
 * A server that has answered nothing within the limit will not answer for the next
 * library either, so one such wait is all we spend.
 *
 * The library stays loaded once it is: curl's own libraries do not like to go.
 */
#include "symbol/download.h"

#include "tool/memory.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* How long one look at the query takes, and how many it has to end itself: it calls back every second. */
enum { DOWNLOAD_GLANCE_MS = 100, DOWNLOAD_GLANCES = 30 };

struct debuginfod_client;

typedef int (*progress_hook)(struct debuginfod_client *client, long done, long total);
typedef int (*find_hook)(struct debuginfod_client *client, const unsigned char *id, int length, char **path);

struct client {
    void *library;
    struct debuginfod_client *handle;
    void (*end)(struct debuginfod_client *client);
    find_hook find[2]; /* by enum download_kind */

    enum download_kind kind;
    const struct build_id *id;
    int fd; /* what was found, or -1 */

    /* Written by the thread, but for `stop`. */
    _Atomic long done, total;
    _Atomic uint64_t heard_ms; /* when something last arrived */
    atomic_bool calls_back, stop;
};

static uint64_t download_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool download_is_interrupted(const struct download *d)
{
    return d->interrupt != NULL && *d->interrupt != 0;
}

/* debuginfod hands its own handle to the callback, and asking that for ours
 * takes a function that the library gives: hence the one variable. */
static _Thread_local struct client *download_current;

/* Called by debuginfod; not 0 = stop. */
static int download_step(struct debuginfod_client *handle, long done, long total)
{
    struct client *c = download_current;
    (void)handle;
    /* While no server has answered, `done` counts the calls. */
    if (done != c->done && (total > 0 || done > c->done + 1))
        c->heard_ms = download_now_ms();
    c->done = done;
    c->total = total;
    c->calls_back = true;
    return c->stop ? 1 : 0;
}

static void *download_run(void *client)
{
    struct client *c = client;
    char *path = NULL;
    download_current = c;
    c->fd = c->find[c->kind](c->handle, c->id->bytes, (int)c->id->length, &path);
    free(path);
    return NULL;
}

/* Signals are for the other threads. */
static bool download_start(struct client *c, pthread_t *thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool done = pthread_create(thread, NULL, download_run, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return done;
}

/* Whether the query has ended; waits a moment for that. */
static bool download_has_ended(pthread_t thread)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += DOWNLOAD_GLANCE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == 0;
}

static const char *download_find_reason_to_stop(const struct download *d)
{
    if (download_is_interrupted(d))
        return "Interrupted: debug files on servers were left alone; those of this machine were looked for.";
    if (download_now_ms() - d->client->heard_ms > d->patience_ms)
        return "The servers in DEBUGINFOD_URLS did not answer in time and were left alone; debug files of "
               "this "
               "machine were looked for.";
    return NULL;
}

/* Also of a server that says nothing, or not how much is to come: whoever is told may want an end. */
static void download_tell(const struct download *d, const char *name)
{
    char text[256];
    long done = d->client->done, total = d->client->total;
    bool is_known = total > 0 && done >= 0;
    if (d->progress == NULL)
        return;
    snprintf(text, sizeof text, "Downloading debug information of %s", name);
    d->progress(text, is_known ? (uint64_t)done : 0, is_known ? (uint64_t)total : 0, d->progress_context);
}

static void download_end(struct client *c, pthread_t thread)
{
    c->stop = true;
    for (int i = 0; c->calls_back && i < DOWNLOAD_GLANCES; i++) {
        if (download_has_ended(thread))
            return;
    }
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    c->handle = NULL;
}

static bool download_load(struct client *c)
{
    c->library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (c->library == NULL)
        return false;
    struct debuginfod_client *(*begin)(void) = NULL;
    void (*set_progress)(struct debuginfod_client *, progress_hook) = NULL;
    /* POSIX's way to make a function of what dlsym gives. */
    *(void **)&begin = dlsym(c->library, "debuginfod_begin");
    *(void **)&set_progress = dlsym(c->library, "debuginfod_set_progressfn");
    *(void **)&c->end = dlsym(c->library, "debuginfod_end");
    *(void **)&c->find[DOWNLOAD_DEBUG] = dlsym(c->library, "debuginfod_find_debuginfo");
    *(void **)&c->find[DOWNLOAD_PROGRAM] = dlsym(c->library, "debuginfod_find_executable");
    if (begin == NULL || set_progress == NULL || c->end == NULL || c->find[DOWNLOAD_DEBUG] == NULL ||
        c->find[DOWNLOAD_PROGRAM] == NULL)
        return false;
    c->handle = begin();
    if (c->handle != NULL)
        set_progress(c->handle, download_step);
    return c->handle != NULL;
}

static bool download_begin(struct download *d)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    if (d->client != NULL)
        return true;
    if (servers == NULL || servers[0] == '\0') {
        d->remark = "DEBUGINFOD_URLS names no servers: debug files of this machine were looked for.";
        return false;
    }
    d->client = memory_new_zeroed(1, sizeof *d->client);
    if (d->client == NULL)
        return false;
    bool done = download_load(d->client);
    if (d->client->library == NULL)
        d->remark =
            "No server was asked, as libdebuginfod.so.1 is not installed; debug files of this machine were "
            "looked for.";
    return done;
}

int download_file(struct download *d, enum download_kind kind, const struct build_id *id, const char *name)
{
    if (!d->is_on || d->gave_up || id->length == 0 || download_is_interrupted(d))
        return -1;
    if (!download_begin(d)) {
        d->gave_up = true;
        return -1;
    }
    struct client *c = d->client;
    pthread_t thread;
    c->kind = kind;
    c->id = id;
    c->fd = -1;
    c->done = c->total = 0;
    c->calls_back = false;
    c->heard_ms = download_now_ms();
    if (!download_start(c, &thread))
        return -1;
    while (!download_has_ended(thread)) {
        download_tell(d, name);
        d->remark = download_find_reason_to_stop(d);
        d->gave_up = d->remark != NULL;
        if (d->gave_up) {
            download_end(c, thread);
            break;
        }
    }
    if (c->fd < 0)
        return -1;
    (void)fcntl(c->fd, F_SETFD, FD_CLOEXEC);
    return c->fd;
}

void download_release(struct download *d)
{
    struct client *c = d->client;
    d->client = NULL;
    d->gave_up = false;
    d->remark = NULL;
    if (c == NULL)
        return;
    if (c->handle != NULL)
        c->end(c->handle);
    if (c->library != NULL)
        dlclose(c->library);
    free(c);
}
