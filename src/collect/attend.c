/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * attend: see attend.h.
 */
#include "collect/attend.h"

#include "collect/tracee.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ATTEND_REST_NS UINT64_C(10000000) /* between samples at marks */

enum {
    ATTEND_ROUNDS = 128, /* drains that bring us up to the moment of a request, at most */
    ATTEND_TAGS = 64,    /* signals between two looks that have a mark each */
};

/* -------------------------------------------------------------------- reports */

static int attend_write(struct collector *c, struct tracee *t, struct collector_report *r,
                        struct strbuf *where, struct err *err)
{
    r->pid = t->pid;
    r->exe = t->image->view.exe;
    r->recording = t->file->name;
    r->sequence = ++t->image->reports;
    r->book = &t->image->book;
    if (c->options.report == NULL)
        return err_set(err, ERR_UNSUPPORTED, "This collector writes no reports.");
    return c->options.report(c->options.report_of, r, where, err);
}

/* A report of this moment. */
static int attend_report(struct collector *c, struct tracee *t, const char *name, const char *path,
                         uint32_t depth, struct strbuf *where, struct err *err)
{
    struct changes_answer changes;
    int code = ERR_MEMORY;
    if (!changes_take(&t->image->changes, &t->image->pair.totals, &changes)) {
        err_no_memory(err);
    } else {
        struct collector_report r = {.name = name, .path = path, .depth = depth, .changes = &changes};
        code = attend_write(c, t, &r, where, err);
        wake_writer_flush(t->file->writer); /* who reads the recording too finds the same there */
    }
    vec_release(&changes.list);
    return code;
}

/* The mark has the name of the report: what was live then is in the recording. */
static int attend_report_now(struct collector *c, struct tracee *t, const char *path, uint32_t depth,
                             struct strbuf *where, struct err *err)
{
    struct image *m = t->image;
    char name[32];
    snprintf(name, sizeof name, "report-%u", m->reports + 1);
    image_mark(m, name);
    image_sample_usage(m, timebase_now(), false);
    return attend_report(c, t, name, path, depth, where, err);
}

static void attend_complain(const struct collector *c, const struct err *err)
{
    if (err->code != 0)
        c->options.say(c->options.say_of, LEVEL_WARN, err->text);
}

/* Whoever waits for an answer has stood still since it asked: what is sampled is true of
 * that moment.  Marks that nobody waits for may come by the thousand. */
static void attend_usage(struct image *m)
{
    if (m->usage.period_ns == 0 || !m->usage.is_due)
        return;
    uint64_t now = timebase_now();
    if (m->requests.count != 0 || now >= m->usage_rest_ns) {
        image_sample_usage(m, now, m->requests.count != 0);
        m->usage_rest_ns = now + ATTEND_REST_NS;
    }
}

void attend_requests(struct collector *c, struct tracee *t)
{
    struct image *m = t->image;
    struct strbuf where;
    attend_usage(m);
    if (m->requests.count == 0)
        return;
    strbuf_init(&where);
    for (size_t i = 0; i < m->requests.count; i++) {
        struct image_request *r = &m->requests.data[i];
        struct collector_report report = {.name = r->name, .changes = &r->changes};
        struct err err;
        err_init(&err);
        if (r->mark == MARK_REPORT && attend_write(c, t, &report, &where, &err) != 0)
            attend_complain(c, &err);
        wake_writer_flush(t->file->writer);
        if (r->mark == MARK_END) { /* whether it is the last is for the collector to say */
            t->is_leaving = true;
            t->leave_request = r->number;
        } else {
            image_answer(m, r);
        }
    }
    m->requests.count = 0;
    strbuf_release(&where);
}

void attend_end(struct collector *c, struct tracee *t)
{
    struct err err;
    struct strbuf where;
    attend_requests(c, t);
    if (t->image->reports == 0)
        return;
    err_init(&err);
    strbuf_init(&where);
    (void)attend_report(c, t, "end", NULL, 0, &where, &err);
    attend_complain(c, &err);
    strbuf_release(&where);
}

/* Everything that was published before the request came. */
static void attend_catch_up(struct collector *c, struct tracee *t)
{
    struct order *o = &t->image->order;
    uint64_t stamp = order_now(o);
    timebase_update(&c->time);
    for (int i = 0; i < ATTEND_ROUNDS && image_drain(t->image) != 0; i++) {
        if (!t->image->line.is_sequence && order_has_passed(o, stamp))
            break;
    }
    attend_requests(c, t);
    image_follow(t->image, timebase_now());
}

/* -------------------------------------------------------------------- signals */

/* The latest so many, each by its number; of a flood the last few. */
static void attend_tags(struct image *m, uint32_t uttered, uint32_t more)
{
    char name[32];
    for (uint32_t left = more < ATTEND_TAGS ? more : ATTEND_TAGS; left > 0; left--) {
        snprintf(name, sizeof name, "signal-%u", uttered - left + 1);
        image_mark(m, name);
    }
    image_sample_usage(m, timebase_now(), false);
}

