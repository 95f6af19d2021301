/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * series: see series.h.
 *
 * The chunks of all files, one file behind the other, without
 *
 *  - what a file repeats of those before it: all up to its carried chunks (but
 *    of the first file that is there: that is all we know of what came before);
 *  - how a process was when its file was left, if it goes on in the next.
 *
 * Each file is opened alone first: that tells which processes go on.
 */
#include "store/series.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/format.h"
#include "store/recording.h"
#include "tool/file.h"
#include "tool/memory.h"

void wake_series_find(const char *path, uint64_t *series, uint32_t *part)
{
    uint8_t bytes[FORMAT_HEADER_SIZE];
    struct file_header h;
    uint64_t size;
    size_t got = 0;
    int fd;
    *series = *part = 0;
    if (file_open(&fd, &size, path, NULL) != 0)
        return;
    if (file_read_at(fd, bytes, sizeof bytes, 0, &got) == 0 && got == sizeof bytes &&
        file_header_decode(bytes, &h) == FILE_HEADER_SOUND) {
        *series = h.series;
        *part = h.part;
    }
    file_close(fd);
}

static bool series_goes_on(const struct wake_reader *from, const struct index_entry *e)
{
    return chunk_type_get(e->type)->is_state && e->process < from->shelves.count &&
           from->shelves.data[e->process]->process.end.goes_on;
}

/* Adds what counts of one file.  False: no memory. */
static bool series_add(struct index *to, const struct wake_reader *from, uint32_t part, bool is_last)
{
    const struct index *index = &from->index;
    size_t first = 0;
    for (size_t i = 0; part != 0 && i < index->entries.count; i++)
        if (index->entries.data[i].type == FORMAT_CARRIED)
            first = i + 1;
    for (size_t i = 0; i < index->entries.count; i++) {
        struct index_entry e = index->entries.data[i];
        if ((i < first && !chunk_type_get(e.type)->is_common) || (!is_last && series_goes_on(from, &e)))
            continue;
        e.part = part;
        if (!vec_push(&to->entries, e))
            return false;
    }
    return true;
}

static bool series_take_file(struct wake_reader *r, const struct wake_reader *from)
{
    int fd = dup(from->fd);
    if (fd < 0 || !vec_push(&r->parts, fd)) {
        file_close(fd);
        return false;
    }
    struct wake_summary *s = &r->summary;
    s->file_size += from->summary.file_size;
    r->size += from->size;
    s->end_wall_ns = from->summary.end_wall_ns;
    s->collector_cpu_ns = from->summary.collector_cpu_ns;
    s->closed = s->closed && from->summary.closed;
    s->write_error = s->write_error != 0 ? s->write_error : from->summary.write_error;
    s->not_kept += from->summary.not_kept;
    s->unrecorded += from->summary.unrecorded;
    s->last_part = from->summary.part;
    r->budget += from->budget;
    for (size_t i = 0; i < from->damages.count; i++)
        recording_damage(r, from->damages.data[i].offset, "%s: %s", from->path, from->damages.data[i].text);
    return true;
}

static int series_join(struct wake_reader *r, struct wake_reader *const *files, size_t count,
                       const char *path, struct err *err)
{
    struct index joined = {0};
    int code = recording_open(r, path, err);
    bool fine = code == 0;
    for (size_t i = 0; i < count && fine; i++) {
        fine = (i == 0 || series_take_file(r, files[i])) &&
               series_add(&joined, files[i], (uint32_t)i, i + 1 == count);
        if (fine && i > 0 && files[i]->summary.part != files[i - 1]->summary.part + 1)
            recording_damage(r, i, "Part %u of the series is not there.", files[i - 1]->summary.part + 1);
    }
    if (code == 0 && !fine)
        code = err_no_memory(err);
    index_release(&r->index);
    r->index = joined;
    return code != 0 ? code : reader_take_in(r, err);
}

int wake_series_open(struct wake_reader **out, const char *const *paths, size_t count, struct err *err)
{
    if (count == 1)
        return wake_reader_open(out, paths[0], err);
    struct wake_reader **files = memory_new_zeroed(count, sizeof(struct wake_reader *));
    struct wake_reader *r = memory_new_zeroed(1, sizeof *r);
    int code = files == NULL || r == NULL ? err_no_memory(err) : 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = wake_reader_open(&files[i], paths[i], err);
    if (code == 0)
        code = series_join(r, files, count, paths[0], err);
    else if (r != NULL)
        r->fd = -1;
    for (size_t i = 0; files != NULL && i < count; i++)
        wake_reader_close(files[i]);
    free(files);
    if (code != 0)
        wake_reader_close(r);
    *out = code == 0 ? r : NULL;
    return code;
}
