/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * splice: see splice.h.
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
#include "store/splice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/meta.h"
#include "store/splicing.h"
#include "store/symbols.h"
#include "tool/memory.h"

enum {
    SPLICE_GATHER = 1 << 20,        /* bytes that are worth a write */
    SPLICE_ROWS = 64 << 10,         /* totals or live blocks in a chunk */
    SPLICE_PROCESSES_MAX = 1 << 24, /* in one file */
};

/* ---------------------------------------------------------------- writing */

void splice_fail(struct wake_splice *s, int error)
{
    if (s->error == 0)
        s->error = error;
}

static void splice_flush(struct wake_splice *s, size_t enough)
{
    size_t done = 0;
    if (s->pending.failed)
        splice_fail(s, ENOMEM);
    if (s->error != 0 || s->pending.length < enough)
        return;
    int error = file_write_all(s->file.fd, strbuf_get(&s->pending), s->pending.length, &done);
    if (error != 0)
        splice_fail(s, -error);
    s->written += done;
    strbuf_clear(&s->pending);
}

void splice_chunk(struct wake_splice *s, unsigned type, uint32_t process, const struct strbuf *payload)
{
    if (payload->failed)
        splice_fail(s, ENOMEM);
    if (s->error != 0 || payload->length == 0)
        return;
    if (!tail_add_chunk(&s->pending, &s->codec, &s->index, s->written + s->pending.length, type, process,
                        payload->text, payload->length))
        splice_fail(s, payload->length > FORMAT_PAYLOAD_MAX ? EFBIG : ENOMEM);
    splice_flush(s, SPLICE_GATHER);
}

void splice_stored(struct wake_splice *s, unsigned type, uint32_t process, const void *bytes, size_t length,
                   uint32_t raw)
{
    if (s->error != 0)
        return;
    if (!tail_add_stored(&s->pending, &s->index, s->written + s->pending.length, type, process, bytes, length,
                         raw))
        splice_fail(s, ENOMEM);
    splice_flush(s, SPLICE_GATHER);
}

uint64_t splice_time(const struct splice_source *x, uint64_t time_ns)
{
    return time_ns > UINT64_MAX - x->shift ? UINT64_MAX : time_ns + x->shift;
}

/* ------------------------------------------------------ stacks and events */

/* An events chunk that is not the one that the index tells of is no more believed than by who visits it. */
static int splice_add_events(struct splice_source *x, const struct index_entry *e, const struct payload *from,
                             struct err *err)
{
    struct wake_splice *s = x->s;
    struct events_prelude prelude;
    if (from->length < FORMAT_PRELUDE_SIZE || !events_prelude_decode(from->bytes, &prelude) ||
        prelude.first_event != e->events.first_event) {
        s->is_closed = false;
        return 0;
    }
    if (prelude.last_ns > UINT64_MAX - x->shift || prelude.first_ns > prelude.last_ns)
        return err_set(err, ERR_INPUT, "The times in %s are beyond what a recording can hold.", x->r->path);
    prelude.first_ns += x->shift;
    prelude.last_ns += x->shift;
    strbuf_clear(&s->scratch);
    strbuf_add(&s->scratch, from->bytes, from->length);
    if (s->scratch.failed) {
        splice_fail(s, ENOMEM);
        return 0;
    }
    events_prelude_encode((uint8_t *)s->scratch.text, &prelude);
    splice_stored(s, FORMAT_EVENTS, x->base + from->header.process, s->scratch.text, s->scratch.length,
                  from->header.raw);
    if (s->error == 0)
        s->index.entries.data[s->index.entries.count - 1].events = prelude;
    return 0;
}

/* One chunk; what is damaged is named among the damages and left out. */
static int splice_copy_chunk(struct splice_source *x, const struct index_entry *e, struct err *err)
{
    struct payload from;
    if (x->s->is_stopped != NULL && x->s->is_stopped())
        return err_set(err, ERR_IO, "Interrupted; nothing was written.");
    int code = recording_read(x->r, e, &from);
    if (code == ERR_MEMORY)
        return err_set(err, code, "There is no memory to read %s.", x->r->path);
    if (code != 0)
        return 0;
    if (e->type == FORMAT_EVENTS)
        return splice_add_events(x, e, &from, err);
    strbuf_clear(&x->s->scratch);
    strbuf_add(&x->s->scratch, from.bytes, from.length);
    splice_chunk(x->s, e->type, x->base + e->process, &x->s->scratch);
    return 0;
}

static int splice_copy(struct splice_source *x, struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < x->r->index.entries.count && code == 0; i++) {
        const struct index_entry *e = &x->r->index.entries.data[i];
        if (e->type == FORMAT_STACKS && e->process < x->r->shelves.count)
            code = splice_copy_chunk(x, e, err);
    }
    for (size_t i = 0; i < x->r->shelves.count; i++) {
        const struct shelf *shelf = x->r->shelves.data[i];
        for (size_t k = 0; k < shelf->spans.count && code == 0 && x->s->error == 0; k++)
            code = splice_copy_chunk(x, &x->r->index.entries.data[shelf->spans.data[k]], err);
    }
    return code;
}

