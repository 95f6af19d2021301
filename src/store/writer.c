/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * writer: owns the file, its index, and a stream and a meta for each process.
 *
 *     wake_stream_* -> stream (columns) --\
 *                                          > chunk -> sink -> file
 *     wake_writer_* -> meta (records)   --/     \-> index
 *
 * Invariants
 *  1. What an events chunk refers to (threads, modules, stacks, marks) stands
 *     before it in the file.
 *  2. The index has one entry for each whole chunk, in order.
 *  3. After a failure the file is cut back to its last whole chunk, all
 *     streams are closed, and only what wraps the recording up (how processes
 *     ended, totals per stack) is still gathered, in `tail`.  Closing then
 *     gives up as many of the latest events chunks as the tail, the index and
 *     the end need: a full disk still gets a recording that says so.
 */
#include "store/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "store/chunk_type.h"
#include "store/format.h"
#include "store/tail.h"
#include "store/writing.h"
#include "tool/err.h"
#include "tool/memory.h"
#include "wire/record.h"

enum {
    WRITER_TAIL_MAX = 4 << 20,
    WRITER_NOTE_MAX = 16 << 10,
    WRITER_GIVE_UP = 64, /* events chunks that are sacrificed for the end, at most */
};

/* ---------------------------------------------------------------- chunks */

/* Takes out the index entries of chunks that are not wholly before `size`. */
static uint64_t writer_forget_after(struct wake_writer *w, uint64_t size)
{
    while (w->index.entries.count > 0) {
        const struct index_entry *e = &w->index.entries.data[w->index.entries.count - 1];
        if (index_entry_end(e) <= size)
            return index_entry_end(e);
        if (e->type == FORMAT_EVENTS)
            w->not_kept += e->events.events;
        w->index.entries.count--;
    }
    return FORMAT_HEADER_SIZE;
}

void writer_cut(struct wake_writer *w, uint64_t size)
{
    chunk_sink_cut(&w->sink, writer_forget_after(w, size));
}

void writer_fail(struct wake_writer *w, int error)
{
    if (w->error != 0)
        return;
    w->error = error;
    writer_cut(w, w->sink.written);
    for (size_t i = 0; i < w->processes.count; i++)
        if (w->processes.data[i] != NULL)
            stream_close(&w->processes.data[i]->stream);
}

/* A chunk for the tail, if it is of the kind that goes there. */
static void writer_chunk_late(struct wake_writer *w, unsigned type, uint32_t process, const void *bytes,
                              size_t length)
{
    if (chunk_type_get(type)->is_kept_late && length + w->tail.length <= WRITER_TAIL_MAX)
        (void)tail_add_chunk(&w->tail, &w->codec, &w->tail_index, w->tail.length, type, process, bytes,
                             length);
}

/* After something was added to the pending bytes, or could not be.  False: writing has failed. */
static bool writer_settle(struct wake_writer *w, bool is_added)
{
    if (!is_added)
        writer_fail(w, ENOMEM);
    else if (!chunk_sink_settle(&w->sink))
        writer_fail(w, w->sink.error);
    return w->error == 0;
}

static void writer_chunk(struct wake_writer *w, unsigned type, uint32_t process, const void *bytes,
                         size_t length)
{
    if (w->error == 0 &&
        writer_settle(w, tail_add_chunk(&w->sink.pending, &w->codec, &w->index, chunk_sink_size(&w->sink),
                                        type, process, bytes, length)))
        return;
    writer_chunk_late(w, type, process, bytes, length);
}

void writer_chunk_of(struct wake_writer *w, unsigned type, uint32_t process, const struct strbuf *payload)
{
    if (payload->failed)
        writer_fail(w, ENOMEM);
    else if (payload->length > 0)
        writer_chunk(w, type, process, payload->text, payload->length);
}

void writer_stored(struct wake_writer *w, unsigned type, uint32_t process, const void *bytes, size_t length,
                   uint32_t raw)
{
    if (w->error == 0)
        (void)writer_settle(w, tail_add_stored(&w->sink.pending, &w->index, chunk_sink_size(&w->sink), type,
                                               process, bytes, length, raw));
}