void attend_wishes(struct collector *c, struct tracee *t)
{
    struct image *m = t->image;
    uint32_t toggles = image_hear(m, SEGMENT_WISH_TOGGLE), tags = image_hear(m, SEGMENT_WISH_TAG);
    uint32_t reports = image_hear(m, SEGMENT_WISH_REPORT);
    if (toggles + tags + reports == 0)
        return;
    attend_catch_up(c, t);
    if (toggles % 2 != 0)
        image_switch(m, !image_is_on(m));
    if (tags != 0)
        attend_tags(m, m->wishes[SEGMENT_WISH_TAG], tags);
    if (reports != 0) {
        struct err err;
        struct strbuf where;
        err_init(&err);
        strbuf_init(&where);
        (void)attend_report_now(c, t, NULL, 0, &where, &err);
        attend_complain(c, &err);
        strbuf_release(&where);
    }
}

/* ------------------------------------------------------------------------ ctl */

static void attend_status(const struct tracee *t, struct strbuf *text, struct control_figures *figures)
{
    const struct totals *sums = &t->image->pair.totals;
    strbuf_addf(text, "Process %u (%s) is recorded into %s. Recording is %s.", t->pid, t->image->view.exe,
                t->file->name, image_is_on(t->image) ? "on" : "off");
    *figures = (struct control_figures){
        .are_there = 1,
        .allocations = sums->allocations,
        .frees = sums->frees,
        .live_bytes = sums->live_bytes,
        .live_blocks = sums->live_blocks,
        .peak_bytes = sums->peak_bytes,
    };
}

static void attend_switch(struct tracee *t, bool on, struct strbuf *text)
{
    bool was = image_is_on(t->image);
    image_switch(t->image, on);
    image_follow(t->image, timebase_now());
    strbuf_addf(text, "Recording of process %u is %s%s.", t->pid, was == on ? "already " : "",
                on ? "on" : "off");
}

/* Acts, and says what was done. */
static enum control_code attend_act(struct collector *c, struct tracee *t,
                                    const struct control_request *request, struct strbuf *text,
                                    struct control_figures *figures)
{
    struct err err;
    err_init(&err);
    if (request->op != CONTROL_FIND)
        attend_catch_up(c, t);
    switch (request->op) {
    case CONTROL_ENABLE:
    case CONTROL_DISABLE:
        attend_switch(t, request->op == CONTROL_ENABLE, text);
        break;
    case CONTROL_TOGGLE:
        attend_switch(t, !image_is_on(t->image), text);
        break;
    case CONTROL_TAG:
        image_mark(t->image, request->text);
        image_sample_usage(t->image, timebase_now(), false);
        strbuf_addf(text, "Process %u is tagged '%s'.", t->pid, request->text);
        break;
    case CONTROL_REPORT:
        if (attend_report_now(c, t, request->text[0] == '\0' ? NULL : request->text, request->depth, text,
                              &err) != 0) {
            strbuf_clear(text);
            strbuf_add_text(text, err.text);
            return CONTROL_FAILED;
        }
        break;
    case CONTROL_STATUS:
        attend_status(t, text, figures);
        break;
    case CONTROL_FIND:
        strbuf_add_text(text, "Here.");
        break;
    case CONTROL_STOP:
        strbuf_addf(text, "Process %u is no longer recorded; it runs on. The recording is %s.", t->pid,
                    t->file->name);
        tracee_stop(c, t);
        break;
    default:
        strbuf_add_text(text, "The collector does not know this command.");
        return CONTROL_FAILED;
    }
    return CONTROL_DONE;
}

static bool attend_is_trusted(int connection)
{
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
           (who.uid == geteuid() || who.uid == 0);
}

void attend_control(struct collector *c, int connection, const struct control_request *request)
{
    static struct control_answer answer;
    struct strbuf text;
    strbuf_init(&text);
    struct tracee *t = tracee_find(c, request->pid);
    bool is_trusted = attend_is_trusted(connection);
    memset(&answer, 0, sizeof answer);
    answer.magic = CONTROL_MAGIC;
    if (t == NULL) {
        answer.code = CONTROL_UNKNOWN;
    } else if (!is_trusted) {
        answer.code = CONTROL_REFUSED;
        strbuf_addf(&text, "Process %u is recorded for another user; only that user and root may.", t->pid);
    } else if (request->version != CONTROL_VERSION && request->op != CONTROL_FIND) {
        answer.code = CONTROL_FAILED;
        strbuf_addf(&text, "Process %u is recorded by another version of heapwake.", t->pid);
    } else {
        answer.code = attend_act(c, t, request, &text, &answer.figures);
    }
    snprintf(answer.text, sizeof answer.text, "%s", strbuf_get(&text));
    strbuf_release(&text);
    (void)send(connection, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
}