/* ------------------------------------------------------------------- ends */

static void splice_add_totals(struct wake_splice *s, const struct wake_process *p, uint32_t process)
{
    for (size_t first = 0; first < p->totals.count; first += SPLICE_ROWS) {
        size_t left = p->totals.count - first, count = left < SPLICE_ROWS ? left : SPLICE_ROWS;
        strbuf_clear(&s->scratch);
        meta_encode_totals(&s->scratch, p->totals.data, (uint32_t)first, (uint32_t)count);
        splice_chunk(s, FORMAT_TOTALS, process, &s->scratch);
    }
    for (size_t first = 0; first < p->live.count; first += SPLICE_ROWS) {
        size_t left = p->live.count - first, count = left < SPLICE_ROWS ? left : SPLICE_ROWS;
        strbuf_clear(&s->scratch);
        meta_encode_live(&s->scratch, p->live.data + first, count);
        splice_chunk(s, FORMAT_LIVE, process, &s->scratch);
    }
}

/* What was left out on purpose, with one list of all culled stacks for each chunk of rows. */
static void splice_add_omissions(struct splice_source *x, const struct wake_process *p, uint32_t process)
{
    struct wake_omissions o = p->omitted;
    if (!o.is_culled && !o.is_limited && o.sample_rate == 0)
        return;
    if (o.is_limited)
        o.limit_ns = splice_time(x, o.limit_ns);
    size_t first = 0;
    do {
        size_t left = p->culled.count - first, count = left < SPLICE_ROWS ? left : SPLICE_ROWS;
        strbuf_clear(&x->s->scratch);
        meta_encode_omissions(&x->s->scratch, &o, p->culled.data, first, count);
        splice_chunk(x->s, FORMAT_OMISSIONS, process, &x->s->scratch);
        first += count;
    } while (first < p->culled.count);
}

static void splice_add_note(struct splice_source *x, const char *text)
{
    strbuf_clear(&x->s->scratch);
    strbuf_add_varint(&x->s->scratch, strlen(text));
    strbuf_add_text(&x->s->scratch, text);
    splice_chunk(x->s, FORMAT_NOTES, FORMAT_NO_PROCESS, &x->s->scratch);
}

/* They may name anything. */
static void splice_add_notes(struct splice_source *x)
{
    char text[WAKE_VEILED_NOTE];
    for (size_t i = 0; x->mask == NULL && i < wake_reader_note_count(x->r); i++)
        splice_add_note(x, wake_reader_note(x->r, i));
    if (x->mask != NULL && wake_reader_veiled_note(x->r, text)[0] != '\0')
        splice_add_note(x, text);
}

/* As they are: their times count from the beginning of the process, and there are no names in them. */
static void splice_add_levels(struct splice_source *x, size_t process)
{
    struct payload from;
    int code = recording_read_levels(x->r, process, &from);
    if (code == ERR_MEMORY)
        splice_fail(x->s, ENOMEM);
    if (code != 0)
        return;
    strbuf_clear(&x->s->scratch);
    strbuf_add(&x->s->scratch, from.bytes, from.length);
    splice_chunk(x->s, FORMAT_LEVELS, x->base + (uint32_t)process, &x->s->scratch);
}

/* Of a process whose end is not in the source all but the omissions is found in its events, here as there. */
static void splice_add_ends(struct splice_source *x)
{
    for (size_t i = 0; i < wake_reader_process_count(x->r) && x->s->error == 0; i++) {
        const struct wake_process *p = wake_reader_process(x->r, i);
        uint32_t process = x->base + (uint32_t)i;
        splice_add_omissions(x, p, process);
        if (!p->ended)
            continue;
        struct wake_process_end end = p->end;
        end.end_ns = splice_time(x, end.end_ns);
        if (end.peak_bytes != 0) /* else it never had one */
            end.peak_time_ns = splice_time(x, end.peak_time_ns);
        splice_add_totals(x->s, p, process);
        if (!p->derived)
            splice_add_levels(x, i);
        strbuf_clear(&x->s->scratch);
        meta_encode_end(&x->s->scratch, &end);
        splice_chunk(x->s, FORMAT_PROCESS_END, process, &x->s->scratch);
    }
}

static void splice_add_facts(struct splice_source *x)
{
    const struct wake_summary *from = wake_reader_summary(x->r);
    struct tail_end *end = &x->s->end;
    uint64_t step = x->mask == NULL || x->mask->clock_step == 0 ? 1 : x->mask->clock_step;
    uint64_t wall_ns = from->end_wall_ns - from->end_wall_ns % step;
    if (!from->closed || wake_reader_damage_count(x->r) > 0)
        x->s->is_closed = false;
    if (end->write_error == 0)
        end->write_error = (uint32_t)from->write_error;
    end->not_kept += from->not_kept;
    end->unrecorded += from->unrecorded;
    end->cpu_ns += from->collector_cpu_ns - from->collector_cpu_ns % step;
    if (end->wall_ns < wall_ns)
        end->wall_ns = wall_ns;
}

