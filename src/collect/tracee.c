/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tracee: see tracee.h.
 */
#include "collect/tracee.h"

#include "collect/attend.h"
#include "collect/procfs.h"
#include "tool/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum { TRACEE_VISITORS_MAX = 4096 };

static uint64_t cpu_ns(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return ((uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec) * SECOND +
           ((uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec) * 1000;
}

/* Is nobody else being recorded, nor about to be? */
static bool tracee_is_last(const struct collector *c)
{
    return c->tracees.count <= 1 && c->visitors.count == 0 && c->awaited.list.count == 0;
}

static void tracee_complain(struct collector *c)
{
    if (c->output.complaint.code != 0 && !c->has_complained) {
        c->has_complained = true;
        c->options.say(c->options.say_of, LEVEL_WARN, c->output.complaint.text);
    }
}

__attribute__((format(printf, 3, 4))) static void tracee_say(const struct collector *c, enum level level,
                                                             const char *format, ...)
{
    char text[512];
    va_list list;
    if (c->options.say == NULL)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    c->options.say(c->options.say_of, level, text);
}

void tracee_trace(const struct collector *c, const struct tracee *t, uint64_t taken)
{
    if (c->options.is_traced && taken != 0)
        tracee_say(c, LEVEL_TRACE, "Took %llu events of process %u.", (unsigned long long)taken, t->pid);
}

/* A process that cannot be recorded: those who read the file are told how many. */
static void tracee_miss(struct collector *c, uint64_t *sum)
{
    ++*sum;
    c->output.unrecorded++;
}

/* Children of this process that cannot reach the collector; is_cut_off: nor can what it has become by exec. */
static void tracee_miss_unreached(struct collector *c, struct tracee *t, bool is_cut_off)
{
    uint64_t unreached = (uint64_t)t->image->view.head->unreached + is_cut_off;
    c->sums.unreached += unreached;
    c->output.unrecorded += unreached;
    t->file->unreached += unreached;
}

void tracee_warn_usage(const struct collector *c, struct tracee *t)
{
    struct usage *u = &t->image->usage;
    if (!u->is_refused || u->is_said)
        return;
    u->is_said = true;
    tracee_say(
        c, LEVEL_WARN,
        "The use of memory of process %u cannot be sampled: the system does not let us read /proc/%u/smaps.",
        t->pid, t->pid);
}

/* ------------------------------------------------------------------ visitors */

/* Those behind move up: visitors stay in the order in which they came. */
static void visitor_free(struct collector *c, struct visitor *v)
{
    for (size_t i = 0; i < c->visitors.count; i++) {
        if (c->visitors.data[i] == v) {
            memmove(&c->visitors.data[i], &c->visitors.data[i + 1],
                    (--c->visitors.count - i) * sizeof c->visitors.data[i]);
            break;
        }
    }
    close(v->fd);
    free(v);
}

void tracee_accept(struct collector *c)
{
    int fd;
    while (c->visitors.count < TRACEE_VISITORS_MAX && (fd = listener_accept(&c->listener)) >= 0) {
        struct visitor *v = memory_new_zeroed(1, sizeof *v);
        if (v == NULL || !vec_push(&c->visitors, v)) {
            free(v);
            close(fd);
            tracee_miss(c, &c->sums.unheard);
            return;
        }
        *v = (struct visitor){WATCH_VISITOR, fd, timebase_now()};
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = v};
        if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
            visitor_free(c, v);
    }
}

/* ------------------------------------------------------------------- tracees */

struct tracee *tracee_find(const struct collector *c, uint32_t pid)
{
    for (size_t i = c->tracees.count; i-- > 0;) {
        if (c->tracees.data[i]->pid == pid)
            return c->tracees.data[i];
    }
    return NULL;
}

static bool tracee_watch(struct collector *c, struct tracee *t)
{
    if (c->launch != NULL && c->launch->has_ended && (pid_t)t->pid == c->launch->pid) {
        t->gone = true; /* reaped: the pid may be somebody else's by now */
        return true;
    }
    t->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)t->pid, 0);
    if (t->pidfd < 0) {
        t->gone = errno == ESRCH;
        return true;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = t};
    return epoll_ctl(c->epoll, EPOLL_CTL_ADD, t->pidfd, &event) == 0;
}

/* Which section of the same file is this process's parent in?  + 1, 0 = none. */
static uint32_t tracee_parent(const struct tracee *before, const struct tracee *parent,
                              const struct output_file *file)
{
    if (before != NULL)
        return before->file == file ? before->image->process + 1 : 0;
    return parent != NULL && parent->file == file ? parent->image->process + 1 : 0;
}

