/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_dhat: the JSON file of Valgrind's DHAT, and of dhat-rs, version 2.
 *
 *     {"dhatFileVersion":2, "mode":"heap", "bklt":true, "tu":"instrs", "cmd":"./app", "pid":77,
 *      "te":718279, "tg":179844,                               end and peak, in tu
 *      "pps":[{"tb":12000,"tbk":300,                           allocated: bytes, blocks
 *              "gb":12000,"gbk":300, "eb":0,"ebk":0,           at the peak, at the end
 *              "fs":[1,2,3]}, ...],                            frames, the innermost first
 *      "ftbl":["[root]", "0x1093B9: leak_small (blame.c:64)", ...]}
 *
 * Frames come last, so everything is gathered first.  The text is in memory as
 * a whole.
 */
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

#include "import/jsonread.h"
#include "import/lots.h"
#include "import/valgrind_frame.h"
#include "tool/vec.h"

enum { DHAT_SIZE_MAX = 1 << 30 };

struct dhat_point {
    size_t first; /* of its frames */
    uint32_t count;
    struct lot lot;
};

struct dhat_file {
    struct import_job *job;
    struct jsonread json;
    VEC(struct dhat_point) points;
    VEC(uint32_t) indexes;         /* in the table of frames, of all points */
    VEC(struct wake_frame) frames; /* the table */
    VEC(struct wake_frame) path;
    struct strbuf text, command, mode, unit;
    uint64_t version, pid, end, peak;
    bool has_lifetimes, has_points, has_frames;
    bool failed; /* no memory */
};

static void dhat_take_frames(struct dhat_file *d, struct dhat_point *p)
{
    p->first = d->indexes.count;
    jsonread_open(&d->json, '[');
    while (jsonread_more(&d->json)) {
        uint64_t index = jsonread_number(&d->json);
        if (index > UINT32_MAX)
            d->json.bad = true;
        else if (!vec_push(&d->indexes, (uint32_t)index))
            d->failed = d->json.bad = true;
    }
    p->count = (uint32_t)(d->indexes.count - p->first);
}

static void dhat_take_point(struct dhat_file *d)
{
    struct dhat_point p = {0};
    const struct {
        const char *key;
        uint64_t *value;
    } numbers[] = {{"tb", &p.lot.allocated.bytes}, {"tbk", &p.lot.allocated.blocks},
                   {"gb", &p.lot.peak.bytes},      {"gbk", &p.lot.peak.blocks},
                   {"eb", &p.lot.end.bytes},       {"ebk", &p.lot.end.blocks}};
    char key[8];
    jsonread_open(&d->json, '{');
    while (jsonread_key(&d->json, key, sizeof key)) {
        size_t i = 0, count = sizeof numbers / sizeof *numbers;
        while (i < count && strcmp(numbers[i].key, key) != 0)
            i++;
        if (i < count)
            *numbers[i].value = jsonread_number(&d->json);
        else if (strcmp(key, "fs") == 0)
            dhat_take_frames(d, &p);
        else
            jsonread_skip(&d->json);
    }
    if (!d->json.bad && !vec_push(&d->points, p))
        d->failed = d->json.bad = true;
}

/* The table of frames: the process is known by now, or never. */
static void dhat_take_table(struct dhat_file *d)
{
    recast_begin(d->job->recast, (uint32_t)d->pid, "", 0, strbuf_get(&d->command), d->command.length);
    d->has_frames = true;
    jsonread_open(&d->json, '[');
    while (jsonread_more(&d->json)) {
        jsonread_text(&d->json, &d->text);
        if (!d->json.bad &&
            !vec_push(&d->frames, valgrind_frame(d->job->recast, strbuf_get(&d->text), d->text.length)))
            d->failed = d->json.bad = true;
    }
}

static void dhat_take_member(struct dhat_file *d, const char *key)
{
    struct jsonread *j = &d->json;
    if (strcmp(key, "dhatFileVersion") == 0) {
        d->version = jsonread_number(j);
    } else if (strcmp(key, "mode") == 0) {
        jsonread_text(j, &d->mode);
    } else if (strcmp(key, "bklt") == 0) {
        d->has_lifetimes = jsonread_bool(j);
    } else if (strcmp(key, "tu") == 0) {
        jsonread_text(j, &d->unit);
    } else if (strcmp(key, "cmd") == 0) {
        jsonread_text(j, &d->command);
    } else if (strcmp(key, "pid") == 0) {
        d->pid = jsonread_number(j);
    } else if (strcmp(key, "te") == 0) {
        d->end = jsonread_number(j);
    } else if (strcmp(key, "tg") == 0) {
        d->peak = jsonread_number(j);
    } else if (strcmp(key, "ftbl") == 0) {
        dhat_take_table(d);
    } else if (strcmp(key, "pps") == 0) {
        d->has_points = true;
        jsonread_open(j, '[');
        while (jsonread_more(j))
            dhat_take_point(d);
    } else {
        jsonread_skip(j);
    }
}