void writer_put_meta(struct wake_writer *w, uint32_t process, struct meta *m)
{
    writer_chunk_of(w, FORMAT_THREADS, process, &m->threads);
    writer_chunk_of(w, FORMAT_MODULES, process, &m->modules);
    writer_chunk_of(w, FORMAT_STACKS, process, &m->stacks);
    writer_chunk_of(w, FORMAT_SAMPLES, process, &m->samples);
    writer_chunk_of(w, FORMAT_MARKS, process, &m->marks);
    writer_chunk_of(w, FORMAT_POOLS, process, &m->pools);
    writer_chunk_of(w, FORMAT_USAGE, process, &m->usage);
    writer_chunk_of(w, FORMAT_GAPS, process, &m->gaps);
    meta_restart(m);
}

void writer_put_full(struct wake_writer *w, uint32_t process, struct meta *m)
{
    if (meta_is_full(m))
        writer_put_meta(w, process, m);
}

static void writer_put_events(struct wake_writer *w, struct writer_process *p)
{
    size_t bound = FORMAT_CHUNK_HEADER_SIZE + stream_bound(&p->stream);
    uint8_t *head = (uint8_t *)strbuf_reserve(&w->sink.pending, bound);
    if (head == NULL || !vec_reserve(&w->index.entries, w->index.entries.count + 1)) {
        writer_fail(w, ENOMEM);
        return;
    }
    uint8_t *payload = head + FORMAT_CHUNK_HEADER_SIZE;
    struct index_entry entry = {
        .offset = chunk_sink_size(&w->sink), .type = FORMAT_EVENTS, .process = p->number};
    uint32_t raw;
    entry.stored = (uint32_t)stream_encode(&p->stream, &w->codec, payload, &raw, &entry.events);
    (void)vec_push(&w->index.entries, entry);
    chunk_header_encode(head, &(struct chunk_header){
                                  .type = FORMAT_EVENTS,
                                  .process = p->number,
                                  .raw = raw,
                                  .stored = entry.stored,
                                  .sum = codec_sum(payload, entry.stored),
                              });
    strbuf_grown(&w->sink.pending, FORMAT_CHUNK_HEADER_SIZE + entry.stored);
    stream_restart(&p->stream);
    (void)writer_settle(w, true);
}

/* Whether there were events. */
static bool writer_put_gathered(struct wake_writer *w, struct writer_process *p)
{
    writer_put_meta(w, p->number, &p->meta);
    if (w->error != 0 || stream_pending(&p->stream) == 0)
        return false;
    writer_put_events(w, p);
    return true;
}

/* The file has its size: no events from here on.  What all processes have gathered by then is from
 * before, and still goes in. */
static void writer_put_limit(struct wake_writer *w)
{
    for (size_t i = 0; w->error == 0 && i < w->processes.count; i++) {
        struct writer_process *p = w->processes.data[i];
        if (p == NULL || p->stream.is_limited)
            continue;
        (void)writer_put_gathered(w, p);
        stream_limit(&p->stream);
    }
}

/* Everything of a process that has gathered. */
void writer_put(struct wake_writer *w, struct writer_process *p)
{
    if (writer_put_gathered(w, p) && w->limit != 0 && chunk_sink_size(&w->sink) >= w->limit)
        writer_put_limit(w);
}

/* Decides about all events that were held back; the live blocks get the numbers that they have in the
 * file. */
static void writer_end_cull(struct writer_process *p, struct wake_live_block *live, size_t count)
{
    struct cull *c = p->stream.cull;
    if (c == NULL)
        return;
    cull_finish(c);
    p->stream.omitted.culled_blocks = c->blocks;
    p->stream.omitted.culled_bytes = c->bytes;
    cull_renumber(c, live, count);
}

/* --------------------------------------------------------------- streams */

static void writer_close_chunk(struct wake_stream *s, void *owner)
{
    writer_put(owner, (struct writer_process *)s);
}

static void writer_note_mark(struct wake_stream *s, void *owner, uint64_t time_ns, uint32_t thread,
                             const char *name, size_t length)
{
    struct writer_process *p = (struct writer_process *)s;
    meta_add_mark(&p->meta, time_ns, thread, name, length);
    writer_put_full(owner, p->number, &p->meta);
}

static void writer_note_gap(struct wake_stream *s, void *owner, uint64_t number, uint64_t skipped)
{
    struct writer_process *p = (struct writer_process *)s;
    meta_add_gap(&p->meta, number, skipped);
    writer_put_full(owner, p->number, &p->meta);
}

/* --------------------------------------------------------- the interface */

