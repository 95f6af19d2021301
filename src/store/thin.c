/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * thin: see thin.h.  A process at a time: what is known of it, its events,
 * its end; then names and binaries.  Numbers of threads, modules and stacks
 * stay what they were.
 */
#include "store/thin.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/annex.h"
#include "store/copy_meta.h"
#include "store/cull.h"
#include "store/live.h"
#include "store/stream.h"
#include "store/weight.h"
#include "tool/file.h"
#include "tool/vec.h"
#include "wire/record.h"

struct thin {
    struct wake_reader *reader;
    struct wake_writer *writer;
    const struct wake_process *process;
    struct wake_stream *stream; /* of the process in the copy */
    uint32_t number;            /* ... and which it is there */
    struct wake_live live;      /* tells how large a freed block was */
    bool has_arenas;            /* ... and they are told there */
    bool out_of_memory;
};

/* What had been left out before. */
static void thin_former_omissions(struct thin *s)
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
            s->out_of_memory = true;
}

/* ------------------------------------------------------------------- events */

/* Blocks are known by the numbers as they were made: of samples these stay to be told. */
static uint64_t thin_number(const struct thin *s, uint64_t number)
{
    return weight_number(&s->process->rule, number);
}

static void thin_alloc(struct thin *s, const struct wake_block *b, uint32_t i)
{
    uint32_t stack = b->stack[i] < s->process->stacks.count ? b->stack[i] : 0;
    uint64_t previous = b->previous[i] == 0 ? 0 : thin_number(s, b->previous[i] - 1) + 1;
    s->stream->made = thin_number(s, b->number[i]); /* numbers jump where a part is lost */
    if (!wake_live_add(&s->live, b, i))
        s->out_of_memory = true;
    uint64_t usable = b->usable[i] | (s->has_arenas && b->arena[i] != 0 ? RECORD_OTHER_ARENA : 0);
    wake_stream_alloc(s->stream, b->time_ns[i], b->thread[i], b->detail[i], stack, b->address[i], b->size[i],
                      usable, previous);
}

static void thin_free(struct thin *s, const struct wake_block *b, uint32_t i)
{
    struct wake_live_block was;
    if (wake_live_take(&s->live, b->number[i], &was))
        wake_stream_free_from(s->stream, b->time_ns[i], b->thread[i], b->detail[i], b->stack[i],
                              thin_number(s, b->number[i]), was.size);
    else /* it was made in a part that is lost */
        wake_stream_free_unknown(s->stream, b->time_ns[i], b->thread[i], b->detail[i], b->stack[i], 0);
}

