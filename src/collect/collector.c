/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * collector: see collector.h.  Here: the loop.  Processes come and go in
 * tracee.c.
 */
#include "collect/collector.h"

#include "collect/attend.h"
#include "collect/tracee.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum {
    COLLECTOR_EVENTS = 64,
    COLLECTOR_NAP_MS = 1, /* where threads have waited for us: small buffers are full soon */
    COLLECTOR_DOZE_MS =
        40, /* where there are only samples, and few: a round is felt by who is in the same caches */
    COLLECTOR_ORDER_MS = 1000,    /* how often is done what is not about events */
    COLLECTOR_FIRST_HELLO_S = 10, /* without a program of our own */
};

static int collector_kinds[] = {0, WATCH_LISTENER, WATCH_SIGNALS};

static int collector_watch(struct collector *c, int fd, int kind)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &collector_kinds[kind]};
    return epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event);
}

int collector_open(struct collector *c, const struct collector_options *options, struct launch *launch,
                   struct err *err)
{
    memset(c, 0, sizeof *c);
    unrecorded_children_init(&c->strangers);
    c->options = *options;
    c->launch = launch;
    c->start_ns = timebase_now();
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    timebase_init(&c->time);
    ticker_init(&c->ticker);
    robust_init(&c->robust);
    output_init(&c->output, options->output, options->keeping);
    int code = listener_open(&c->listener, options->address, err);
    if (code != 0)
        return code;
    if (c->epoll < 0 || collector_watch(c, c->listener.fd, WATCH_LISTENER) != 0 ||
        (c->listener.path_fd >= 0 && collector_watch(c, c->listener.path_fd, WATCH_LISTENER) != 0) ||
        (launch != NULL && collector_watch(c, launch->signal_fd, WATCH_SIGNALS) != 0)) {
        err_set(err, ERR_SYSTEM, "The collector cannot watch its descriptors: %s.", strerror(errno));
        listener_close(&c->listener);
        return ERR_SYSTEM;
    }
    if (c->output.complaint.code != 0) {
        c->has_complained = true;
        options->say(options->say_of, LEVEL_WARN, c->output.complaint.text);
    }
    return 0;
}

/* More descriptors and memory for ourselves; the program was started before this. */
static void collector_raise_limits(void)
{
    static const int limits[] = {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)limits[i], &limit) != 0)
            continue;
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit((__rlimit_resource_t)limits[i], &limit);
    }
}

static void collector_dispatch(struct collector *c, int timeout)
{
    struct epoll_event events[COLLECTOR_EVENTS];
    int count = epoll_wait(c->epoll, events, COLLECTOR_EVENTS, timeout);
    /* Ends first, and only noted: the hello of an exec frees the tracee that it replaces. */
    for (int i = 0; i < count; i++) {
        if (*(int *)events[i].data.ptr == WATCH_TRACEE) {
            ((struct tracee *)events[i].data.ptr)->gone = true;
            events[i].data.ptr = &collector_kinds[0];
        }
    }
    bool is_spoken_to = false, has_signals = false;
    for (int i = 0; i < count; i++) {
        switch (*(int *)events[i].data.ptr) {
        case WATCH_LISTENER:
            tracee_accept(c);
            break;
        case WATCH_SIGNALS:
            has_signals = true;
            break;
        case WATCH_VISITOR:
            is_spoken_to = true;
            break;
        default:
            break;
        }
    }
    if (has_signals) /* whoever sent one may have said hello just before: it matters whether he is one of ours */
        tracee_accept(c);
    if (is_spoken_to || has_signals)
        tracee_hear(c);
    if (has_signals)
        launch_take_signals(c->launch);
}

static bool collector_has_gone(const struct collector *c)
{
    for (size_t i = 0; i < c->tracees.count; i++) {
        if (c->tracees.data[i]->gone)
            return true;
    }
    return false;
}

/* Who is gone may have said hello again just before (an exec): that is heard
 * first, so that the old image knows how it ended. Whose own hello is heard only now, and is gone by now, waits for
 * the next round: its next hello may have come since. */
static void collector_bury(struct collector *c)
{
    tracee_poll(c);
    if (!collector_has_gone(c))
        return;
    for (size_t i = 0; i < c->tracees.count; i++)
        c->tracees.data[i]->is_over = c->tracees.data[i]->gone;
    tracee_accept(c);
    tracee_hear(c);
    for (size_t i = c->tracees.count; i-- > 0;) {
        if (c->tracees.data[i]->is_over)
            tracee_end(c, c->tracees.data[i], false, true);
    }
}

/* What files do at times of their own they do between the events before and behind. */
static bool collector_must_drain(const struct collector *c, bool is_order)
{
    return is_order || c->output.keeping.rotate_ns != 0 || c->output.keeping.rotate_bytes != 0;
}