static int dhat_read(struct dhat_file *d, struct err *err)
{
    struct feed *feed = d->job->feed;
    struct jsonread *j = &d->json;
    char key[24];
    jsonread_open(j, '{');
    while (jsonread_key(j, key, sizeof key))
        dhat_take_member(d, key);
    if (d->failed || d->text.failed || d->command.failed || d->mode.failed || d->unit.failed)
        return err_no_memory(err);
    if (j->bad)
        return feed_refuse_byte(feed, (uint64_t)(j->at - j->begin), err,
                                "this is not what DHAT writes there.");
    if (d->version != 2)
        return err_set(err, ERR_UNSUPPORTED, "%s has version %llu of DHAT's format; only 2 is known.",
                       feed_path(feed), (unsigned long long)d->version);
    if (!d->has_lifetimes)
        return err_set(err, ERR_UNSUPPORTED, "%s is not about a heap: DHAT was run in mode %s.",
                       feed_path(feed), strbuf_get(&d->mode));
    if (!d->has_points || !d->has_frames)
        return err_set(err, ERR_INPUT, "%s has no %s.", feed_path(feed), d->has_points ? "ftbl" : "pps");
    return recast_check(d->job->recast, err);
}

/* Nanoseconds of a unit of time. */
static uint64_t dhat_unit_ns(const struct dhat_file *d)
{
    const char *unit = strbuf_get(&d->unit);
    if (strcmp(unit, "instrs") == 0) {
        recast_note(d->job->recast, "Times are not of a clock: an instruction is taken as a nanosecond.");
        return 1;
    }
    return strcmp(unit, "µs") == 0 || strcmp(unit, "us") == 0 ? 1000 : strcmp(unit, "ms") == 0 ? 1000000 : 1;
}

/* The stack of a point.  ERR_INPUT: a frame is not in the table. */
static int dhat_stack(struct dhat_file *d, size_t number, uint32_t *stack, struct err *err)
{
    const struct dhat_point *p = &d->points.data[number];
    if (!vec_reserve(&d->path, p->count))
        return err_no_memory(err);
    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t index = d->indexes.data[p->first + k];
        if (index >= d->frames.count)
            return err_set(err, ERR_INPUT, "%s: entry %zu of pps names frame %u, which is not in ftbl.",
                           feed_path(d->job->feed), number, index);
        d->path.data[k] = d->frames.data[index];
    }
    *stack = recast_stack(d->job->recast, d->path.data, p->count);
    return 0;
}

static int dhat_write(struct dhat_file *d, struct err *err)
{
    struct lots lots = {.knows_peak = true};
    uint64_t unit = dhat_unit_ns(d), most = UINT64_MAX / 2 / unit;
    int code = 0;
    lots.peak_ns = d->peak < most ? d->peak * unit : 0;
    lots.end_ns = d->end < most ? d->end * unit : 0;
    for (size_t i = 0; i < d->points.count && code == 0; i++) {
        struct lot lot = d->points.data[i].lot;
        code = dhat_stack(d, i, &lot.stack, err);
        if (code == 0 && !lots_add(&lots, &lot))
            code = err_no_memory(err);
    }
    recast_note(d->job->recast,
                "DHAT's accesses, each stack's own largest size and lifetimes have no place in a recording.");
    if (code == 0)
        code = lots_write(&lots, d->job, err);
    lots_release(&lots);
    return code;
}

bool from_dhat_is_one(const char *head, size_t length)
{
    return length > 0 && head[0] == '{' && memmem(head, length, "\"dhatFileVersion\"", 17) != NULL;
}

int from_dhat(struct import_job *job, struct err *err)
{
    struct dhat_file d = {.job = job};
    uint8_t *text = NULL;
    size_t length;
    strbuf_init(&d.text);
    strbuf_init(&d.command);
    strbuf_init(&d.mode);
    strbuf_init(&d.unit);
    int code = feed_rest(job->feed, DHAT_SIZE_MAX, &text, &length, err);
    if (code == 0) {
        jsonread_init(&d.json, (const char *)text, length);
        code = dhat_read(&d, err);
    }
    if (code == 0)
        code = dhat_write(&d, err);
    free(text);
    vec_release(&d.points);
    vec_release(&d.indexes);
    vec_release(&d.frames);
    vec_release(&d.path);
    strbuf_release(&d.text);
    strbuf_release(&d.command);
    strbuf_release(&d.mode);
    strbuf_release(&d.unit);
    return code;
}
