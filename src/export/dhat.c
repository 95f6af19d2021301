/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * dhat: the JSON of Valgrind's DHAT, version 2, for dh_view.html and the
 * Firefox Profiler.  Lifetimes are in it, accesses are not (bkacc is false).
 *
 *     pps    a program point is a site: its blocks and bytes in all (tb, tbk), at
 *            most (mb, mbk), at the peak of the heap (gb, gbk), at the end (eb,
 *            ebk), its lifetimes (tl), its frames, innermost first (fs)
 *     ftbl   the frames; number 0 is the root
 *
 * Times are in microseconds.
 */
#include "export/export.h"

#include "engine/follow.h"
#include "export/caption.h"
#include "export/holding.h"
#include "export/subject.h"
#include "present/json.h"

struct dhat {
    const struct export_job *job;
    struct err *err;
    struct subject subject;
    struct holding holding;
    struct map numbers;   /* frame + 1 (0: no stack) -> number in ftbl */
    VEC(uint32_t) frames; /* by number in ftbl - 1: frame + 1 */
};

static int dhat_alloc(void *context, struct follow_block *b, bool is_earlier)
{
    struct dhat *d = context;
    bool is_peak;
    (void)is_earlier;
    return holding_add(&d->holding, b, &is_peak, d->err);
}

static int dhat_release(void *context, const struct follow_block *b, const struct follow_end *end)
{
    struct dhat *d = context;
    holding_remove(&d->holding, b, end);
    return 0;
}

/* Blocks that are left have lived until the end. */
static int dhat_left(void *context, const struct follow_block *b)
{
    struct dhat *d = context;
    uint32_t at = d->holding.by_stack.data[b->stack] - 1;
    uint64_t until = d->subject.to_ns > b->born_ns ? d->subject.to_ns - b->born_ns : 0;
    d->holding.traces.data[at].lifetimes_ns += until;
    return 0;
}

/* ---------------------------------------------------------------------- file */

static bool dhat_add_frame(struct dhat *d, struct strbuf *list, uint32_t frame)
{
    const uint64_t *known = map_find(&d->numbers, frame);
    if (known == NULL && (!vec_push(&d->frames, frame) || !map_set(&d->numbers, frame, d->frames.count)))
        return false;
    uint64_t number = known != NULL ? *known : d->frames.count;
    strbuf_addf(list, "%s%llu", list->length > 1 ? "," : "", (unsigned long long)number);
    return true;
}

static bool dhat_write_point(struct dhat *d, struct json *j, const struct holding_trace *t,
                             struct strbuf *list)
{
    const struct traces *c = d->job->traces;
    bool fine = true;
    strbuf_clear(list);
    strbuf_add_char(list, '[');
    for (uint32_t at = t->trace; at != 0 && fine; at = traces_parent(c, at))
        fine = dhat_add_frame(d, list, c->traces.data[at].frame + 1);
    if (t->trace == 0)
        fine = dhat_add_frame(d, list, 0);
    strbuf_add_char(list, ']');
    json_open_object(j, NULL);
    json_add_number(j, "tb", t->made_bytes);
    json_add_number(j, "tbk", t->made_blocks);
    json_add_number(j, "tl", t->lifetimes_ns / 1000);
    json_add_number(j, "mb", t->highest_bytes);
    json_add_number(j, "mbk", t->highest_blocks);
    json_add_number(j, "gb", t->peak_bytes);
    json_add_number(j, "gbk", t->peak_blocks);
    json_add_number(j, "eb", t->bytes);
    json_add_number(j, "ebk", t->blocks);
    json_add_written(j, "fs", list);
    json_close_object(j);
    out_settle(d->job->out);
    return fine && !list->failed;
}

static void dhat_write_head(struct dhat *d, struct json *j, struct strbuf *text)
{
    uint64_t from = d->subject.from_ns;
    caption_add_command(text, d->job->veil, d->subject.process);
    json_open_object(j, NULL);
    json_add_number(j, "dhatFileVersion", 2);
    json_add_text(j, "mode", "heap", 4);
    json_add_text(j, "verb", "Allocated", 9);
    json_add_bool(j, "bklt", true);
    json_add_bool(j, "bkacc", false);
    json_add_text(j, "tu", "\xc2\xb5s", 3);
    json_add_text(j, "Mtu", "s", 1);
    json_add_number(j, "tuth", 10);
    json_add_text(j, "cmd", strbuf_get(text), text->length);
    json_add_number(j, "pid", d->subject.process->info.pid);
    json_add_number(j, "te", (d->subject.to_ns - from) / 1000);
    json_add_number(j, "tg", (d->holding.peak_ns - from) / 1000);
}

static void dhat_write_frames(struct dhat *d, struct json *j, struct strbuf *text)
{
    json_open_array(j, "ftbl");
    json_add_text(j, NULL, "[root]", 6);
    for (size_t i = 0; i < d->frames.count; i++) {
        strbuf_clear(text);
        if (d->frames.data[i] == 0)
            strbuf_add_text(text, CAPTION_NO_STACK);
        else
            caption_add_place(text, &d->job->traces->frames.data[d->frames.data[i] - 1]);
        json_add_text(j, NULL, strbuf_get(text), text->length);
        out_settle(d->job->out);
    }
    json_close_array(j);
}

static bool dhat_write(struct dhat *d)
{
    struct json j;
    struct strbuf text;
    bool fine = true;
    json_init(&j, &d->job->out->buffer);
    strbuf_init(&text);
    dhat_write_head(d, &j, &text);
    json_open_array(&j, "pps");
    for (size_t i = 0; i < d->holding.traces.count && fine && d->job->out->error == 0; i++)
        fine = dhat_write_point(d, &j, &d->holding.traces.data[i], &text);
    json_close_array(&j);
    dhat_write_frames(d, &j, &text);
    json_close_object(&j);
    out_settle(d->job->out);
    strbuf_release(&text);
    return fine;
}

int export_dhat(const struct export_job *job, struct err *err)
{
    static const struct follow_calls calls = {NULL, dhat_alloc, dhat_release, dhat_left};
    struct dhat d = {.job = job, .err = err};
    subject_init(&d.subject, job);
    map_init(&d.numbers);
    int code = holding_init(&d.holding, job, &d.subject, err);
    if (code == 0)
        code = follow_run(job->query, job->reader, d.subject.index, WAKE_SIZE | WAKE_STACK | WAKE_USABLE,
                          &calls, &d, err);
    if (code == 0 && !dhat_write(&d))
        code = err_no_memory(err);
    holding_release(&d.holding);
    map_release(&d.numbers);
    vec_release(&d.frames);
    return code;
}