static void collector_keep_order(struct collector *c, uint64_t now)
{
    c->last_order_ns = now;
    for (size_t i = 0; i < c->output.files.count; i++) {
        struct output_file *f = c->output.files.data[i];
        uint64_t age = now > f->base_ns ? now - f->base_ns : 0;
        if (f->writer == NULL)
            continue;
        wake_writer_advance(f->writer, age);
        if (now - f->flushed_ns < pace_flush_ns(age))
            continue;
        wake_writer_flush(f->writer);
        f->flushed_ns = now;
    }
    tracee_dismiss(c, now);
}

static uint64_t collector_drain(struct collector *c)
{
    uint64_t now = timebase_now();
    bool is_tick = now - c->last_tick_ns >= MS, is_order = now - c->last_order_ns >= COLLECTOR_ORDER_MS * MS;
    uint64_t most = 0;
    timebase_update(&c->time);
    for (size_t i = 0; i < c->tracees.count; i++) {
        struct image *m = c->tracees.data[i]->image;
        if (is_tick)
            image_tick(m, now);
        if (!collector_must_drain(c, is_order) && !image_is_due(m, now))
            continue;
        uint64_t taken = image_drain(m);
        tracee_trace(c, c->tracees.data[i], taken);
        image_follow(m, now);
        attend_requests(c, c->tracees.data[i]);
        attend_wishes(c, c->tracees.data[i]);
        tracee_warn_usage(c, c->tracees.data[i]);
        if (taken > most)
            most = taken;
    }
    if (is_tick) {
        c->last_tick_ns = now;
        tracee_rotate(c, now);
    }
    if (is_order)
        collector_keep_order(c, now);
    return most;
}

static bool collector_is_over(struct collector *c)
{
    if (c->tracees.count != 0 || c->visitors.count != 0)
        return false;
    if (c->launch != NULL && c->launch->pid != 0)
        return launch_reap(c->launch) && !tracee_await(c);
    bool is_early = c->root == 0 && timebase_now() - c->start_ns < COLLECTOR_FIRST_HELLO_S * 1000 * MS;
    return !is_early && !tracee_await(c);
}

/* How long to sleep after a round in which at most so many events came from one process. */
static int collector_pause(const struct collector *c, uint64_t taken)
{
    uint64_t now = timebase_now();
    bool has_few = c->tracees.count != 0 && taken < PACE_A_LOT / 4, is_tight = false;
    for (size_t i = 0; i < c->tracees.count; i++) {
        struct image *image = c->tracees.data[i]->image;
        has_few = has_few && image->view.filter != NULL;
        is_tight = image_is_tight(image, now) || is_tight;
    }
    if (taken >= PACE_A_LOT)
        return 0;
    return is_tight ? COLLECTOR_NAP_MS : has_few ? COLLECTOR_DOZE_MS : PACE_LOOK_MS;
}

void collector_run(struct collector *c)
{
    int timeout = 0;
    collector_raise_limits();
    c->is_contained = leaver_is_needed(c);
    while (c->launch == NULL || !launch_is_left(c->launch)) {
        collector_dispatch(c, timeout);
        collector_bury(c);
        if (collector_is_over(c)) {
            collector_dispatch(c, 0); /* somebody may stand at the door */
            if (collector_is_over(c))
                break;
        }
        uint64_t taken = collector_drain(c);
        tracee_await(c);
        if (leaver_settle(c)) {
            leaver_take(c);
            break;
        }
        timeout = collector_pause(c, taken);
    }
}

void collector_close(struct collector *c)
{
    listener_close(&c->listener);
    while (c->tracees.count != 0)
        tracee_end(c, c->tracees.data[c->tracees.count - 1], false, false);
    /* Who was asked to leave does not know what these are. */
    for (size_t i = 0; i < c->awaited.list.count; i++)
        unrecorded_children_back(&c->strangers, c->awaited.list.data[i].pid);
    c->output.strangers = unrecorded_children_count(&c->strangers);
    c->sums.strangers += c->output.strangers;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    uint64_t us = ((uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec) * 1000000 +
                  (uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec;
    output_close(&c->output, us * 1000);
}

void collector_release(struct collector *c)
{
    listener_close(&c->listener);
    for (size_t i = 0; i < c->visitors.count; i++) {
        close(c->visitors.data[i]->fd);
        free(c->visitors.data[i]);
    }
    vec_release(&c->visitors);
    vec_release(&c->tracees);
    vec_release(&c->leavers);
    awaited_release(&c->awaited);
    unrecorded_children_release(&c->strangers);
    output_release(&c->output);
    robust_release(&c->robust);
    ticker_release(&c->ticker);
    if (c->epoll >= 0)
        close(c->epoll);
}