static uint64_t writer_wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int writer_open_file(const struct wake_writer *w, struct chunk_sink *to, const char *path, struct err *err)
{
    uint8_t head[FORMAT_HEADER_SIZE];
    file_header_encode(head, &(struct file_header){
                                 .major = FORMAT_MAJOR,
                                 .minor = FORMAT_MINOR,
                                 .length = FORMAT_HEADER_SIZE,
                                 .wall_ns = w->begin_wall_ns,
                                 .series = w->series,
                                 .part = w->part,
                             });
    return chunk_sink_open(to, path, head, sizeof head, err);
}

static int writer_open(struct wake_writer **w, const char *path, const struct wake_writer *as,
                       struct err *err)
{
    *w = memory_new_zeroed(1, sizeof **w);
    if (*w == NULL)
        return err_no_memory(err);
    **w = *as;
    (*w)->next.file.fd = -1;
    int code = writer_open_file(*w, &(*w)->sink, path, err);
    if (code != 0) {
        free(*w);
        *w = NULL;
    }
    return code;
}

int wake_writer_open(struct wake_writer **w, const char *path, struct err *err)
{
    return wake_writer_open_dated(w, path, 0, 0, err);
}

int wake_writer_open_at(struct wake_writer **w, const char *path, uint64_t wall_ns, struct err *err)
{
    const struct wake_writer as = {.begin_wall_ns = wall_ns};
    return writer_open(w, path, &as, err);
}

int wake_writer_open_dated(struct wake_writer **w, const char *path, uint64_t begin_ns, uint64_t end_ns,
                           struct err *err)
{
    const struct wake_writer as = {.begin_wall_ns = begin_ns != 0 ? begin_ns : writer_wall_ns(),
                                   .end_wall_ns = end_ns};
    return writer_open(w, path, &as, err);
}

int wake_writer_open_series(struct wake_writer **w, const char *path, struct err *err)
{
    struct wake_writer as = {.begin_wall_ns = writer_wall_ns(), .part = 1};
    while (as.series == 0)
        if (getrandom(&as.series, sizeof as.series, 0) != sizeof as.series)
            as.series = as.begin_wall_ns ^ (uint64_t)getpid() << 48;
    return writer_open(w, path, &as, err);
}

void wake_writer_cull(struct wake_writer *w, const struct wake_cull_options *options)
{
    w->cull = *options;
    w->is_culling = true;
}

void wake_writer_limit(struct wake_writer *w, uint64_t bytes)
{
    w->limit = bytes;
}

uint32_t wake_writer_add_process(struct wake_writer *w, const struct wake_process_info *info)
{
    uint32_t number = (uint32_t)w->processes.count;
    struct writer_process *p = vec_push(&w->processes, NULL) ? writer_new_process(w, number) : NULL;
    if (p == NULL) {
        w->processes.count = number;
        writer_fail(w, ENOMEM);
        return UINT32_MAX;
    }
    p->stream.arena_bit = info->has_arenas ? RECORD_OTHER_ARENA : 0;
    p->stream.close_chunk = writer_close_chunk;
    p->stream.note_mark = writer_note_mark;
    p->stream.note_gap = writer_note_gap;
    strbuf_clear(&w->scratch);
    meta_encode_process(&w->scratch, info);
    writer_chunk_of(w, FORMAT_PROCESS, number, &w->scratch);
    if (w->is_culling) {
        p->stream.cull = cull_new(&p->stream, &w->cull);
        p->stream.omitted.is_culled = p->stream.cull != NULL;
        p->stream.omitted.threshold_ns = p->stream.cull != NULL ? w->cull.threshold_ns : 0;
    }
    p->stream.omitted.sample_rate = info->sample_rate;
    p->stream.omitted.has_gaps = p->stream.omitted.is_culled && info->sample_rate != 0;
    writer_put_omissions(w, number, &p->stream.omitted, NULL, 0); /* a cut recording says so too */
    if (w->error != 0)
        stream_close(&p->stream);
    else if (w->limit != 0 && chunk_sink_size(&w->sink) >= w->limit)
        stream_limit(&p->stream);
    return number;
}

struct wake_stream *wake_writer_stream(struct wake_writer *w, uint32_t process)
{
    struct writer_process *p = writer_find(w, process);
    return p == NULL ? NULL : &p->stream;
}

