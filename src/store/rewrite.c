/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rewrite: see rewrite.h.  Copied recordings, one behind the other:
 *
 *     for each source:   process, threads, modules, marks, samples   of each process
 *                        stacks, then events                         of all processes
 *                        omissions, totals, live, end                of each process
 *                        binaries, notes
 *     at the end:        symbols of all, index, end
 *
 * Invariants
 *  1. What an events chunk refers to stands before it.
 *  2. An events chunk is the source's, byte for byte, but for the two times in
 *     its prelude: all others in it are differences.
 */
#include "store/rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/rewriting.h"
#include "store/symbols.h"
#include "tool/memory.h"

enum {
    REWRITE_LIVE_STEP = 64 << 10,    /* live blocks in a chunk */
    REWRITE_PROCESSES_MAX = 1 << 24, /* in one file */
};

uint64_t rewrite_time(const struct rewrite_source *x, uint64_t time_ns)
{
    return time_ns > UINT64_MAX - x->shift ? UINT64_MAX : time_ns + x->shift;
}

bool rewrite_is_stopped(const struct wake_rewrite *rw, struct err *err)
{
    if (rw->options.is_stopped == NULL || !rw->options.is_stopped())
        return false;
    (void)err_set(err, ERR_IO, "Interrupted; nothing was written.");
    return true;
}

int rewrite_code(const struct wake_rewrite *rw, struct err *err)
{
    int error = rw->w->error;
    return error == 0
               ? 0
               : err_set(err, file_code(error), "%s cannot be written: %s.", rw->file.path, strerror(error));
}

/* ------------------------------------------------------ stacks and events */

/* An events chunk that is not the one in the index is left out, as readers do. */
static int rewrite_copy_events(struct rewrite_source *x, const struct index_entry *e,
                               const struct payload *from, struct err *err)
{
    struct wake_writer *w = x->w;
    struct events_prelude prelude;
    if (from->length < FORMAT_PRELUDE_SIZE || !events_prelude_decode(from->bytes, &prelude) ||
        prelude.first_event != e->events.first_event) {
        x->rewrite->is_closed = false;
        return 0;
    }
    if (prelude.last_ns > UINT64_MAX - x->shift || prelude.first_ns > prelude.last_ns)
        return err_set(err, ERR_INPUT, "The times in %s are beyond what a recording can hold.", x->r->path);
    prelude.first_ns += x->shift;
    prelude.last_ns += x->shift;
    strbuf_clear(&w->scratch);
    strbuf_add(&w->scratch, from->bytes, from->length);
    if (w->scratch.failed) {
        writer_fail(w, ENOMEM);
        return 0;
    }
    events_prelude_encode((uint8_t *)w->scratch.text, &prelude);
    writer_stored(w, FORMAT_EVENTS, x->base + from->header.process, w->scratch.text, w->scratch.length,
                  from->header.raw);
    if (w->error == 0)
        w->index.entries.data[w->index.entries.count - 1].events = prelude;
    return 0;
}

/* One chunk; what is damaged is listed among the damages and left out. */
static int rewrite_copy_chunk(struct rewrite_source *x, const struct index_entry *e, struct err *err)
{
    struct payload from;
    if (rewrite_is_stopped(x->rewrite, err))
        return ERR_IO;
    int code = recording_read(x->r, e, &from);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    if (code != 0)
        return 0;
    if (e->type == FORMAT_EVENTS)
        return rewrite_copy_events(x, e, &from, err);
    strbuf_clear(&x->w->scratch);
    strbuf_add(&x->w->scratch, from.bytes, from.length);
    writer_chunk_of(x->w, e->type, x->base + e->process, &x->w->scratch);
    return 0;
}

static int rewrite_copy_chunks(struct rewrite_source *x, struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < x->r->index.entries.count && code == 0; i++) {
        const struct index_entry *e = &x->r->index.entries.data[i];
        if (chunk_type_get(e->type)->is_copied && e->process < x->r->shelves.count)
            code = rewrite_copy_chunk(x, e, err);
    }
    for (size_t i = 0; i < x->r->shelves.count; i++) {
        const struct meta_decoder *shelf = x->r->shelves.data[i];
        for (size_t k = 0; k < shelf->spans.count && code == 0 && x->w->error == 0; k++)
            code = rewrite_copy_chunk(x, &x->r->index.entries.data[shelf->spans.data[k]], err);
    }
    return code;
}

