/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * download: see download.h.
 *
 * debuginfod calls us back a few times a second while it waits; there we look
 * at the interrupt flag and at the clock.  A server that has answered nothing
 * within the limit will not answer for the next library either, so one
 * such wait is all we spend.
 *
 * The library stays loaded once it is: curl's own libraries do not like to go.
 */
#include "symbol/download.h"

#include "tool/memory.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct debuginfod_client;

typedef int (*progress_hook)(struct debuginfod_client *client, long done, long total);
typedef int (*find_hook)(struct debuginfod_client *client, const unsigned char *id, int length, char **path);

struct client {
    void *library;
    struct debuginfod_client *handle;
    void (*end)(struct debuginfod_client *client);
    find_hook find[2]; /* by enum download_kind */

    struct download *of;
    const char *name;
    long done;
    uint64_t heard_ms; /* when something last arrived */
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
    struct download *d = c->of;
    char text[256];
    (void)handle;
    uint64_t now = download_now_ms();
    /* While no server has answered, `done` counts the calls. */
    if (done != c->done && (total > 0 || done > c->done + 1))
        c->heard_ms = now;
    c->done = done;
    /* Also of a server that says nothing, or not how much is to come: whoever is told may want an end. */
    if (d->progress != NULL) {
        bool is_known = total > 0 && done >= 0;
        snprintf(text, sizeof text, "Downloading debug information of %s", c->name);
        d->progress(text, is_known ? (uint64_t)done : 0, is_known ? (uint64_t)total : 0, d->progress_context);
    }
    if (download_is_interrupted(d))
        d->remark =
            "Interrupted: debug files on servers were left alone; those of this machine were looked for.";
    else if (now - c->heard_ms > d->patience_ms)
        d->remark =
            "The servers in DEBUGINFOD_URLS did not answer in time and were left alone; debug files of this "
            "machine were looked for.";
    d->gave_up = d->remark != NULL;
    return d->gave_up ? 1 : 0;
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
    d->client->of = d;
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
    char *path = NULL;
    c->name = name;
    c->done = 0;
    c->heard_ms = download_now_ms();
    download_current = c;
    int fd = c->find[kind](c->handle, id->bytes, (int)id->length, &path);
    download_current = NULL;
    free(path);
    if (fd < 0)
        return -1;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
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