void wake_writer_add_thread(struct wake_writer *w, uint32_t process, uint32_t thread, uint32_t tid,
                            uint64_t time_ns)
{
    struct writer_process *p = writer_find(w, process);
    if (p == NULL || w->error != 0)
        return;
    meta_add_thread(&p->meta, thread, tid, time_ns);
    writer_put_full(w, p->number, &p->meta);
}

void wake_writer_add_pool(struct wake_writer *w, uint32_t process, uint32_t pool, const char *name,
                          const char *unit)
{
    struct writer_process *p = writer_find(w, process);
    if (p != NULL && w->error == 0)
        meta_add_pool(&p->meta, pool, name, unit);
}

void wake_writer_name_thread(struct wake_writer *w, uint32_t process, uint32_t thread, const char *name,
                             size_t length, uint64_t time_ns)
{
    struct writer_process *p = writer_find(w, process);
    if (p == NULL || w->error != 0)
        return;
    meta_name_thread(&p->meta, thread, name, length, time_ns);
    writer_put_full(w, p->number, &p->meta);
}

uint32_t wake_writer_add_module(struct wake_writer *w, uint32_t process, const struct wake_module_info *info)
{
    struct writer_process *p = writer_find(w, process);
    if (p == NULL)
        return 0;
    if (w->error != 0)
        return ++p->meta.module_count;
    uint32_t number = meta_add_module(&p->meta, info);
    writer_put_full(w, p->number, &p->meta);
    return number;
}

uint32_t wake_writer_add_stack(struct wake_writer *w, uint32_t process, const struct wake_frame *frames,
                               uint32_t count, uint32_t omitted, unsigned cut)
{
    struct writer_process *p = writer_find(w, process);
    if (p == NULL)
        return 0;
    if (w->error != 0)
        return ++p->meta.stack_count;
    uint32_t number = meta_add_stack(&p->meta, frames, count, omitted, cut);
    writer_put_full(w, p->number, &p->meta);
    return number;
}

void wake_writer_sample_rss(struct wake_writer *w, uint32_t process, uint64_t time_ns, uint64_t rss_bytes)
{
    struct writer_process *p = writer_find(w, process);
    if (p != NULL && w->error == 0)
        meta_add_sample(&p->meta, time_ns, rss_bytes);
}

void wake_writer_sample_usage(struct wake_writer *w, uint32_t process, uint64_t time_ns, uint64_t took_ns,
                              bool anew, const struct wake_usage *ranges, size_t count)
{
    struct writer_process *p = writer_find(w, process);
    for (size_t first = 0; p != NULL && w->error == 0 && first < count; first += META_USAGE_STEP) {
        size_t left = count - first;
        meta_add_usage(&p->meta, time_ns, took_ns, anew && first == 0, ranges + first,
                       left < META_USAGE_STEP ? left : META_USAGE_STEP);
        writer_put_full(w, p->number, &p->meta);
    }
}

void wake_writer_advance(struct wake_writer *w, uint64_t now_ns)
{
    for (size_t i = 0; i < w->processes.count; i++)
        if (w->processes.data[i] != NULL && w->processes.data[i]->stream.cull != NULL)
            cull_advance(w->processes.data[i]->stream.cull, now_ns);
}

void wake_writer_add_note(struct wake_writer *w, const char *text, size_t length)
{
    strbuf_clear(&w->scratch);
    length = length < WRITER_NOTE_MAX ? length : WRITER_NOTE_MAX;
    strbuf_add_varint(&w->scratch, length);
    strbuf_add(&w->scratch, text, length);
    writer_chunk_of(w, FORMAT_NOTES, FORMAT_NO_PROCESS, &w->scratch);
}

void wake_writer_add_unrecorded(struct wake_writer *w, uint64_t processes)
{
    w->unrecorded += processes;
}

void wake_writer_set_levels(struct wake_writer *w, uint32_t process, const void *bytes, size_t length)
{
    struct writer_process *p = writer_find(w, process);
    if (p == NULL || w->error != 0)
        return;
    strbuf_clear(&p->levels);
    strbuf_add(&p->levels, bytes, length);
}

void wake_writer_flush(struct wake_writer *w)
{
    for (size_t i = 0; i < w->processes.count; i++)
        if (w->processes.data[i] != NULL)
            writer_put(w, w->processes.data[i]);
    if (w->error == 0 && !chunk_sink_flush(&w->sink))
        writer_fail(w, w->sink.error);
}

