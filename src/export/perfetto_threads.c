/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * perfetto_threads: see perfetto.h.
 *
 * One reading of the matching blocks keeps the level of every thread: what it
 * made and nobody has freed.  When a stretch of the window is over, the highest
 * level of those that changed in it is written.
 */
#include "export/perfetto.h"

#include <stdio.h>

#include "engine/follow.h"
#include "tool/map.h"
#include "tool/vec.h"

enum { PERFETTO_THREADS = 200 }; /* more curves nobody looks at */

struct perfetto_level {
    uint32_t thread;
    uint64_t bytes, highest; /* now, and in this stretch */
    uint64_t told;           /* what was written last; UINT64_MAX = nothing */
    bool has_changed;
};

struct perfetto_course {
    struct perfetto *perfetto;
    const struct wake_process *process;
    struct map slots; /* thread -> index in levels */
    VEC(struct perfetto_level) levels;
    VEC(uint32_t) changed; /* indexes */
    struct query_range window;
    uint64_t tick_ns, step_ns;
    struct err *err;
};

static void perfetto_put_level(struct perfetto_course *c, struct perfetto_level *l)
{
    char name[64];
    const struct wake_thread *t = wake_process_find_thread(c->process, l->thread);
    if (l->highest != l->told) {
        snprintf(name, sizeof name, "heap of thread %u", t == NULL ? l->thread : t->tid);
        perfetto_put_counter(c->perfetto, c->process->info.pid, name, "bytes",
                             c->tick_ns < c->window.max ? c->tick_ns : c->window.max, l->highest);
    }
    l->told = l->highest;
    l->highest = l->bytes;
}

/* Ends the stretches before a moment. */
static int perfetto_advance(struct perfetto_course *c, uint64_t ns)
{
    if (ns < c->tick_ns || ns - c->tick_ns < c->step_ns)
        return 0;
    size_t again = 0;
    for (size_t i = 0; i < c->changed.count; i++) {
        struct perfetto_level *l = &c->levels.data[c->changed.data[i]];
        perfetto_put_level(c, l);
        l->has_changed = l->told != l->bytes; /* the highest is over: the level itself comes next */
        if (l->has_changed)
            c->changed.data[again++] = c->changed.data[i];
    }
    c->changed.count = again;
    c->tick_ns += c->step_ns;
    if (ns - c->tick_ns >= c->step_ns) { /* nothing happens for a while */
        for (size_t i = 0; i < c->changed.count; i++) {
            perfetto_put_level(c, &c->levels.data[c->changed.data[i]]);
            c->levels.data[c->changed.data[i]].has_changed = false;
        }
        c->changed.count = 0;
        c->tick_ns += (ns - c->tick_ns) / c->step_ns * c->step_ns;
    }
    return c->perfetto->job->out->error != 0 ? ERR_IO : 0;
}

/* A block of this thread came or went. */
static int perfetto_change(struct perfetto_course *c, uint32_t thread, uint64_t size, bool is_new)
{
    const uint64_t *known = map_find(&c->slots, thread);
    size_t at = known == NULL ? c->levels.count : (size_t)*known;
    struct perfetto_level fresh = {.thread = thread, .told = UINT64_MAX};
    if (known == NULL && (!map_set(&c->slots, thread, at) || !vec_push(&c->levels, fresh)))
        return err_no_memory(c->err);
    struct perfetto_level *l = &c->levels.data[at];
    l->bytes = is_new ? l->bytes + size : l->bytes - size;
    l->highest = l->bytes > l->highest ? l->bytes : l->highest;
    if (!l->has_changed && !vec_push(&c->changed, (uint32_t)at))
        return err_no_memory(c->err);
    l->has_changed = true;
    return 0;
}

static int perfetto_alloc(void *context, struct follow_block *block, bool is_earlier)
{
    struct perfetto_course *c = context;
    int code = is_earlier ? 0 : perfetto_advance(c, block->born_ns);
    return code != 0 ? code : perfetto_change(c, block->thread, block->bytes, true);
}

static int perfetto_release(void *context, const struct follow_block *block, const struct follow_end *end)
{
    struct perfetto_course *c = context;
    int code = perfetto_advance(c, end->time_ns);
    return code != 0 ? code : perfetto_change(c, block->thread, block->bytes, false);
}

int perfetto_put_threads(struct perfetto *p, uint32_t process, struct err *err)
{
    static const struct follow_calls calls = {.alloc = perfetto_alloc, .release = perfetto_release};
    struct perfetto_course c = {.perfetto = p,
                                .process = wake_reader_process(p->job->reader, process),
                                .window = export_window(p->job),
                                .err = err};
    if (c.process->threads.count < 2 || c.process->threads.count > PERFETTO_THREADS)
        return 0;
    map_init(&c.slots);
    c.tick_ns = c.window.min;
    c.step_ns = (c.window.max - c.window.min) / PERFETTO_TICKS + 1;
    int code = follow_run(p->job->query, p->job->reader, process, WAKE_THREAD | WAKE_SIZE, &calls, &c, err);
    for (unsigned twice = 0; twice < 2 && code == 0; twice++, c.tick_ns += c.step_ns) {
        for (size_t i = 0; i < c.changed.count; i++)
            perfetto_put_level(&c, &c.levels.data[c.changed.data[i]]);
    }
    vec_release(&c.levels);
    vec_release(&c.changed);
    map_release(&c.slots);
    return p->job->out->error != 0 ? 0 : code; /* what failed there is told when it is flushed */
}