/* The number of a process's parent, of which it knows the one in its own namespace.  If it has ended by now, and the kernel
 * has forgotten it: who has that number elsewhere, if only one does.  0: nobody can tell. */
static uint32_t tracee_parent_number(const struct collector *c, const struct view *view, uint32_t pid)
{
    if (pid == view->fixed.pid)
        return view->fixed.ppid;
    uint32_t told = procfs_parent(pid), found = 0;
    if (told != 0)
        return told;
    for (size_t i = 0; i < c->tracees.count; i++) {
        const struct tracee *t = c->tracees.data[i];
        if (t->image->view.fixed.pid != view->fixed.ppid || t->pid == view->fixed.ppid)
            continue;
        if (found != 0 && found != t->pid)
            return 0;
        found = t->pid;
    }
    return found;
}

static struct tracee *tracee_new(struct collector *c, struct view *view, const struct listener_hello *h)
{
    struct tracee *before = tracee_find(c, h->pid);
    view->fixed.ppid = tracee_parent_number(c, view, h->pid);
    struct tracee *parent = tracee_find(c, view->fixed.ppid);
    struct name_facts facts = {view->exe, h->pid, timebase_wall() / SECOND, view->fixed.job,
                               view->fixed.rank};
    struct tracee *t = memory_new_zeroed(1, sizeof *t);
    if (t == NULL)
        return NULL;
    uint64_t now = timebase_now();
    uint64_t start = view->fixed.start_ns < now ? view->fixed.start_ns : now;
    if (c->options.met != NULL)
        c->options.met(c->options.say_of, &facts);
    t->kind = WATCH_TRACEE;
    t->pid = h->pid;
    t->pidfd = -1;
    t->file = output_open(&c->output, &facts, start);
    tracee_complain(c);
    if (t->file != NULL)
        t->image = image_new(view, t->file->writer, &c->time, t->file->base_ns, h->pid,
                             tracee_parent(before, parent, t->file), c->options.map_usage_ns);
    if (before != NULL)
        tracee_end(c, before, true, true);
    if (t->image == NULL || !vec_push(&c->tracees, t)) {
        if (t->file != NULL)
            output_leave(&c->output, t->file, cpu_ns(), tracee_is_last(c));
        free(t);
        return NULL;
    }
    return t;
}

/* Somebody is there who may have been told of: a forked child as such, who goes on in another image not at all. */
static void tracee_note_arrival(struct collector *c, const struct listener_hello *h, bool is_forked)
{
    awaited_remove(&c->awaited, h->pid, h->hello.pid);
    if (c->options.children && !is_forked && tracee_find(c, h->pid) == NULL)
        unrecorded_children_came(&c->strangers, h->pid, h->hello.pid);
}

static void tracee_complain_of_traces(struct collector *c, const struct view *view)
{
    if (!c->options.wants_traces || view->fixed.is_traced == 1 || c->has_missed_traces)
        return;
    c->has_missed_traces = true;
    tracee_say(c, LEVEL_WARN,
               "HEAPWAKE_TRACE is set, but this build of heapwake's library has no traces; 'meson setup "
               "-Dtraces=true' makes one that has.");
}

static void tracee_greet(struct collector *c, struct listener_hello *h)
{
    struct view view;
    struct err err;
    err_init(&err);
    bool is_sound = view_open(&view, h->segment, &err) == 0;
    tracee_note_arrival(c, h, is_sound && view.fixed.forked != 0);
    if (!is_sound) {
        c->sums.refused++;
        c->options.say(c->options.say_of, LEVEL_ERROR, err.text);
        return;
    }
    if (c->root == 0)
        c->root = c->launch != NULL && c->launch->pid != 0 ? (uint32_t)c->launch->pid : h->pid;
    bool wanted = c->options.children || h->pid == c->root;
    struct tracee *t = wanted ? tracee_new(c, &view, h) : NULL;
    if (t == NULL) {
        if (wanted && c->output.failure.code == 0)
            tracee_miss(c, &c->sums.unheard);
        __atomic_store_n(&view.head->collector, SEGMENT_CLOSED, __ATOMIC_RELEASE);
        view_close(&view);
        return;
    }
    c->sums.processes++;
    if (c->launch != NULL)
        launch_note(c->launch, (pid_t)t->pid);
    if (view.fixed.sample_rate > c->sums.sample_rate)
        c->sums.sample_rate = view.fixed.sample_rate;
    if (view.fixed.is_bypassed == 1) {
        c->sums.bypassed++;
        t->file->bypassed++;
    }
    tracee_complain_of_traces(c, &view);
    tracee_say(c, LEVEL_INFO, "Process %u (%.200s) is recorded into %.200s.", t->pid, t->image->view.exe,
               t->file->name);
    view_allow(&t->image->view, (uint32_t)(allowance_find(&c->allowance, t->pid) / SEGMENT_CHUNK_SIZE));
    robust_add(&c->robust, t->image->view.head);
    t->image->ticker = &c->ticker;
    image_follow_pace(t->image);
    image_tick(t->image, timebase_now());
    __atomic_store_n(&t->image->view.head->wait_at_end, c->is_contained, __ATOMIC_RELAXED);
    __atomic_store_n(&t->image->view.head->collector, SEGMENT_ATTACHED, __ATOMIC_RELEASE);
    if (!tracee_watch(c, t)) {
        close(t->pidfd);
        t->pidfd = -1;
    }
}

