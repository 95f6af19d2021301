/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * copy_meta: see copy_meta.h.
 */
#include "store/copy_meta.h"

#include <string.h>

#include "store/recording.h"
#include "tool/vec.h"

static bool copy_stacks(struct wake_writer *w, uint32_t number, const struct wake_process *p)
{
    VEC(struct wake_frame) frames = {0};
    bool fine = true;
    for (size_t i = 1; i < p->stacks.count; i++) {
        const struct wake_stack *stack = &p->stacks.data[i];
        frames.count = 0;
        for (uint32_t node = stack->leaf; node != 0 && fine; node = p->nodes.data[node].parent) {
            struct wake_frame frame = {p->nodes.data[node].address, p->nodes.data[node].module};
            fine = vec_push(&frames, frame);
        }
        wake_writer_add_stack(w, number, frames.data, (uint32_t)frames.count, stack->omitted, stack->cut);
    }
    vec_release(&frames);
    return fine;
}

static void copy_threads(struct wake_writer *w, uint32_t number, const struct wake_process *p)
{
    for (size_t i = 0; i < p->threads.count; i++) {
        const struct wake_thread *t = &p->threads.data[i];
        wake_writer_add_thread(w, number, t->number, t->tid, t->start_ns);
        if (t->name[0] != '\0')
            wake_writer_name_thread(w, number, t->number, t->name, strlen(t->name), t->start_ns);
    }
}

static void copy_modules(struct wake_writer *w, uint32_t number, const struct wake_process *p)
{
    for (size_t i = 0; i < p->modules.count; i++) {
        const struct wake_module *m = &p->modules.data[i];
        const struct wake_module_info info = {
            .start = m->start,
            .end = m->end,
            .bias = m->bias,
            .build_id = m->build_id,
            .build_id_length = m->build_id_length,
            .path = m->path,
            .path_length = strlen(m->path),
        };
        wake_writer_add_module(w, number, &info);
    }
}

bool copy_meta(struct wake_writer *w, uint32_t number, const struct wake_process *p, bool has_samples)
{
    copy_threads(w, number, p);
    copy_modules(w, number, p);
    for (size_t i = 0; i < p->pools.count; i++)
        wake_writer_add_pool(w, number, p->pools.data[i].number, p->pools.data[i].name,
                             p->pools.data[i].unit);
    for (size_t i = 0; has_samples && i < p->samples.count; i++)
        wake_writer_sample_rss(w, number, p->samples.data[i].time_ns, p->samples.data[i].rss_bytes);
    for (size_t i = 0; has_samples && i < p->usage_samples.count; i++) {
        const struct wake_usage_sample *s = &p->usage_samples.data[i];
        wake_writer_sample_usage(w, number, s->time_ns, s->took_ns, s->anew, p->usage.data + s->first,
                                 s->count);
    }
    return copy_stacks(w, number, p);
}

bool copy_levels(struct wake_writer *w, uint32_t number, struct wake_reader *r, size_t process)
{
    const struct wake_process *p = wake_reader_process(r, process);
    struct payload from;
    int code = p->ended && !p->derived ? recording_read_levels(r, process, &from) : ERR_ABSENT;
    if (code == 0)
        wake_writer_set_levels(w, number, from.bytes, from.length);
    return code != ERR_MEMORY;
}
