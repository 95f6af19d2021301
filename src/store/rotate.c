/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rotate: a writer that goes on in another file.
 *
 *     file n     ... events | totals, live blocks, end (goes on) of each process | index | end
 *     file n+1   process, threads, modules, stacks, marks, pools | carried blocks | events ...
 *
 * Each file can be read alone: what is defined before its events is written
 * again (from the file before, which has all of it), and the blocks that were
 * live when it began stand in its carried chunks.  Numbers of events,
 * allocations, threads, modules and stacks go on, so that the files read one
 * after the other (store/series.h) are what one file would have been.
 *
 * The carried chunks are the last of what is written again: whoever reads the
 * series passes over everything before them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/format.h"
#include "store/reader.h"
#include "store/rewriting.h"
#include "store/weight.h"
#include "store/writing.h"
#include "tool/err.h"
#include "tool/memory.h"

uint64_t wake_writer_size(const struct wake_writer *w)
{
    return chunk_sink_size(&w->sink);
}

static int rotate_compare(const void *a, const void *b)
{
    const struct wake_live_block *x = a, *y = b;
    return x->allocation < y->allocation ? -1 : x->allocation > y->allocation;
}

/* The blocks that are in the file and whose release is not. */
static bool rotate_carry(struct writer_process *p, const struct wake_live_block *live, size_t count)
{
    struct cull *c = p->stream.cull;
    p->carried.count = 0;
    if (!vec_reserve(&p->carried, c == NULL ? count : numbered_count(&c->written)))
        return false;
    for (size_t i = 0; c == NULL && i < count; i++)
        (void)vec_push(&p->carried, live[i]);
    uint64_t number;
    struct numbered_walk at = {0};
    for (const struct wake_live_block *b;
         c != NULL && (b = numbered_next(&c->written, &at, &number, sizeof *b)) != NULL;)
        (void)vec_push(&p->carried, *b);
    if (p->carried.count > 0)
        qsort(p->carried.data, p->carried.count, sizeof *p->carried.data, rotate_compare);
    return true;
}

void wake_writer_pause_process(struct wake_writer *w, uint32_t process, const struct wake_process_end *end,
                               const struct wake_stack_totals *totals, uint32_t stack_count,
                               struct wake_live_block *live, size_t live_count)
{
    struct writer_process *p = writer_find(w, process);
    if (p == NULL || w->error != 0)
        return;
    struct cull *c = p->stream.cull;
    struct wake_omissions o = p->stream.omitted;
    struct wake_process_end now = *end;
    writer_put(w, p);
    now.goes_on = now.complete = true;
    o.samples = o.sample_rate == 0 ? 0 : p->stream.made;
    o.freed_samples = o.sample_rate == 0 ? 0 : p->stream.released;
    if (c != NULL) {
        o.culled_blocks = c->blocks;
        o.culled_bytes = c->bytes;
        cull_renumber(c, live, live_count);
        cull_forget_gaps(c);
        writer_put_meta(w, p->number, &p->meta); /* gaps before those that still wait */
    }
    if (!rotate_carry(p, live, live_count))
        writer_fail(w, ENOMEM);
    writer_put_end(w, p, &now, totals, totals == NULL ? 0 : (uint64_t)stack_count + 1, live, live_count, &o,
                   c == NULL ? NULL : c->culled.data, c == NULL ? 0 : c->culled.count);
}

static void rotate_put_carried(struct wake_writer *w, struct writer_process *p)
{
    size_t first = 0;
    do {
        size_t left = p->carried.count - first, count = left < WRITER_LIVE_STEP ? left : WRITER_LIVE_STEP;
        strbuf_clear(&w->scratch);
        strbuf_add_varint(&w->scratch, p->stream.last_ns); /* no event of the new file is earlier */
        strbuf_add_varint(&w->scratch, p->stream.next_event);
        strbuf_add_varint(&w->scratch, p->stream.next_allocation);
        meta_encode_live(&w->scratch, p->carried.data + first, count);
        writer_chunk_of(w, FORMAT_CARRIED, p->number, &w->scratch);
        first += count;
    } while (first < p->carried.count);
    vec_release(&p->carried);
}

