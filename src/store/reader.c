/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * reader: opens a recording and ties its parts together.
 *
 *     open   header -> index (salvage.c) -> meta data (shelf.c) -> spans,
 *            and derive.c for processes whose end is not there
 *     visit  index -> chunk (recording.c) -> blocks (replay.c, visit.c)
 */
#include "store/reader.h"

#include <stdlib.h>
#include <string.h>

#include "store/format.h"
#include "store/recording.h"
#include "tool/file.h"

#define READER_BUDGET_BASE (UINT64_C(1) << 30)
enum {
    READER_BUDGET_FACTOR = 64 /* bytes of memory for a byte of file, beyond the base */
};

/* Is the file, whose header is not sound, a recording nevertheless? */
static bool reader_smells_right(struct wake_reader *r)
{
    struct chunk_header h;
    return recording_read_header(r, FORMAT_HEADER_SIZE, &h);
}

static int reader_check_header(struct wake_reader *r, struct err *err)
{
    uint8_t bytes[FORMAT_HEADER_SIZE];
    size_t got;
    int error = file_read_at(r->fd, bytes, sizeof bytes, 0, &got);
    if (error != 0)
        return err_set(err, ERR_IO, "%s cannot be read: %s.", r->path, strerror(-error));
    if (got == 0)
        return err_set(err, ERR_INPUT, "%s is empty.", r->path);
    if (got < sizeof bytes && memcmp(bytes, FORMAT_MAGIC, got < 8 ? got : 8) == 0)
        return err_set(err, ERR_INPUT, "%s is a recording that ends inside its header.", r->path);
    struct file_header h;
    enum file_header_state state = got < sizeof bytes ? FILE_HEADER_ALIEN : file_header_decode(bytes, &h);
    r->begin = FORMAT_HEADER_SIZE;
    if (state == FILE_HEADER_SOUND) {
        if (h.major > FORMAT_MAJOR || h.needs != 0)
            return err_set(err, ERR_UNSUPPORTED,
                           "%s was written by a newer heapwake (format %u.%u; this one reads up to %d).",
                           r->path, h.major, h.minor, FORMAT_MAJOR);
        if (h.major < FORMAT_MAJOR || h.length < FORMAT_HEADER_SIZE || h.length > r->size)
            return err_set(err, ERR_INPUT, "%s has a header that makes no sense.", r->path);
        r->begin = h.length;
        r->summary.major = h.major;
        r->summary.minor = h.minor;
        r->summary.wall_ns = h.wall_ns;
        return 0;
    }
    if (state == FILE_HEADER_ALIEN && !reader_smells_right(r))
        return err_set(err, ERR_INPUT, "%s is not a heapwake recording.", r->path);
    recording_damage(r, 0, "The header of the file is damaged.");
    r->summary.major = FORMAT_MAJOR;
    return 0;
}

/* Counts the events of a chunk and notices when some before it are missing. */
static int reader_add_span(struct wake_reader *r, size_t at)
{
    const struct index_entry *e = &r->index.entries.data[at];
    struct shelf *shelf = shelf_get(r, e->process);
    if (shelf == NULL)
        return ERR_INPUT;
    if (e->events.first_event < shelf->next_event)
        return ERR_INPUT;
    if (!vec_push(&shelf->spans, at))
        return ERR_MEMORY;
    shelf->process.missing_events += e->events.first_event - shelf->next_event;
    shelf->next_event = e->events.first_event + e->events.events;
    shelf->process.events += e->events.events;
    r->summary.events += e->events.events;
    return 0;
}

/* Takes in everything that the index names but the events themselves. */
static int reader_load(struct wake_reader *r)
{
    for (size_t i = 0; i < r->index.entries.count; i++) {
        const struct index_entry *e = &r->index.entries.data[i];
        struct payload payload;
        if (e->type == FORMAT_INDEX || e->type == FORMAT_END || e->type == 0 || e->type >= FORMAT_TYPE_COUNT)
            continue;
        int code = e->type == FORMAT_EVENTS ? reader_add_span(r, i) : recording_read(r, e, &payload);
        if (code == 0 && e->type != FORMAT_EVENTS)
            code = shelf_add(r, &payload);
        if (code == ERR_MEMORY)
            return code;
        if (code == 0)
            continue;
        recording_damage(r, e->offset, "The %s chunk at byte %llu makes no sense and is left out.",
                         recording_type_name(e->type), (unsigned long long)e->offset);
        struct shelf *shelf = shelf_get(r, e->process);
        if (shelf != NULL && e->type == FORMAT_TOTALS)
            shelf->totals_damaged = true;
        if (shelf != NULL && e->type == FORMAT_LIVE)
            shelf->live_damaged = true;
    }
    return 0;
}

