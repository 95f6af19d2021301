/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rewrite_culled: a recording without the events of blocks, and whole realloc chains,
 * that lived shorter than a threshold (store/cull.h).  Totals, live blocks, ends,
 * samples, marks, notes, names and binaries stay; so do the numbers of threads, modules and
 * stacks.
 *
 * A process at a time: what is known of it, its events, its end.  Names and binaries
 * come behind the finished file, as others are added (store/annex.h).
 */
#include <errno.h>
#include <string.h>

#include "store/cull.h"
#include "store/live.h"
#include "store/rewriting.h"
#include "store/weight.h"
#include "wire/record.h"

struct culled {
    struct rewrite_source *x;
    const struct wake_process *process;
    struct wake_stream *stream; /* of the process in the copy */
    uint32_t number;            /* its number there */
    struct wake_live live;      /* the sizes of live blocks, for their releases */
    bool has_arenas;            /* ... and the events have them there */
    struct err *err;
};

/* What had been left out before. */
static void culled_former_omissions(struct culled *s)
{
    const struct wake_omissions *o = &s->process->omitted;
    struct cull *c = s->stream->cull;
    uint64_t threshold = c->options.threshold_ns;
    s->stream->omitted = *o;
    s->stream->omitted.is_culled = true;
    s->stream->omitted.threshold_ns = o->threshold_ns > threshold ? o->threshold_ns : threshold;
    s->stream->omitted.has_gaps = o->sample_rate != 0 && (o->has_gaps || !o->is_culled);
    c->blocks = o->culled_blocks;
    c->bytes = o->culled_bytes;
    for (size_t i = 0; i < s->process->culled.count; i++)
        if (!vec_push(&c->culled, s->process->culled.data[i]))
            writer_fail(s->x->w, ENOMEM);
}

/* ------------------------------------------------------------------- events */

/* Blocks are known by the numbers as they were made: of samples these stay to be told. */
static uint64_t culled_number(const struct culled *s, uint64_t number)
{
    return weight_number(&s->process->rule, number);
}

static void culled_alloc(struct culled *s, const struct wake_block *b, uint32_t i)
{
    uint32_t stack = b->stack[i] < s->process->stacks.count ? b->stack[i] : 0;
    uint64_t previous = b->previous[i] == 0 ? 0 : culled_number(s, b->previous[i] - 1) + 1;
    s->stream->made = culled_number(s, b->number[i]); /* numbers jump where a part is lost */
    if (!wake_live_add(&s->live, b, i))
        writer_fail(s->x->w, ENOMEM);
    uint64_t usable = b->usable[i] | (s->has_arenas && b->arena[i] != 0 ? RECORD_OTHER_ARENA : 0);
    wake_stream_alloc(s->stream, b->time_ns[i], b->thread[i], b->detail[i], stack, b->address[i], b->size[i],
                      usable, previous);
}

static void culled_free(struct culled *s, const struct wake_block *b, uint32_t i)
{
    struct wake_live_block was;
    if (wake_live_take(&s->live, b->number[i], &was))
        wake_stream_free_from(s->stream, b->time_ns[i], b->thread[i], b->detail[i], b->stack[i],
                              culled_number(s, b->number[i]), was.size);
    else /* it was made in a part that is lost */
        wake_stream_free_unknown(s->stream, b->time_ns[i], b->thread[i], b->detail[i], b->stack[i], 0);
}

static void culled_event(struct culled *s, const struct wake_block *b, uint32_t i)
{
    const struct wake_mark *mark;
    uint64_t time = b->time_ns[i];
    switch (b->event[i]) {
    case WAKE_ALLOC:
        culled_alloc(s, b, i);
        break;
    case WAKE_FREE:
        culled_free(s, b, i);
        break;
    case WAKE_FREE_UNKNOWN:
        wake_stream_free_unknown(s->stream, time, b->thread[i], b->detail[i], b->stack[i], b->address[i]);
        break;
    case WAKE_MAP:
        wake_stream_map(s->stream, time, b->thread[i], b->stack[i], b->address[i], b->size[i],
                        (uint32_t)b->usable[i], (uint32_t)(b->usable[i] >> 32));
        break;
    case WAKE_UNMAP:
        wake_stream_unmap(s->stream, time, b->thread[i], b->stack[i], b->address[i], b->size[i]);
        break;
    case WAKE_BRK:
        wake_stream_brk(s->stream, time, b->thread[i], b->stack[i], b->address[i], b->usable[i]);
        break;
    case WAKE_MARK:
        mark = b->number[i] < s->process->marks.count ? &s->process->marks.data[b->number[i]] : NULL;
        if (mark != NULL)
            wake_stream_mark(s->stream, time, b->thread[i], mark->name, strlen(mark->name));
        break;
    case WAKE_POOL_ALLOC:
        wake_stream_pool_alloc(s->stream, time, b->thread[i], (uint32_t)b->number[i], b->stack[i],
                               b->address[i], b->size[i]);
        break;
    case WAKE_POOL_FREE:
        wake_stream_pool_free(s->stream, time, b->thread[i], (uint32_t)b->number[i], b->stack[i],
                              b->address[i], b->size[i]);
        break;
    case WAKE_LOST:
        wake_stream_lost(s->stream, time, b->detail[i], b->size[i]);
        break;
    default:
        break;
    }
}