/* What the numbers of these blocks were as they were made; by rising number, as our own files have them. */
static void rotate_add_gaps(struct wake_writer *w, struct writer_process *p, const struct weight_rule *rule,
                            const struct wake_live_block *blocks, size_t count)
{
    uint64_t skipped = 0;
    for (const struct wake_live_block *b = blocks; rule->gap_count > 0 && b < blocks + count; b++) {
        uint64_t more = weight_number(rule, b->allocation) - b->allocation;
        if (more != skipped)
            meta_add_gap(&p->meta, b->allocation, more);
        writer_put_full(w, p->number, &p->meta);
        skipped = more;
    }
}

/* What was known of a process, into the new file. */
static void rotate_process(struct wake_writer *w, uint32_t number, struct wake_reader *r)
{
    const struct wake_process *before = wake_reader_process(r, number);
    const bool ended = w->processes.data[number] == NULL;
    struct writer_process *p = ended ? writer_new_process(w, number) : w->processes.data[number];
    if (p == NULL) {
        writer_fail(w, ENOMEM);
        return;
    }
    const struct rewrite_source x = {.w = w, .r = r};
    uint64_t marks = p->meta.mark_count;
    rewrite_add_process(&x, before, number);
    meta_release(&p->meta);
    meta_init(&p->meta);
    rewrite_add_meta(&x, before, number, &p->meta, REWRITE_MARKS | REWRITE_STACKS);
    p->meta.mark_count = marks;
    if (ended)
        rotate_add_gaps(w, p, &before->rule, before->live.data, before->live.count);
    else
        rotate_add_gaps(w, p, &before->rule, p->carried.data, p->carried.count);
    writer_put_meta(w, p->number, &p->meta);
    const struct wake_omissions *o = &p->stream.omitted;
    if (ended) {
        rewrite_copy_levels(&x, number, &p->levels);
        writer_put_end(w, p, &before->end, before->totals.data, before->totals.count, before->live.data,
                       before->live.count, &before->omitted, before->culled.data, before->culled.count);
        writer_free_process(w, p);
    } else if (o->is_culled || o->sample_rate != 0) {
        writer_put_omissions(w, number, o, NULL, 0);
    }
}

int wake_writer_open_next(struct wake_writer *w, const char *path, struct err *err)
{
    w->part++;
    int code = writer_open_file(w, &w->next, path, err);
    w->part--;
    if (code != 0)
        return code;
    wake_writer_flush(w);
    w->paused_at = chunk_sink_size(&w->sink);
    if (w->error == 0)
        return 0;
    (void)chunk_sink_close(&w->next, NULL);
    return err_set(err, file_code(w->error), "%s cannot be written: %s.", w->sink.file.path,
                   strerror(w->error));
}

/* Nothing of the pauses stays in the file: its processes end in it. */
static bool rotate_stay(struct wake_writer *w, int error)
{
    w->error = 0;
    writer_fail(w, error);
    writer_cut(w, w->paused_at);
    strbuf_clear(&w->tail);
    w->tail_index.entries.count = 0;
    (void)chunk_sink_close(&w->next, NULL);
    return false;
}

/* What is written again; 0 or the errno of a failure. */
static int rotate_repeat(struct wake_writer *w, const char *former)
{
    struct wake_reader *r;
    struct err err;
    int code = wake_reader_open(&r, former, &err);
    if (code != 0)
        return code == ERR_MEMORY ? ENOMEM : EIO;
    bool fine = wake_reader_process_count(r) == w->processes.count;
    for (size_t i = 0; fine && w->error == 0 && i < w->processes.count; i++)
        rotate_process(w, (uint32_t)i, r);
    for (size_t i = 0; fine && w->error == 0 && i < w->processes.count; i++)
        if (w->processes.data[i] != NULL)
            rotate_put_carried(w, w->processes.data[i]);
    wake_reader_close(r);
    return fine ? 0 : EIO;
}

bool wake_writer_rotate(struct wake_writer *w, uint64_t cpu_ns)
{
    char *former = memory_copy_text(w->sink.file.path);
    if (w->error != 0 || former == NULL || !writer_wrap_up(w, cpu_ns)) {
        free(former);
        return rotate_stay(w, w->error != 0 ? w->error : ENOMEM);
    }
    (void)chunk_sink_close(&w->sink, NULL);
    w->sink = w->next;
    w->next = (struct chunk_sink){.file = {.fd = -1}};
    w->index.entries.count = 0;
    w->unrecorded = 0; /* each stands in one file of the series */
    w->part++;
    int error = rotate_repeat(w, former);
    if (error != 0)
        writer_fail(w, error);
    free(former);
    return true;
}
