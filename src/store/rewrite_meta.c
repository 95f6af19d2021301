/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rewrite_meta: what a recording knows of a process beside its events, written anew:
 * with the number and times of the new file, and with other names where there is a
 * mask.  Numbers of threads, modules, pools and stacks stay.
 */
#include <errno.h>
#include <string.h>

#include "store/meta.h"
#include "store/rewriting.h"

enum { REWRITE_USAGE_STEP = 256 }; /* ranges of usage in a record */

/* A text by one of the functions of the mask, or as it is. */
static const char *rewrite_text(const struct rewrite_source *x, const char *(*show)(void *, const char *),
                                const char *text)
{
    const char *plain = text == NULL ? "" : text;
    const char *shown = show == NULL ? plain : show(x->mask->of, plain);
    if (shown == NULL)
        writer_fail(x->w, ENOMEM);
    return shown == NULL ? "" : shown;
}

/* Where nothing is masked. */
static const struct rewrite_mask rewrite_plain;

static const struct rewrite_mask *rewrite_mask(const struct rewrite_source *x)
{
    return x->mask == NULL ? &rewrite_plain : x->mask;
}

void rewrite_add_process(const struct rewrite_source *x, const struct wake_process *p, uint32_t number)
{
    struct wake_process_info info = p->info;
    info.parent = info.parent == 0 ? 0 : info.parent + x->base;
    info.start_ns = rewrite_time(x, info.start_ns);
    info.exe = rewrite_text(x, rewrite_mask(x)->show_program, info.exe);
    if (x->mask != NULL) {
        info.args = info.exe;
        info.args_length = info.exe[0] == '\0' ? 0 : strlen(info.exe) + 1;
    }
    strbuf_clear(&x->w->scratch);
    meta_encode_process(&x->w->scratch, &info);
    writer_chunk_of(x->w, FORMAT_PROCESS, number, &x->w->scratch);
}

static void rewrite_add_threads(const struct rewrite_source *x, const struct wake_process *p, uint32_t number,
                                struct meta *m)
{
    for (size_t i = 0; i < p->threads.count; i++) {
        const struct wake_thread *t = &p->threads.data[i];
        const char *name = rewrite_text(x, rewrite_mask(x)->show_thread, t->name);
        meta_add_thread(m, t->number, t->tid, rewrite_time(x, t->start_ns));
        if (name[0] != '\0')
            meta_name_thread(m, t->number, name, strlen(name), rewrite_time(x, t->start_ns));
        writer_put_full(x->w, number, m);
    }
}

static void rewrite_add_modules(const struct rewrite_source *x, const struct wake_process *p, uint32_t number,
                                struct meta *m)
{
    const bool has_id = x->mask == NULL || x->mask->has_build_ids;
    for (size_t i = 0; i < p->modules.count; i++) {
        const struct wake_module *from = &p->modules.data[i];
        const char *path = from->path;
        if (x->mask != NULL)
            path = x->mask->show_module(x->mask->of, number - x->base, (uint32_t)i + 1);
        if (path == NULL) {
            writer_fail(x->w, ENOMEM);
            return;
        }
        meta_add_module(m, &(struct wake_module_info){.start = from->start,
                                                      .end = from->end,
                                                      .bias = from->bias,
                                                      .build_id = from->build_id,
                                                      .build_id_length = has_id ? from->build_id_length : 0,
                                                      .path = path,
                                                      .path_length = strlen(path)});
        writer_put_full(x->w, number, m);
    }
}

static void rewrite_add_marks(const struct rewrite_source *x, const struct wake_process *p, uint32_t number,
                              struct meta *m)
{
    for (size_t i = 0; i < p->marks.count; i++) {
        const struct wake_mark *mark = &p->marks.data[i];
        const char *name = rewrite_text(x, rewrite_mask(x)->show_mark, mark->name);
        meta_add_mark(m, rewrite_time(x, mark->time_ns), mark->thread, name, strlen(name));
        writer_put_full(x->w, number, m);
    }
}