static int reader_complete(struct wake_reader *r, struct err *err)
{
    for (size_t i = 0; i < r->shelves.count; i++) {
        struct shelf *shelf = r->shelves.data[i];
        struct wake_process *p = &shelf->process;
        if (!p->known || !p->ended || !p->end.complete || p->missing_events > 0)
            r->summary.complete = false;
        if (p->ended && !shelf->totals_damaged && !shelf->live_damaged)
            continue;
        int code = derive_process(r, i, err);
        if (code != 0)
            return code;
    }
    return 0;
}

int wake_reader_open(struct wake_reader **out, const char *path, struct err *err)
{
    struct wake_reader *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL)
        return err_set(err, ERR_MEMORY, "There is no memory to open %s.", path);
    r->fd = -1;
    r->path = strdup(path);
    int code = r->path == NULL ? err_set(err, ERR_MEMORY, "There is no memory to open %s.", path)
                               : file_open(&r->fd, &r->size, path, err);
    if (code != 0)
        goto out;
    r->summary.file_size = r->size;
    r->summary.complete = true;
    r->budget = READER_BUDGET_BASE;
    if (r->size < UINT64_MAX / 2 / READER_BUDGET_FACTOR)
        r->budget += r->size * READER_BUDGET_FACTOR;
    code = reader_check_header(r, err);
    if (code != 0)
        goto out;
    code = salvage_index(r);
    if (code == 0)
        code = reader_load(r);
    if (code != 0) {
        err_set(err, code, "There is no memory to open %s.", path);
        goto out;
    }
    if (!r->summary.closed || r->summary.write_error != 0 || r->summary.not_kept != 0)
        r->summary.complete = false;
    code = reader_complete(r, err);
out:
    if (code != 0)
        wake_reader_close(r);
    else
        *out = r;
    return code;
}

void wake_reader_close(struct wake_reader *r)
{
    if (r == NULL)
        return;
    file_close(r->fd);
    for (size_t i = 0; i < r->shelves.count; i++)
        shelf_free(r->shelves.data[i]);
    vec_release(&r->shelves);
    vec_release(&r->damages);
    index_release(&r->index);
    replay_release(&r->replay);
    codec_release(&r->codec);
    arena_release(&r->arena);
    free(r->stored);
    free(r->raw);
    free(r->path);
    free(r);
}

const struct wake_summary *wake_reader_summary(const struct wake_reader *r)
{
    return &r->summary;
}

size_t wake_reader_process_count(const struct wake_reader *r)
{
    return r->shelves.count;
}

const struct wake_process *wake_reader_process(const struct wake_reader *r, size_t process)
{
    return process < r->shelves.count ? &r->shelves.data[process]->process : NULL;
}

const struct wake_thread *wake_process_find_thread(const struct wake_process *p, uint32_t number)
{
    /* A process is the first member of its shelf. */
    const struct shelf *shelf = (const struct shelf *)p;
    const uint64_t *at = map_find(&shelf->threads, number);
    return at == NULL ? NULL : &p->threads.data[*at];
}

const struct wake_stack *wake_process_find_stack(const struct wake_process *p, uint32_t number)
{
    return number < p->stacks.count && p->stacks.data[number].known ? &p->stacks.data[number] : NULL;
}

size_t wake_reader_damage_count(const struct wake_reader *r)
{
    return r->damages.count;
}

const struct wake_damage *wake_reader_damage(const struct wake_reader *r, size_t i)
{
    return i < r->damages.count ? &r->damages.data[i] : NULL;
}

static int reader_ignore(const struct wake_block *block, void *context)
{
    (void)block;
    (void)context;
    return 0;
}

int wake_reader_verify(struct wake_reader *r, struct err *err)
{
    uint64_t end = r->begin;
    for (size_t i = 0; i < r->index.entries.count; i++) {
        const struct index_entry *e = &r->index.entries.data[i];
        struct payload payload;
        if (e->offset != end)
            recording_damage(r, end, "%llu bytes from byte %llu on belong to no chunk.",
                             (unsigned long long)(e->offset - end), (unsigned long long)end);
        if (recording_read(r, e, &payload) == ERR_MEMORY)
            return err_set(err, ERR_MEMORY, "There is no memory to read %s.", r->path);
        end = index_entry_end(e);
    }
    for (size_t i = 0; i < r->shelves.count; i++) {
        int code = wake_reader_visit(r, i, 0, UINT64_MAX, reader_ignore, NULL, err);
        if (code != 0)
            return code;
    }
    return 0;
}
