/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * writing: the processes of a writer, and the chunks at the end of each.
 */
#include "store/writing.h"

#include <stdlib.h>

#include "store/format.h"
#include "tool/memory.h"

struct writer_process *writer_find(struct wake_writer *w, uint32_t process)
{
    return process < w->processes.count ? w->processes.data[process] : NULL;
}

struct writer_process *writer_new_process(struct wake_writer *w, uint32_t number)
{
    struct writer_process *p = memory_new_zeroed(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->number = number;
    meta_init(&p->meta);
    stream_init(&p->stream, w);
    w->processes.data[number] = p;
    return p;
}

void writer_free_process(struct wake_writer *w, struct writer_process *p)
{
    stream_close(&p->stream);
    w->not_kept += p->stream.lost;
    w->processes.data[p->number] = NULL;
    cull_free(p->stream.cull);
    vec_release(&p->carried);
    strbuf_release(&p->levels);
    meta_release(&p->meta);
    free(p);
}

void writer_put_totals(struct wake_writer *w, uint32_t process, const struct wake_stack_totals *rows,
                       uint64_t count)
{
    for (uint64_t first = 0; first < count; first += WRITER_TOTALS_STEP) {
        uint64_t step = count - first < WRITER_TOTALS_STEP ? count - first : WRITER_TOTALS_STEP;
        strbuf_clear(&w->scratch);
        meta_encode_totals(&w->scratch, rows, (uint32_t)first, (uint32_t)step);
        writer_chunk_of(w, FORMAT_TOTALS, process, &w->scratch);
    }
}

void writer_put_live(struct wake_writer *w, uint32_t process, const struct wake_live_block *live,
                     size_t count, size_t step)
{
    for (size_t first = 0; first < count; first += step) {
        strbuf_clear(&w->scratch);
        meta_encode_live(&w->scratch, live + first, count - first < step ? count - first : step);
        writer_chunk_of(w, FORMAT_LIVE, process, &w->scratch);
    }
}

void writer_put_omissions(struct wake_writer *w, uint32_t process, const struct wake_omissions *o,
                          const struct wake_culled_stack *rows, size_t count)
{
    size_t first = 0;
    if (!o->is_culled && !o->is_limited && o->sample_rate == 0)
        return;
    do {
        size_t step = count - first < WRITER_TOTALS_STEP ? count - first : WRITER_TOTALS_STEP;
        strbuf_clear(&w->scratch);
        meta_encode_omissions(&w->scratch, o, rows, first, step);
        writer_chunk_of(w, FORMAT_OMISSIONS, process, &w->scratch);
        first += step;
    } while (first < count);
}

void writer_put_end(struct wake_writer *w, struct writer_process *p, const struct wake_process_end *end,
                    const struct wake_stack_totals *totals, uint64_t rows, const struct wake_live_block *live,
                    size_t live_count, const struct wake_omissions *o, const struct wake_culled_stack *culled,
                    size_t culled_count)
{
    uint32_t process = p->number;
    writer_put_totals(w, process, totals, rows);
    if (p->levels.length <= FORMAT_PAYLOAD_MAX && !p->levels.failed) /* can be done without */
        writer_chunk_of(w, FORMAT_LEVELS, process, &p->levels);
    strbuf_release(&p->levels);
    writer_put_live(w, process, live, live_count, WRITER_LIVE_STEP);
    writer_put_omissions(w, process, o, culled, culled_count);
    /* Last: who finds it has the totals and the live blocks too. */
    strbuf_clear(&w->scratch);
    meta_encode_end(&w->scratch, end);
    writer_chunk_of(w, FORMAT_PROCESS_END, process, &w->scratch);
}
