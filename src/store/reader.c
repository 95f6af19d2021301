/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * reader: opens a recording and ties its parts together.
 *
 *     open   header -> index (salvage.c) -> meta data (shelf.c) -> spans,
 *            and derive.c for processes whose end is not there
 *     visit  index -> chunk (recording.c) -> blocks (replay.c, visit.c)
 *     names  index -> chunk -> names (lookup.c), when first asked for
 */
#include "store/reader.h"

#include <stdlib.h>
#include <string.h>

#include "store/format.h"
#include "store/recording.h"
#include "tool/file.h"
#include "tool/memory.h"

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
        if (e->type == FORMAT_SYMBOLS || e->type == FORMAT_BINARY)
            r->summary.added_size += index_entry_end(e) - e->offset;
        if (e->type == 0 || e->type >= FORMAT_INDEX)
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
    struct wake_reader *r = memory_new_zeroed(1, sizeof *r);
    *out = NULL;
    if (r == NULL)
        return err_set(err, ERR_MEMORY, "There is no memory to open %s.", path);
    int code = recording_open(r, path, err);
    if (code != 0)
        goto out;
    if (reader_load(r) != 0) {
        code = err_set(err, ERR_MEMORY, "There is no memory to open %s.", path);
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
    for (size_t i = 0; i < r->shelves.count; i++)
        shelf_free(r->shelves.data[i]);
    vec_release(&r->shelves);
    lookup_release(r);
    replay_release(&r->replay);
    recording_close(r);
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
    return lookup_verify(r, err);
}