/* -------------------------------------------------- before and after them */

static void rewrite_put_meta(struct rewrite_source *x)
{
    for (size_t i = 0; i < wake_reader_process_count(x->r) && x->w->error == 0; i++) {
        const struct wake_process *p = wake_reader_process(x->r, i);
        uint32_t number = x->base + (uint32_t)i;
        struct meta m;
        meta_init(&m);
        if (p->known)
            rewrite_add_process(x, p, number);
        rewrite_add_meta(x, p, number, &m, REWRITE_MARKS | REWRITE_SAMPLES | REWRITE_GAPS);
        writer_put_meta(x->w, number, &m);
        meta_release(&m);
    }
}

/* Where the end of a process is not in the source, readers derive all but the omissions from its events. */
static void rewrite_put_ends(struct rewrite_source *x)
{
    struct wake_writer *w = x->w;
    for (size_t i = 0; i < wake_reader_process_count(x->r) && w->error == 0; i++) {
        const struct wake_process *p = wake_reader_process(x->r, i);
        uint32_t number = x->base + (uint32_t)i;
        struct wake_omissions omitted = p->omitted;
        if (omitted.is_limited)
            omitted.limit_ns = rewrite_time(x, omitted.limit_ns);
        writer_put_omissions(w, number, &omitted, p->culled.data, p->culled.count);
        if (!p->ended)
            continue;
        struct wake_process_end end = p->end;
        end.end_ns = rewrite_time(x, end.end_ns);
        if (end.peak_bytes != 0) /* else it never had one */
            end.peak_time_ns = rewrite_time(x, end.peak_time_ns);
        writer_put_totals(w, number, p->totals.data, p->totals.count);
        writer_put_live(w, number, p->live.data, p->live.count, REWRITE_LIVE_STEP);
        rewrite_copy_levels(x, i, &w->scratch);
        writer_chunk_of(w, FORMAT_LEVELS, number, &w->scratch);
        strbuf_clear(&w->scratch);
        meta_encode_end(&w->scratch, &end);
        writer_chunk_of(w, FORMAT_PROCESS_END, number, &w->scratch);
    }
}

static void rewrite_add_up(struct rewrite_source *x)
{
    const struct wake_summary *from = wake_reader_summary(x->r);
    struct tail_end *end = &x->rewrite->end;
    uint64_t step = x->mask == NULL || x->mask->clock_step == 0 ? 1 : x->mask->clock_step;
    uint64_t wall_ns = from->end_wall_ns - from->end_wall_ns % step;
    if (!from->closed || wake_reader_damage_count(x->r) > 0)
        x->rewrite->is_closed = false;
    if (end->write_error == 0)
        end->write_error = (uint32_t)from->write_error;
    end->not_kept += from->not_kept;
    end->unrecorded += from->unrecorded;
    end->cpu_ns += from->collector_cpu_ns - from->collector_cpu_ns % step;
    if (end->wall_ns < wall_ns)
        end->wall_ns = wall_ns;
}

static int rewrite_copy(struct rewrite_source *x, struct err *err)
{
    rewrite_put_meta(x);
    int code = rewrite_copy_chunks(x, err);
    if (code != 0)
        return code;
    rewrite_put_ends(x);
    rewrite_put_binaries(x);
    rewrite_gather_names(x);
    rewrite_put_notes(x);
    rewrite_add_up(x);
    return 0;
}

static int rewrite_put_symbols(void *of, const struct strbuf *payload)
{
    struct wake_writer *w = of;
    writer_chunk_of(w, FORMAT_SYMBOLS, FORMAT_NO_PROCESS, payload);
    return w->error == 0 ? 0 : ERR_IO;
}