/* Whether the visitor has said all that it had to say, and is gone. */
static bool tracee_hear_one(struct collector *c, struct visitor *v)
{
    static struct listener_message m;
    switch (listener_receive(&c->listener, v->fd, &m)) {
    case LISTENER_NOTHING:
        return false;
    case LISTENER_HELLO:
        tracee_greet(c, &m.hello);
        close(m.hello.segment);
        break;
    case LISTENER_CONTROL:
        attend_control(c, v->fd, &m.control);
        break;
    case LISTENER_UNSHARED:
        tracee_note_arrival(c, &m.hello, false);
        if (c->options.children || c->root == 0 || m.hello.pid == c->root)
            tracee_miss(c, &c->sums.unshared);
        tracee_say(c, LEVEL_INFO, "Process %u cannot be recorded: it could make no memory to share.",
                   m.hello.pid);
        break;
    default:
        c->sums.refused++;
        break;
    }
    visitor_free(c, v);
    return true;
}

void tracee_hear(struct collector *c)
{
    for (size_t i = 0; i < c->visitors.count;) {
        if (!tracee_hear_one(c, c->visitors.data[i]))
            i++;
    }
}

/* We may have been kept from listening for longer than that, so everybody is heard once more. */
void tracee_dismiss(struct collector *c, uint64_t now_ns)
{
    tracee_hear(c);
    for (size_t i = c->visitors.count; i-- > 0;) {
        if (now_ns - c->visitors.data[i]->since_ns > SECOND)
            visitor_free(c, c->visitors.data[i]);
    }
}

static void tracee_sum(struct collector *c, const struct image_end *end)
{
    struct collector_sums *s = &c->sums;
    s->events += end->events;
    if (end->process.peak_bytes > s->peak_bytes)
        s->peak_bytes = end->process.peak_bytes;
    s->leaked_blocks += end->process.leaked_blocks;
    s->leaked_bytes += end->process.leaked_bytes;
    s->lost_events += end->process.lost_events;
    s->anomalies += end->anomalies;
    s->out_of_memory |= end->out_of_memory;
    s->incomplete |= !end->process.complete;
    if (s->stop_reason == 0)
        s->stop_reason = end->stop_reason;
}

/* Is it in a PID namespace below ours, where processes have other numbers? */
static bool tracee_is_inner(const struct tracee *t)
{
    return t->pid != t->image->view.fixed.pid;
}

/* Has the child that somebody tells of said hello already? */
static bool tracee_has_come(const struct collector *c, uint32_t pid, bool is_inner)
{
    for (size_t i = 0; i < c->tracees.count; i++) {
        const struct tracee *t = c->tracees.data[i];
        if (t->image->view.fixed.pid == pid || (t->pid == pid && !is_inner))
            return true;
    }
    return false;
}

static void tracee_take_fork(struct collector *c, const struct drain_fork *f, bool is_inner)
{
    if (f->how == FORK_BACK) {
        unrecorded_children_back(&c->strangers, f->pid);
        return;
    }
    if (f->how != FORK_CHILD)
        unrecorded_children_told(&c->strangers, f->pid);
    if (f->how != FORK_FOREIGN && !tracee_has_come(c, f->pid, is_inner))
        awaited_add(&c->awaited, f->pid, is_inner, timebase_now());
}

static void tracee_take_forks(struct collector *c, struct tracee *t)
{
    struct drain *d = &t->image->drain;
    bool is_inner = tracee_is_inner(t);
    for (size_t n = 0; n < d->forks.count; n++) {
        const struct drain_fork *f = &d->forks.data[n];
        if (c->options.children)
            tracee_take_fork(c, f, is_inner);
    }
    d->forks.count = 0;
}