static int splice_put_symbols(void *of, const struct strbuf *payload)
{
    struct wake_splice *s = of;
    splice_chunk(s, FORMAT_SYMBOLS, FORMAT_NO_PROCESS, payload);
    return s->error == 0 ? 0 : ERR_IO;
}

/* ----------------------------------------------------------- the interface */

static void splice_free(struct wake_splice *s)
{
    (void)file_new_close(&s->file, NULL);
    strbuf_release(&s->pending);
    strbuf_release(&s->scratch);
    index_release(&s->index);
    codec_release(&s->codec);
    map_release(&s->binaries);
    names_free(s->names);
    free(s);
}

uint64_t wake_splice_earliest(struct wake_reader *const *readers, size_t count)
{
    uint64_t earliest = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t wall_ns = wake_reader_summary(readers[i])->wall_ns;
        if (wall_ns != 0 && (earliest == 0 || wall_ns < earliest))
            earliest = wall_ns;
    }
    return earliest;
}

int wake_splice_open(struct wake_splice **out, const char *path, uint64_t wall_ns, struct err *err)
{
    uint8_t head[FORMAT_HEADER_SIZE];
    struct wake_splice *s = memory_new_zeroed(1, sizeof *s);
    *out = NULL;
    if (s == NULL)
        return err_set(err, ERR_MEMORY, "There is no memory to write %s.", path);
    s->file.fd = -1;
    strbuf_init(&s->pending);
    strbuf_init(&s->scratch);
    codec_init(&s->codec);
    map_init(&s->binaries);
    s->wall_ns = wall_ns;
    s->is_closed = true;
    s->names = names_new();
    int code = s->names != NULL ? file_new_open(&s->file, path, err)
                                : err_set(err, ERR_MEMORY, "There is no memory to write %s.", path);
    if (code != 0) {
        splice_free(s);
        return code;
    }
    file_header_encode(head, &(struct file_header){.major = FORMAT_MAJOR,
                                                   .minor = FORMAT_MINOR,
                                                   .length = FORMAT_HEADER_SIZE,
                                                   .wall_ns = wall_ns});
    strbuf_add(&s->pending, head, sizeof head);
    *out = s;
    return 0;
}

const char *wake_splice_get_temp(const struct wake_splice *s)
{
    return s->file.temp;
}

void wake_splice_heed(struct wake_splice *s, bool (*is_stopped)(void))
{
    s->is_stopped = is_stopped;
}

int wake_splice_add(struct wake_splice *s, struct wake_reader *r, const struct splice_mask *mask,
                    struct err *err)
{
    const struct wake_summary *about = wake_reader_summary(r);
    struct splice_source x = {.s = s, .r = r, .mask = mask, .base = s->processes};
    size_t count = wake_reader_process_count(r);
    if (about->series != 0)
        return err_set(err, ERR_INPUT,
                       "%s is one of a series of files that follow each other; only recordings in one file "
                       "can be copied so.",
                       r->path);
    if (count > SPLICE_PROCESSES_MAX - s->processes)
        return err_set(err, ERR_LIMIT, "There are more than %d processes in all.", SPLICE_PROCESSES_MAX);
    if (s->wall_ns != 0 && about->wall_ns > s->wall_ns)
        x.shift = about->wall_ns - s->wall_ns;
    splice_add_meta(&x);
    int code = splice_copy(&x, err);
    if (code != 0)
        return code;
    splice_add_ends(&x);
    splice_add_binaries(&x);
    splice_add_names(&x);
    splice_add_notes(&x);
    splice_add_facts(&x);
    s->processes += (uint32_t)count;
    return s->error == 0 ? 0
                         : err_set(err, file_code(s->error), "%s cannot be written: %s.", s->file.path,
                                   strerror(s->error));
}

int wake_splice_close(struct wake_splice *s, bool keep, struct err *err)
{
    int code = 0;
    if (keep) {
        if (symbols_encode(s->names, splice_put_symbols, s) == ERR_MEMORY)
            splice_fail(s, ENOMEM);
        if (s->error == 0 && s->is_closed &&
            !tail_add_end(&s->pending, &s->codec, &s->index, s->written + s->pending.length, &s->end))
            splice_fail(s, ENOMEM);
        splice_flush(s, 0);
        if (s->error != 0)
            code = err_set(err, file_code(s->error), "%s cannot be written: %s.", s->file.path,
                           strerror(s->error));
        else
            code = file_new_publish(&s->file, err);
    }
    splice_free(s);
    return code;
}