static void rewrite_add_pools(const struct rewrite_source *x, const struct wake_process *p, struct meta *m)
{
    for (size_t i = 0; i < p->pools.count; i++) {
        const struct wake_pool *pool = &p->pools.data[i];
        const char *name = rewrite_text(x, rewrite_mask(x)->show_pool, pool->name);
        const char *unit = rewrite_text(x, rewrite_mask(x)->show_pool, pool->unit);
        meta_add_pool(m, pool->number, name, unit);
    }
}

static void rewrite_add_usage(const struct rewrite_source *x, const struct wake_process *p, uint32_t number,
                              struct meta *m)
{
    for (size_t i = 0; i < p->usage_samples.count; i++) {
        const struct wake_usage_sample *sample = &p->usage_samples.data[i];
        struct wake_usage step[REWRITE_USAGE_STEP];
        for (size_t first = 0; first == 0 || first < sample->count; first += REWRITE_USAGE_STEP) {
            size_t left = sample->count - first,
                   count = left < REWRITE_USAGE_STEP ? left : REWRITE_USAGE_STEP;
            for (size_t k = 0; k < count; k++) {
                step[k] = p->usage.data[sample->first + first + k];
                step[k].name = rewrite_text(x, rewrite_mask(x)->show_range, step[k].name);
            }
            meta_add_usage(m, rewrite_time(x, sample->time_ns), sample->took_ns, sample->anew && first == 0,
                           step, count);
            writer_put_full(x->w, number, m);
        }
    }
}

static void rewrite_add_gaps(const struct rewrite_source *x, const struct wake_process *p, uint32_t number,
                             struct meta *m)
{
    for (size_t i = 0; i < p->gaps.count; i++) {
        meta_add_gap(m, p->gaps.data[i].number, p->gaps.data[i].skipped);
        writer_put_full(x->w, number, m);
    }
}

static void rewrite_add_stacks(const struct rewrite_source *x, const struct wake_process *p, uint32_t number,
                               struct meta *m)
{
    VEC(struct wake_frame) frames = {0};
    for (size_t i = 1; i < p->stacks.count; i++) {
        const struct wake_stack *stack = &p->stacks.data[i];
        frames.count = 0;
        for (uint32_t node = stack->leaf; node != 0; node = p->nodes.data[node].parent) {
            struct wake_frame frame = {p->nodes.data[node].address, p->nodes.data[node].module};
            if (!vec_push(&frames, frame)) {
                writer_fail(x->w, ENOMEM);
                break;
            }
        }
        meta_add_stack(m, frames.data, (uint32_t)frames.count, stack->omitted, stack->cut);
        writer_put_full(x->w, number, m);
    }
    vec_release(&frames);
}

void rewrite_add_meta(const struct rewrite_source *x, const struct wake_process *p, uint32_t number,
                      struct meta *m, unsigned parts)
{
    rewrite_add_threads(x, p, number, m);
    rewrite_add_modules(x, p, number, m);
    if ((parts & REWRITE_MARKS) != 0)
        rewrite_add_marks(x, p, number, m);
    for (size_t i = 0; (parts & REWRITE_SAMPLES) != 0 && i < p->samples.count; i++)
        meta_add_sample(m, rewrite_time(x, p->samples.data[i].time_ns), p->samples.data[i].rss_bytes);
    rewrite_add_pools(x, p, m);
    if ((parts & REWRITE_SAMPLES) != 0)
        rewrite_add_usage(x, p, number, m);
    if ((parts & REWRITE_GAPS) != 0)
        rewrite_add_gaps(x, p, number, m);
    if ((parts & REWRITE_STACKS) != 0)
        rewrite_add_stacks(x, p, number, m);
}

void rewrite_copy_levels(const struct rewrite_source *x, size_t process, struct strbuf *to)
{
    const struct wake_process *p = wake_reader_process(x->r, process);
    struct payload from;
    int code = p->ended && !p->derived ? recording_read_levels(x->r, process, &from) : ERR_ABSENT;
    strbuf_clear(to);
    if (code == 0)
        strbuf_add(to, from.bytes, from.length);
    if (code == ERR_MEMORY)
        writer_fail(x->w, ENOMEM);
}