void wake_writer_end_process(struct wake_writer *w, uint32_t process, const struct wake_process_end *end,
                             const struct wake_stack_totals *totals, uint32_t stack_count,
                             struct wake_live_block *live, size_t live_count)
{
    struct writer_process *p = writer_find(w, process);
    if (p == NULL)
        return;
    writer_end_cull(p, live, live_count);
    writer_put(w, p);
    struct wake_omissions *o = &p->stream.omitted;
    if (o->sample_rate != 0 && o->samples == 0) { /* a copy has them from elsewhere */
        o->samples = p->stream.made;
        o->freed_samples = p->stream.released;
    }
    const struct cull *c = p->stream.cull;
    writer_put_end(w, p, end, totals, totals == NULL ? 0 : (uint64_t)stack_count + 1, live, live_count, o,
                   c == NULL ? NULL : c->culled.data, c == NULL ? 0 : c->culled.count);
    writer_free_process(w, p);
}

bool wake_writer_has_failed(const struct wake_writer *w)
{
    return w->error != 0;
}

/* ---------------------------------------------------------------- the end */

static uint64_t writer_not_kept(const struct wake_writer *w)
{
    uint64_t sum = w->not_kept;
    for (size_t i = 0; i < w->processes.count; i++)
        sum += w->processes.data[i] == NULL ? 0 : w->processes.data[i]->stream.lost;
    return sum;
}

/* Tail, index and end, in one go.  False: not written (and cut away again). */
bool writer_wrap_up(struct wake_writer *w, uint64_t cpu_ns)
{
    uint64_t base = chunk_sink_size(&w->sink);
    size_t kept = w->index.entries.count;
    strbuf_add(&w->sink.pending, w->tail.text, w->tail.length);
    for (size_t i = 0; i < w->tail_index.entries.count; i++) {
        struct index_entry e = w->tail_index.entries.data[i];
        e.offset += base;
        if (!vec_push(&w->index.entries, e))
            return false;
    }
    const struct tail_end end = {.write_error = (uint32_t)w->error,
                                 .not_kept = writer_not_kept(w),
                                 .cpu_ns = cpu_ns,
                                 .wall_ns = w->end_wall_ns != 0 ? w->end_wall_ns : writer_wall_ns(),
                                 .unrecorded = w->unrecorded};
    bool sound = tail_add_end(&w->sink.pending, &w->codec, &w->index, chunk_sink_size(&w->sink), &end);
    if (sound && chunk_sink_flush(&w->sink))
        return true;
    if (w->error == 0)
        w->error = w->sink.error != 0 ? w->sink.error : ENOMEM;
    w->index.entries.count = kept;
    writer_cut(w, base < w->sink.written ? base : w->sink.written);
    return false;
}

/* Gives up the latest events chunk and what stands behind it; false: there is none. */
static bool writer_give_up_events(struct wake_writer *w)
{
    for (size_t i = w->index.entries.count; i-- > 0;) {
        const struct index_entry *e = &w->index.entries.data[i];
        if (e->type == FORMAT_EVENTS) {
            writer_cut(w, e->offset);
            return true;
        }
    }
    return false;
}

static void writer_free(struct wake_writer *w)
{
    for (size_t i = 0; i < w->processes.count; i++)
        if (w->processes.data[i] != NULL)
            writer_free_process(w, w->processes.data[i]);
    vec_release(&w->processes);
    index_release(&w->index);
    index_release(&w->tail_index);
    strbuf_release(&w->tail);
    strbuf_release(&w->scratch);
    codec_release(&w->codec);
    free(w);
}

void writer_abandon(struct wake_writer *w)
{
    (void)chunk_sink_close(&w->sink, NULL);
    writer_free(w);
}

int wake_writer_close(struct wake_writer *w, uint64_t cpu_ns, struct err *err)
{
    wake_writer_flush(w);
    bool wrapped = writer_wrap_up(w, cpu_ns);
    for (int i = 0; i < WRITER_GIVE_UP && !wrapped && writer_give_up_events(w); i++)
        wrapped = writer_wrap_up(w, cpu_ns);
    int code = 0;
    if (w->error != 0)
        code = err_set(err, file_code(w->error),
                       "%s could not be written to its end: %s; %llu events are not kept.", w->sink.file.path,
                       strerror(w->error), (unsigned long long)writer_not_kept(w));
    int closed = chunk_sink_close(&w->sink, code == 0 ? err : NULL);
    writer_free(w);
    return code != 0 ? code : closed;
}
