/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * splice_meta: who and what is in a recording, written anew: with the numbers and
 * times of the new file, and with other names where there is a mask.
 */
#include <errno.h>
#include <string.h>

#include "store/meta.h"
#include "store/splicing.h"

enum { SPLICE_USAGE_STEP = 256 }; /* ranges of usage in a record */

/* A text by one of the functions of the mask, or as it is. */
static const char *splice_text(struct splice_source *x, const char *(*show)(void *, const char *),
                               const char *text)
{
    const char *plain = text == NULL ? "" : text;
    const char *shown = show == NULL ? plain : show(x->mask->of, plain);
    if (shown == NULL)
        splice_fail(x->s, ENOMEM);
    return shown == NULL ? "" : shown;
}

static void splice_put_meta(struct wake_splice *s, struct meta *m, uint32_t process, bool is_last)
{
    if (!is_last && !meta_is_full(m))
        return;
    splice_chunk(s, FORMAT_THREADS, process, &m->threads);
    splice_chunk(s, FORMAT_MODULES, process, &m->modules);
    splice_chunk(s, FORMAT_SAMPLES, process, &m->samples);
    splice_chunk(s, FORMAT_MARKS, process, &m->marks);
    splice_chunk(s, FORMAT_POOLS, process, &m->pools);
    splice_chunk(s, FORMAT_USAGE, process, &m->usage);
    splice_chunk(s, FORMAT_GAPS, process, &m->gaps);
    meta_restart(m);
}

static void splice_add_process(struct splice_source *x, const struct wake_process *p, uint32_t process)
{
    struct wake_process_info info = p->info;
    if (!p->known)
        return;
    info.parent = info.parent == 0 ? 0 : info.parent + x->base;
    info.start_ns = splice_time(x, info.start_ns);
    info.exe = splice_text(x, x->mask == NULL ? NULL : x->mask->show_program, info.exe);
    if (x->mask != NULL) {
        info.args = info.exe;
        info.args_length = info.exe[0] == '\0' ? 0 : strlen(info.exe) + 1;
    }
    strbuf_clear(&x->s->scratch);
    meta_encode_process(&x->s->scratch, &info);
    splice_chunk(x->s, FORMAT_PROCESS, process, &x->s->scratch);
}

static void splice_add_threads(struct splice_source *x, const struct wake_process *p, struct meta *m,
                               uint32_t process)
{
    for (size_t i = 0; i < p->threads.count; i++) {
        const struct wake_thread *t = &p->threads.data[i];
        const char *name = splice_text(x, x->mask == NULL ? NULL : x->mask->show_thread, t->name);
        meta_add_thread(m, t->number, t->tid, splice_time(x, t->start_ns));
        if (name[0] != '\0')
            meta_name_thread(m, t->number, name, strlen(name), splice_time(x, t->start_ns));
        splice_put_meta(x->s, m, process, false);
    }
}

static void splice_add_modules(struct splice_source *x, const struct wake_process *p, struct meta *m,
                               uint32_t process)
{
    for (size_t i = 0; i < p->modules.count; i++) {
        const struct wake_module *from = &p->modules.data[i];
        const char *path = from->path;
        if (x->mask != NULL)
            path = x->mask->show_module(x->mask->of, process - x->base, (uint32_t)i + 1);
        if (path == NULL) {
            splice_fail(x->s, ENOMEM);
            return;
        }
        bool has_id = x->mask == NULL || x->mask->has_build_ids;
        meta_add_module(m, &(struct wake_module_info){.start = from->start,
                                                      .end = from->end,
                                                      .bias = from->bias,
                                                      .build_id = from->build_id,
                                                      .build_id_length = has_id ? from->build_id_length : 0,
                                                      .path = path,
                                                      .path_length = strlen(path)});
        splice_put_meta(x->s, m, process, false);
    }
}

static void splice_add_moments(struct splice_source *x, const struct wake_process *p, struct meta *m,
                               uint32_t process)
{
    for (size_t i = 0; i < p->marks.count; i++) {
        const struct wake_mark *mark = &p->marks.data[i];
        const char *name = splice_text(x, x->mask == NULL ? NULL : x->mask->show_mark, mark->name);
        meta_add_mark(m, splice_time(x, mark->time_ns), mark->thread, name, strlen(name));
        splice_put_meta(x->s, m, process, false);
    }
    for (size_t i = 0; i < p->samples.count; i++) {
        meta_add_sample(m, splice_time(x, p->samples.data[i].time_ns), p->samples.data[i].rss_bytes);
        splice_put_meta(x->s, m, process, false);
    }
}

static void splice_add_pools(struct splice_source *x, const struct wake_process *p, struct meta *m,
                             uint32_t process)
{
    for (size_t i = 0; i < p->pools.count; i++) {
        const struct wake_pool *pool = &p->pools.data[i];
        const char *name = splice_text(x, x->mask == NULL ? NULL : x->mask->show_pool, pool->name);
        const char *unit = splice_text(x, x->mask == NULL ? NULL : x->mask->show_pool, pool->unit);
        meta_add_pool(m, pool->number, name, unit);
        splice_put_meta(x->s, m, process, false);
    }
}

static void splice_add_usage(struct splice_source *x, const struct wake_process *p, struct meta *m,
                             uint32_t process)
{
    for (size_t i = 0; i < p->usage_samples.count; i++) {
        const struct wake_usage_sample *sample = &p->usage_samples.data[i];
        struct wake_usage step[SPLICE_USAGE_STEP];
        for (size_t first = 0; first == 0 || first < sample->count; first += SPLICE_USAGE_STEP) {
            size_t left = sample->count - first, count = left < SPLICE_USAGE_STEP ? left : SPLICE_USAGE_STEP;
            for (size_t k = 0; k < count; k++) {
                step[k] = p->usage.data[sample->first + first + k];
                step[k].name = splice_text(x, x->mask == NULL ? NULL : x->mask->show_range, step[k].name);
            }
            meta_add_usage(m, splice_time(x, sample->time_ns), sample->took_ns, sample->anew && first == 0,
                           step, count);
            splice_put_meta(x->s, m, process, false);
        }
    }
}

static void splice_add_gaps(struct wake_splice *s, const struct wake_process *p, struct meta *m,
                            uint32_t process)
{
    for (size_t i = 0; i < p->gaps.count; i++) {
        meta_add_gap(m, p->gaps.data[i].number, p->gaps.data[i].skipped);
        splice_put_meta(s, m, process, false);
    }
}

void splice_add_meta(struct splice_source *x)
{
    for (size_t i = 0; i < wake_reader_process_count(x->r) && x->s->error == 0; i++) {
        const struct wake_process *p = wake_reader_process(x->r, i);
        uint32_t process = x->base + (uint32_t)i;
        struct meta m;
        meta_init(&m);
        splice_add_process(x, p, process);
        splice_add_threads(x, p, &m, process);
        splice_add_modules(x, p, &m, process);
        splice_add_moments(x, p, &m, process);
        splice_add_pools(x, p, &m, process);
        splice_add_usage(x, p, &m, process);
        splice_add_gaps(x->s, p, &m, process);
        splice_put_meta(x->s, &m, process, true);
        meta_release(&m);
    }
}