static int culled_batch(const struct wake_block *b, void *context)
{
    struct culled *s = context;
    if (rewrite_is_stopped(s->x->rewrite, s->err))
        return ERR_IO;
    for (uint32_t i = 0; i < b->count; i++)
        culled_event(s, b, i);
    return rewrite_code(s->x->rewrite, s->err);
}

/* ---------------------------------------------------------------- processes */

static void culled_end(struct culled *s, size_t process)
{
    const struct wake_process *p = s->process;
    const struct wake_summary *summary = wake_reader_summary(s->x->r);
    struct writer_process *to = writer_find(s->x->w, s->number);
    struct wake_process_end end = p->end;
    VEC(struct wake_live_block) live = {0};
    end.complete = end.complete && summary->complete;
    end.lost_events += p->missing_events + (process == 0 ? summary->not_kept : 0);
    if (p->live.count != 0 && !vec_reserve(&live, p->live.count))
        writer_fail(s->x->w, ENOMEM);
    for (size_t i = 0; i < p->live.count && live.capacity != 0; i++) {
        struct wake_live_block block = p->live.data[i];
        block.allocation = culled_number(s, block.allocation);
        (void)vec_push(&live, block);
    }
    rewrite_copy_levels(s->x, process, &to->levels);
    wake_writer_end_process(s->x->w, s->number, &end, p->totals.data,
                            p->totals.count == 0 ? 0 : (uint32_t)p->totals.count - 1, live.data, live.count);
    vec_release(&live);
}

static int culled_process(struct culled *s, size_t process)
{
    struct wake_writer *w = s->x->w;
    s->process = wake_reader_process(s->x->r, process);
    struct wake_process_info info = s->process->info;
    info.sample_rate = s->process->omitted.sample_rate;
    /* The arenas of blocks from an earlier file of the series are not known; in the copy these are like others. */
    s->has_arenas = info.has_arenas = info.has_arenas && s->process->carried.count == 0;
    s->number = wake_writer_add_process(w, &info);
    s->stream = wake_writer_stream(w, s->number);
    if (s->stream == NULL || s->stream->cull == NULL)
        writer_fail(w, ENOMEM);
    if (w->error != 0)
        return rewrite_code(s->x->rewrite, s->err);
    wake_live_init(&s->live);
    culled_former_omissions(s);
    rewrite_add_meta(s->x, s->process, s->number, &writer_find(w, s->number)->meta,
                     REWRITE_SAMPLES | REWRITE_STACKS);
    int code = wake_reader_visit(s->x->r, process, 0, UINT64_MAX, culled_batch, s, s->err);
    if (code == 0)
        culled_end(s, process);
    wake_live_release(&s->live);
    return code != 0 ? code : rewrite_code(s->x->rewrite, s->err);
}

/* --------------------------------------------------------- names and binaries */

static int culled_names(struct rewrite_source *x, struct err *err)
{
    struct wake_rewrite *rw = x->rewrite;
    struct names *names = wake_reader_names(x->r);
    if (names == NULL)
        return err_no_memory(err);
    if (names_image_count(names) == 0 && wake_reader_binary_count(x->r) == 0)
        return 0;
    int code = wake_annex_open(&rw->annex, rw->file.temp, err);
    if (code != 0)
        return code;
    rewrite_put_binaries(x);
    wake_annex_add_names(rw->annex, names);
    return wake_annex_close(rw->annex, err);
}

int rewrite_culled(struct rewrite_source *x, struct err *err)
{
    const struct wake_summary *summary = wake_reader_summary(x->r);
    struct culled s = {.x = x, .err = err};
    int code = 0;
    for (size_t i = 0; i < wake_reader_process_count(x->r) && code == 0; i++)
        code = culled_process(&s, i);
    if (code != 0)
        return code;
    rewrite_put_notes(x);
    wake_writer_add_unrecorded(x->w, summary->unrecorded);
    x->w->end_wall_ns = summary->end_wall_ns;
    if (writer_wrap_up(x->w, summary->collector_cpu_ns))
        (void)chunk_sink_close(&x->w->sink, NULL);
    code = rewrite_code(x->rewrite, err);
    return code != 0 ? code : culled_names(x, err);
}