/* Symbols, index and end. */
static void rewrite_finish(struct wake_rewrite *rw)
{
    struct wake_writer *w = rw->w;
    if (symbols_encode(rw->names, rewrite_put_symbols, w) == ERR_MEMORY)
        writer_fail(w, ENOMEM);
    if (w->error == 0 && rw->is_closed &&
        !tail_add_end(&w->sink.pending, &w->codec, &w->index, chunk_sink_size(&w->sink), &rw->end))
        writer_fail(w, ENOMEM);
    if (w->error == 0 && !chunk_sink_flush(&w->sink))
        writer_fail(w, w->sink.error);
}

/* ----------------------------------------------------------- the interface */

static void rewrite_free(struct wake_rewrite *rw)
{
    if (rw->w != NULL)
        writer_abandon(rw->w);
    (void)file_new_close(&rw->file, NULL);
    map_release(&rw->binaries);
    names_free(rw->names);
    free(rw);
}

uint64_t wake_rewrite_earliest(struct wake_reader *const *readers, size_t count)
{
    uint64_t earliest = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t wall_ns = wake_reader_summary(readers[i])->wall_ns;
        if (wall_ns != 0 && (earliest == 0 || wall_ns < earliest))
            earliest = wall_ns;
    }
    return earliest;
}

static int rewrite_open_writer(struct wake_rewrite *rw, struct err *err)
{
    const struct rewrite_options *o = &rw->options;
    if (o->cull == NULL)
        return wake_writer_open_at(&rw->w, rw->file.temp, o->wall_ns, err);
    int code = wake_writer_open_dated(&rw->w, rw->file.temp, o->wall_ns, 0, err);
    if (code == 0)
        wake_writer_cull(rw->w, o->cull);
    return code;
}

int wake_rewrite_open(struct wake_rewrite **out, const char *path, const struct rewrite_options *options,
                      struct err *err)
{
    struct wake_rewrite *rw = memory_new_zeroed(1, sizeof *rw);
    *out = NULL;
    if (rw == NULL)
        return err_no_memory(err);
    rw->file.fd = -1;
    rw->options = *options;
    rw->is_closed = true;
    map_init(&rw->binaries);
    rw->names = names_new();
    int code = rw->names != NULL ? file_new_open(&rw->file, path, err) : err_no_memory(err);
    if (code == 0)
        code = rewrite_open_writer(rw, err);
    if (code != 0) {
        rewrite_free(rw);
        return code;
    }
    *out = rw;
    return 0;
}

const char *wake_rewrite_get_temp(const struct wake_rewrite *rw)
{
    return rw->file.temp;
}

int wake_rewrite_add(struct wake_rewrite *rw, struct wake_reader *r, const struct rewrite_mask *mask,
                     struct err *err)
{
    const struct wake_summary *about = wake_reader_summary(r);
    struct rewrite_source x = {.rewrite = rw, .w = rw->w, .r = r, .mask = mask, .base = rw->processes};
    size_t count = wake_reader_process_count(r);
    int code;
    if (rw->options.cull != NULL) {
        code = rewrite_culled(&x, err);
    } else {
        if (about->series != 0)
            return err_set(err, ERR_INPUT,
                           "%s is one of a series of files that follow each other; only recordings in one "
                           "file can be copied so.",
                           r->path);
        if (count > REWRITE_PROCESSES_MAX - rw->processes)
            return err_set(err, ERR_LIMIT, "There are more than %d processes in all.", REWRITE_PROCESSES_MAX);
        if (rw->options.wall_ns != 0 && about->wall_ns > rw->options.wall_ns)
            x.shift = about->wall_ns - rw->options.wall_ns;
        code = rewrite_copy(&x, err);
    }
    rw->processes += (uint32_t)count;
    return code != 0 ? code : rewrite_code(rw, err);
}

int wake_rewrite_close(struct wake_rewrite *rw, bool keep, struct err *err)
{
    int code = 0;
    if (keep && rw->options.cull == NULL)
        rewrite_finish(rw);
    if (keep)
        code = rewrite_code(rw, err);
    if (keep && code == 0)
        code = chunk_sink_close(&rw->w->sink, err);
    if (keep && code == 0)
        code = file_new_publish(&rw->file, err);
    rewrite_free(rw);
    return code;
}
