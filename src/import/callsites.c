/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * callsites: see callsites.h.
 */
#include "import/callsites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/loaded.h"
#include "import/segments.h"
#include "symbol/procmaps.h"

enum {
    CALLSITES_DEPTH = 1 << 16, /* frames of a stack */
    CALLSITES_MAPS = 64 << 20, /* bytes of the maps */
};

void callsites_release(struct callsites *c)
{
    vec_release(&c->addresses);
    vec_release(&c->list);
}

struct callsite *callsites_begin(struct callsites *c, struct linescan *s)
{
    struct callsite site = {.first = c->addresses.count};
    linescan_skip_spaces(s);
    while (linescan_left(s) > 0 && site.count < CALLSITES_DEPTH) {
        uint64_t address = linescan_address(s);
        linescan_skip_spaces(s);
        if (s->bad)
            return NULL;
        site.count++;
        if (!vec_push(&c->addresses, address))
            c->failed = true;
    }
    if (c->failed || !vec_push(&c->list, site)) {
        c->failed = true;
        return NULL;
    }
    return &c->list.data[c->list.count - 1];
}

static struct lot_sum callsites_pair(struct linescan *s)
{
    struct lot_sum sum;
    linescan_skip_spaces(s);
    sum.blocks = linescan_decimal(s);
    linescan_expect(s, ":");
    linescan_skip_spaces(s);
    sum.bytes = linescan_decimal(s);
    return sum;
}

void callsites_sums(struct linescan *s, struct lot_sum *end, struct lot_sum *allocated)
{
    *end = callsites_pair(s);
    linescan_skip_spaces(s);
    linescan_expect(s, "[");
    *allocated = callsites_pair(s);
    linescan_expect(s, "]");
}

struct lot_sum callsites_scale(struct lot_sum s, uint64_t period)
{
    if (period <= 1 || s.blocks == 0 || s.bytes == 0)
        return s;
    double size = (double)s.bytes / (double)s.blocks;
    double factor = 1 / (1 - exp(-size / (double)period));
    double blocks = (double)s.blocks * factor, bytes = (double)s.bytes * factor;
    if (!(bytes < 1e18) || !(blocks < 1e18)) /* lots refuse it */
        return (struct lot_sum){UINT64_MAX, UINT64_MAX};
    return (struct lot_sum){(uint64_t)llround(blocks), (uint64_t)llround(bytes)};
}

/* ------------------------------------------------------------------------ modules */

static int callsites_load(struct loaded *loaded, const struct procmaps *maps, struct import_job *job,
                          struct err *err)
{
    struct segments segments;
    segments_init(&segments, job->sysroot);
    int code = 0;
    for (size_t i = 0; i < maps->modules.count && code == 0; i++) {
        const struct procmaps_module *m = &maps->modules.data[i];
        uint64_t begin;
        /* Where the file is gone, most begin at 0. */
        if (!segments_find(&segments, m->path, m->code_offset, &begin))
            begin = m->code_offset;
        uint32_t module =
            recast_module(job->recast, &(struct wake_module_info){.start = m->start,
                                                                  .end = m->end,
                                                                  .bias = m->code_start - begin,
                                                                  .path = m->path,
                                                                  .path_length = strlen(m->path)});
        if (!loaded_add(loaded, m->start, m->end, module))
            code = err_no_memory(err);
    }
    segments_release(&segments);
    return code;
}

/* Takes the maps; the program is the first of them. */
static int callsites_take_maps(struct loaded *loaded, struct import_job *job, struct err *err)
{
    struct procmaps maps;
    uint8_t *text = NULL;
    size_t length;
    char name[300];
    procmaps_init(&maps);
    snprintf(name, sizeof name, "%.250s (MAPPED_LIBRARIES)", feed_path(job->feed));
    int code = feed_rest(job->feed, CALLSITES_MAPS, &text, &length, err);
    if (code == 0)
        code = procmaps_parse(&maps, (const char *)text, length, name, err);
    if (code == 0) {
        const char *exe = maps.modules.count > 0 ? maps.modules.data[0].path : "";
        recast_begin(job->recast, 0, exe, strlen(exe), exe, strlen(exe));
        code = callsites_load(loaded, &maps, job, err);
    }
    free(text);
    procmaps_release(&maps);
    return code;
}

int callsites_write(struct callsites *c, struct import_job *job, struct err *err)
{
    struct loaded loaded = {0};
    struct lots lots = {0};
    VEC(struct wake_frame) frames = {0};
    int code = callsites_take_maps(&loaded, job, err);
    for (size_t i = 0; i < c->list.count && code == 0; i++) {
        const struct callsite *site = &c->list.data[i];
        struct lot lot = {.allocated = site->allocated, .end = site->end};
        bool done = vec_reserve(&frames, site->count);
        for (uint32_t k = 0; k < site->count && done; k++) {
            uint64_t address = c->addresses.data[site->first + k];
            frames.data[k] = (struct wake_frame){address & INT64_MAX, loaded_find(&loaded, address)};
        }
        if (done)
            lot.stack = recast_stack(job->recast, frames.data, site->count);
        if (!done || !lots_add(&lots, &lot))
            code = err_no_memory(err);
    }
    if (code == 0)
        code = lots_write(&lots, job, err);
    job->is_nameless = true;
    vec_release(&frames);
    lots_release(&lots);
    loaded_release(&loaded);
    return code;
}