static void thin_event(struct thin *s, const struct wake_block *b, uint32_t i)
{
    const struct wake_mark *mark;
    uint64_t time = b->time_ns[i];
    switch (b->event[i]) {
    case WAKE_ALLOC:
        thin_alloc(s, b, i);
        break;
    case WAKE_FREE:
        thin_free(s, b, i);
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

static int thin_block(const struct wake_block *b, void *context)
{
    struct thin *s = context;
    for (uint32_t i = 0; i < b->count; i++)
        thin_event(s, b, i);
    return s->out_of_memory ? ERR_MEMORY : 0;
}

/* ---------------------------------------------------------------- processes */

static void thin_end(struct thin *s, size_t process)
{
    const struct wake_process *p = s->process;
    const struct wake_summary *summary = wake_reader_summary(s->reader);
    struct wake_process_end end = p->end;
    VEC(struct wake_live_block) live = {0};
    end.complete = end.complete && summary->complete;
    end.lost_events += p->missing_events + (process == 0 ? summary->not_kept : 0);
    if (p->live.count != 0 && !vec_reserve(&live, p->live.count))
        s->out_of_memory = true;
    for (size_t i = 0; i < p->live.count && !s->out_of_memory; i++) {
        struct wake_live_block block = p->live.data[i];
        block.allocation = thin_number(s, block.allocation);
        (void)vec_push(&live, block);
    }
    if (!copy_levels(s->writer, s->number, s->reader, process))
        s->out_of_memory = true;
    wake_writer_end_process(s->writer, s->number, &end, p->totals.data,
                            p->totals.count == 0 ? 0 : (uint32_t)p->totals.count - 1, live.data, live.count);
    vec_release(&live);
}

static int thin_process(struct thin *s, size_t process, struct err *err)
{
    s->process = wake_reader_process(s->reader, process);
    struct wake_process_info info = s->process->info;
    info.sample_rate = s->process->omitted.sample_rate;
    /* Nobody knows where blocks of an earlier file of the series lie, which are like others in the copy. */
    s->has_arenas = info.has_arenas = info.has_arenas && s->process->carried.count == 0;
    s->number = wake_writer_add_process(s->writer, &info);
    s->stream = wake_writer_stream(s->writer, s->number);
    if (s->stream == NULL || s->stream->cull == NULL)
        return err_set(err, ERR_MEMORY, "There is no memory for the copy.");
    wake_live_init(&s->live);
    thin_former_omissions(s);
    if (!copy_meta(s->writer, s->number, s->process, true))
        s->out_of_memory = true;
    int code = wake_reader_visit(s->reader, process, 0, UINT64_MAX, thin_block, s, err);
    if (code == 0)
        thin_end(s, process);
    wake_live_release(&s->live);
    if (s->out_of_memory)
        code = err_set(err, ERR_MEMORY, "There is no memory for the copy.");
    return code;
}

/* --------------------------------------------------------- names and binaries */

static int thin_copy_bytes(const uint8_t *bytes, size_t length, void *context)
{
    return file_write_all(*(int *)context, bytes, length, NULL) == 0 ? 0 : ERR_IO;
}

static int thin_binary(struct wake_reader *r, struct wake_annex *a, size_t i, struct err *err)
{
    const struct wake_binary *b = wake_reader_binary(r, i);
    struct name_image image = {
        .build_id = b->build_id, .build_id_length = b->build_id_length, .path = b->path, .remark = ""};
    int fd = memfd_create("heapwake-thin", MFD_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "There is no room to copy %s: %s.", b->path, strerror(errno));
    int code = wake_reader_copy_binary(r, i, thin_copy_bytes, &fd, err);
    if (code == 0)
        code = wake_annex_add_binary(a, &image, fd, err);
    close(fd);
    return code;
}

static int thin_names(struct wake_reader *r, const char *path, struct err *err)
{
    struct wake_annex *a;
    struct names *names = wake_reader_names(r);
    size_t binaries = wake_reader_binary_count(r);
    if (names == NULL)
        return err_set(err, ERR_MEMORY, "There is no memory for the names.");
    if (names_image_count(names) == 0 && binaries == 0)
        return 0;
    int code = wake_annex_open(&a, path, err);
    if (code != 0)
        return code;
    for (size_t i = 0; i < binaries && code == 0; i++)
        if (wake_reader_binary(r, i)->is_whole)
            code = thin_binary(r, a, i, err);
    wake_annex_add_names(a, names);
    int closed = wake_annex_close(a, code == 0 ? err : NULL);
    return code != 0 ? code : closed;
}

int wake_thin(struct wake_reader *r, const char *path, const struct wake_cull_options *options,
              struct err *err)
{
    const struct wake_summary *summary = wake_reader_summary(r);
    struct thin s = {.reader = r};
    int code = wake_writer_open_dated(&s.writer, path, summary->wall_ns, summary->end_wall_ns, err);
    if (code != 0)
        return code;
    wake_writer_cull(s.writer, options);
    for (size_t i = 0; i < wake_reader_process_count(r) && code == 0; i++)
        code = thin_process(&s, i, err);
    wake_writer_add_unrecorded(s.writer, summary->unrecorded);
    int closed = wake_writer_close(s.writer, summary->collector_cpu_ns, code == 0 ? err : NULL);
    code = code != 0 ? code : closed;
    return code != 0 ? code : thin_names(r, path, err);
}