void tracee_end(struct collector *c, struct tracee *t, bool execed, bool gone)
{
    int status = -1;
    uint64_t rss = 0;
    if (!execed && c->launch != NULL && (pid_t)t->pid == c->launch->pid && launch_reap(c->launch)) {
        status = c->launch->status;
        rss = c->launch->max_rss;
    }
    robust_remove(&c->robust, t->image->view.head);
    struct image_end end;
    timebase_update(&c->time);
    for (uint64_t taken = 1; gone && taken != 0;) {
        taken = image_drain(t->image);
        tracee_trace(c, t, taken);
    }
    tracee_take_forks(c, t);
    if (gone) {
        attend_wishes(c, t); /* of its last moments */
        attend_end(c, t);
    }
    uint64_t waits = t->image->view.head->waits;
    uint32_t lanes = t->image->drain.lane_count;
    const struct segment_head *head = t->image->view.head;
    bool is_cut_off = gone && !execed && head->exec_ns != 0 && head->exec_is_cut_off == 1;
    tracee_miss_unreached(c, t, is_cut_off);
    uint32_t unfollowed = c->options.children ? head->unfollowed : 0;
    image_end(t->image, status, execed, gone, t->is_stopped, rss, timebase_now(), &end);
    tracee_sum(c, &end);
    bool is_stranger = gone && !execed && end.process.execed && !is_cut_off; /* and never came back */
    t->file->strangers += is_stranger;
    t->file->unhooked |= end.unhooked;
    c->sums.strangers += is_stranger;
    t->file->unfollowed += unfollowed;
    c->sums.unfollowed += unfollowed;
    tracee_say(c, LEVEL_INFO, "Process %u %s after %llu events.", t->pid,
               execed ? "went on in another image" : "ended", (unsigned long long)end.events);
    tracee_say(c, LEVEL_DEBUG,
               "Process %u had %u lanes, waited %llu times for a chunk, and left %llu anomalies.", t->pid,
               lanes, (unsigned long long)waits, (unsigned long long)end.anomalies);
    output_leave(&c->output, t->file, cpu_ns(), !execed && !t->is_stopped && tracee_is_last(c));
    if (t->pidfd >= 0)
        close(t->pidfd);
    for (size_t i = 0; i < c->tracees.count; i++) {
        if (c->tracees.data[i] == t) {
            c->tracees.data[i] = c->tracees.data[--c->tracees.count];
            break;
        }
    }
    free(t);
}

/* Whoever reads it is to know that what is live at its end may be freed by now. */
static void tracee_note_stop(struct tracee *t)
{
    char text[160];
    uint64_t now = timebase_now(), base = t->image->line.base_ns,
             ms = now > base ? (now - base) / 1000000 : 0;
    int length = snprintf(
        text, sizeof text,
        "The recording of process %u was stopped at %llu.%03llu s, and the process ran on: blocks that "
        "were live then count as leaked.",
        t->pid, (unsigned long long)(ms / 1000), (unsigned long long)(ms % 1000));
    wake_writer_add_note(t->file->writer, text, (size_t)length);
}

void tracee_stop(struct collector *c, struct tracee *t)
{
    tracee_note_stop(t);
    attend_end(c, t);
    t->is_stopped = true;
    image_silence(t->image);
    tracee_end(c, t, false, false);
}

void tracee_rotate(struct collector *c, uint64_t now_ns)
{
    for (size_t n = c->output.files.count; n-- > 0;) {
        struct output_file *f = c->output.files.data[n];
        if (f->users == 0 || !output_turn(&c->output, f, now_ns))
            continue;
        for (size_t i = 0; i < c->tracees.count; i++) {
            if (c->tracees.data[i]->file == f)
                image_pause(c->tracees.data[i]->image, now_ns);
        }
        if (output_rotate(&c->output, f, cpu_ns()))
            tracee_say(c, LEVEL_INFO, "The recording goes on in %.300s.", f->name);
    }
}

void tracee_poll(struct collector *c)
{
    for (size_t i = 0; i < c->tracees.count; i++) {
        struct tracee *t = c->tracees.data[i];
        if (t->pidfd < 0 && !t->gone)
            t->gone = kill((pid_t)t->pid, 0) != 0 && errno == ESRCH;
        /* Without a pidfd our own child lingers as a zombie until it is reaped. */
        if (t->pidfd < 0 && c->launch != NULL && (pid_t)t->pid == c->launch->pid)
            t->gone |= launch_reap(c->launch);
    }
}

bool tracee_await(struct collector *c)
{
    for (size_t i = 0; i < c->tracees.count; i++)
        tracee_take_forks(c, c->tracees.data[i]);
    unrecorded_children_look(&c->strangers, timebase_now());
    awaited_settle(&c->awaited, c->tracees.count == 0 && c->visitors.count == 0, timebase_now());
    return c->awaited.list.count != 0;
}
