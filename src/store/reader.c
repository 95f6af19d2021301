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

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cursor.h"
#include "store/format.h"
#include "store/level_table.h"
#include "store/recording.h"
#include "tool/file.h"
#include "tool/memory.h"

enum { READER_NOTES_MAX = 1000 };

/* Counts the events of a chunk and notices when some before it are missing. */
int reader_note_events(struct wake_reader *r, struct meta_decoder *shelf, size_t at)
{
    const struct index_entry *e = &r->index.entries.data[at];
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

bool wake_reader_has_note(const struct wake_reader *r, const char *text)
{
    for (size_t i = 0; i < r->notes.count; i++)
        if (strcmp(r->notes.data[i], text) == 0)
            return true;
    return false;
}

/* A text a note; what several recordings said that are one now is taken once. */
int reader_add_notes(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c)
{
    (void)shelf;
    while (cursor_left(c) > 0) {
        uint64_t length = cursor_uleb(c);
        const uint8_t *bytes = cursor_take(c, length);
        if (bytes == NULL || r->notes.count == READER_NOTES_MAX)
            return ERR_INPUT;
        const char *text = arena_push_text(&r->arena, bytes, length);
        if (text == NULL || (!wake_reader_has_note(r, text) && !vec_push(&r->notes, text)))
            return ERR_MEMORY;
    }
    return 0;
}

/* Levels are read when somebody wants to know; the latest count. */
int reader_note_levels(struct wake_reader *r, struct meta_decoder *shelf, size_t at)
{
    (void)r;
    shelf->levels = at + 1;
    return 0;
}

static int reader_add(struct wake_reader *r, const struct chunk_type *type, size_t at)
{
    const struct index_entry *e = &r->index.entries.data[at];
    struct payload payload;
    struct cursor c;
    int code = type->decode == NULL ? 0 : recording_read(r, e, &payload);
    if (code != 0)
        return code;
    struct meta_decoder *shelf = type->is_of_process ? meta_decoder_get(r, e->process) : NULL;
    if (type->is_of_process && shelf == NULL)
        return ERR_INPUT;
    if (type->decode == NULL)
        return type->note(r, shelf, at);
    cursor_init(&c, payload.bytes, payload.length);
    return type->decode(r, shelf, &c);
}

/* Takes in everything that the index names but events and levels themselves. */
static int reader_load(struct wake_reader *r)
{
    for (size_t i = r->loaded; i < r->index.entries.count; i++) {
        const struct index_entry *e = &r->index.entries.data[i];
        const struct chunk_type *type = chunk_type_get(e->type);
        if (type->is_common)
            r->summary.added_size += index_entry_end(e) - e->offset;
        if (type->decode == NULL && type->note == NULL)
            continue;
        int code = reader_add(r, type, i);
        if (code == ERR_MEMORY)
            return code;
        if (code == 0)
            continue;
        recording_damage(r, e->offset, "The %s chunk at byte %llu makes no sense and is left out.",
                         type->name, (unsigned long long)e->offset);
        struct meta_decoder *shelf = meta_decoder_get(r, e->process);
        if (shelf != NULL && e->type == FORMAT_TOTALS)
            shelf->totals_damaged = true;
        if (shelf != NULL && e->type == FORMAT_LIVE)
            shelf->live_damaged = true;
    }
    r->loaded = r->index.entries.count;
    return 0;
}

static int reader_complete(struct wake_reader *r, struct err *err)
{
    for (size_t i = 0; i < r->shelves.count; i++) {
        struct meta_decoder *shelf = r->shelves.data[i];
        struct wake_process *p = &shelf->process;
        if (!p->known || !p->ended || !p->end.complete || p->missing_events > 0)
            r->summary.complete = false;
        if (p->ended && !shelf->totals_damaged && !shelf->live_damaged) {
            derive_free(shelf->derive);
            shelf->derive = NULL;
            continue;
        }
        int code = derive_process(r, i, err);
        if (code != 0)
            return code;
    }
    return 0;
}

/* What the end counts and this file does not have is in other files of its series. */
static void reader_find_elsewhere(struct wake_reader *r)
{
    for (size_t i = 0; i < r->shelves.count && r->summary.series != 0 && r->summary.not_kept == 0; i++) {
        struct wake_process *p = &r->shelves.data[i]->process;
        struct wake_omissions *o = &p->omitted;
        uint64_t allocations = o->culled_blocks + o->allocations, frees = o->culled_blocks + o->frees;
        struct wake_span span;
        for (size_t n = 0; wake_reader_span(r, i, n, &span); n++) {
            allocations += span.allocations;
            frees += span.frees;
        }
        uint64_t made = o->sample_rate != 0 ? o->samples : p->end.allocations;
        uint64_t released = o->sample_rate != 0 ? o->freed_samples : p->end.frees;
        if (!p->ended || p->derived || made < allocations || released < frees)
            continue;
        o->elsewhere_allocations = made - allocations;
        o->elsewhere_frees = released - frees;
    }
}

/* Events that wait until culling knows which blocks live on are in the file when the process ends. */
static bool reader_note_culled(struct wake_reader *r)
{
    char text[200];
    uint64_t threshold_ns = 0;
    for (size_t i = 0; i < r->shelves.count; i++) {
        const struct wake_process *p = &r->shelves.data[i]->process;
        if (wake_process_lacks_culled(p) && p->omitted.threshold_ns > threshold_ns)
            threshold_ns = p->omitted.threshold_ns;
    }
    if (threshold_ns == 0)
        return true;
    int length =
        snprintf(text, sizeof text,
                 "The end of a culled process is not in the file: its last %llu ms, and all blocks that "
                 "lived shorter than that, are missing.",
                 (unsigned long long)(threshold_ns / 1000000));
    const char *note = arena_push_text(&r->arena, text, (size_t)length);
    return note != NULL && (wake_reader_has_note(r, note) || vec_push(&r->notes, note));
}

/* Each file of a series is sound alone: that another follows it is said as a note. */
static bool reader_note_rest(struct wake_reader *r)
{
    static const char text[] =
        "The recording goes on in another file of its series, which was not read: figures are those of "
        "the moment when that began, and blocks that were live then count as leaked.";
    for (size_t i = 0; i < r->shelves.count; i++)
        r->summary.goes_on |= r->shelves.data[i]->process.end.goes_on;
    return !r->summary.goes_on || wake_reader_has_note(r, text) || vec_push(&r->notes, text);
}

int reader_take_in(struct wake_reader *r, struct err *err)
{
    if (reader_load(r) != 0)
        return err_no_memory(err);
    for (size_t i = 0; i < r->shelves.count; i++) {
        struct wake_process *p = &r->shelves.data[i]->process;
        p->rule = (struct weight_rule){p->omitted.sample_rate, p->gaps.data, p->gaps.count};
    }
    if (!r->summary.closed || r->summary.write_error != 0 || r->summary.not_kept != 0)
        r->summary.complete = false;
    int code = reader_complete(r, err);
    reader_find_elsewhere(r);
    if (code == 0 && (!reader_note_culled(r) || !reader_note_rest(r)))
        code = err_no_memory(err);
    return code;
}

int wake_reader_open(struct wake_reader **out, const char *path, struct err *err)
{
    struct wake_reader *r = memory_new_zeroed(1, sizeof *r);
    *out = NULL;
    if (r == NULL)
        return err_no_memory(err);
    r->may_grow = true;
    int code = recording_open(r, path, err);
    if (code == 0)
        code = reader_take_in(r, err);
    if (code != 0)
        wake_reader_close(r);
    else
        *out = r;
    return code;
}

/* What was made of the events gives way to what the file may say now. */
static void reader_forget_derived(struct wake_reader *r)
{
    for (size_t i = 0; i < r->shelves.count; i++) {
        struct wake_process *p = &r->shelves.data[i]->process;
        if (p->derived && !p->ended)
            p->totals.count = p->live.count = 0;
        p->derived &= p->ended;
    }
    r->summary.complete = r->damages.count == 0;
}

bool wake_reader_has_more(const struct wake_reader *r)
{
    struct stat st;
    return r->may_grow && !r->summary.closed && fstat(r->fd, &st) == 0 && (uint64_t)st.st_size > r->size;
}

int wake_reader_refresh(struct wake_reader *r, bool *has_grown, struct err *err)
{
    struct stat st;
    *has_grown = false;
    if (!wake_reader_has_more(r) || fstat(r->fd, &st) != 0)
        return 0;
    size_t first = r->index.entries.count;
    r->size = r->summary.file_size = (uint64_t)st.st_size;
    if (salvage_scan(r) != 0)
        return err_no_memory(err);
    if (r->index.entries.count == first)
        return 0;
    *has_grown = true;
    reader_forget_derived(r);
    int code = reader_take_in(r, err);
    lookup_load(r, first);
    return code;
}

enum wake_state wake_reader_state(const struct wake_reader *r)
{
    struct stat here, there;
    bool is_there = stat(r->path, &there) == 0;
    if (fstat(r->fd, &here) != 0 ||
        (is_there && (here.st_ino != there.st_ino || here.st_dev != there.st_dev)))
        return WAKE_REPLACED;
    if (r->summary.closed)
        return WAKE_CLOSED;
    return recording_is_being_written(r) ? WAKE_GROWING : WAKE_CUT;
}

void wake_reader_close(struct wake_reader *r)
{
    if (r == NULL)
        return;
    wake_reader_attach(r, NULL, NULL);
    for (size_t i = 0; i < r->shelves.count; i++)
        meta_decoder_free(r->shelves.data[i]);
    vec_release(&r->shelves);
    lookup_release(r);
    recording_close(r);
    free(r);
}

void wake_reader_rest(struct wake_reader *r)
{
    chunk_scratch_release(&r->scratch);
}

void wake_reader_attach(struct wake_reader *r, void *thing, void (*release)(void *thing))
{
    if (r->attached != NULL)
        r->release_attached(r->attached);
    r->attached = thing;
    r->release_attached = release;
}

void *wake_reader_attached(const struct wake_reader *r)
{
    return r->attached;
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

uint64_t wake_process_omitted(const struct wake_process *p)
{
    const struct wake_omissions *o = &p->omitted;
    uint64_t elsewhere = o->elsewhere_allocations, carried = p->carried.count;
    return o->culled_blocks + o->allocations + (elsewhere > carried ? elsewhere - carried : 0);
}

bool wake_reader_totals_agree(const struct wake_reader *r, size_t process)
{
    const struct wake_process *p = wake_reader_process(r, process);
    const struct wake_omissions *o = &p->omitted;
    uint64_t allocations = o->culled_blocks + o->allocations + o->elsewhere_allocations;
    uint64_t frees = o->culled_blocks + o->frees + o->elsewhere_frees;
    struct wake_span span;
    for (size_t i = 0; wake_reader_span(r, process, i, &span); i++) {
        allocations += span.allocations;
        frees += span.frees;
    }
    bool is_sampled = o->sample_rate != 0;
    bool agree = p->missing_events == 0 && p->totals.count <= p->stacks.count &&
                 allocations == (is_sampled ? o->samples : p->end.allocations) &&
                 frees == (is_sampled ? o->freed_samples : p->end.frees) &&
                 p->live.count == (is_sampled ? o->samples - o->freed_samples : p->end.leaked_blocks);
    allocations = p->end.allocations;
    frees = p->end.frees;
    for (size_t i = 0; i < p->totals.count; i++) {
        allocations -= p->totals.data[i].allocations;
        frees -= p->totals.data[i].freed;
    }
    return agree && allocations == 0 && frees == 0;
}

bool wake_process_lacks_culled(const struct wake_process *p)
{
    return p->omitted.is_culled && !p->ended;
}

bool wake_process_knows_order(const struct wake_process *p)
{
    const struct wake_omissions *o = &p->omitted;
    return o->sample_rate == 0 && o->culled_blocks == 0 && !wake_process_lacks_culled(p);
}

uint64_t wake_process_off_time(const struct wake_process *p)
{
    uint64_t since_ns = UINT64_MAX, sum_ns = 0;
    for (size_t i = 0; i < p->marks.count; i++) {
        const struct wake_mark *m = &p->marks.data[i];
        if (m->name != NULL && since_ns == UINT64_MAX && strcmp(m->name, FORMAT_MARK_OFF) == 0)
            since_ns = m->time_ns;
        if (m->name == NULL || since_ns == UINT64_MAX || strcmp(m->name, FORMAT_MARK_ON) != 0)
            continue;
        sum_ns += m->time_ns > since_ns ? m->time_ns - since_ns : 0;
        since_ns = UINT64_MAX;
    }
    return since_ns < p->end.end_ns ? sum_ns + p->end.end_ns - since_ns : sum_ns;
}

const struct wake_thread *wake_process_find_thread(const struct wake_process *p, uint32_t number)
{
    /* A process is the first member of its shelf. */
    const struct meta_decoder *shelf = (const struct meta_decoder *)p;
    const uint64_t *at = map_find(&shelf->threads, number);
    return at == NULL ? NULL : &p->threads.data[*at];
}

const struct wake_pool *wake_process_find_pool(const struct wake_process *p, uint32_t number)
{
    for (size_t i = 0; i < p->pools.count; i++) {
        if (p->pools.data[i].number == number)
            return &p->pools.data[i];
    }
    return NULL;
}

const struct wake_stack *wake_process_find_stack(const struct wake_process *p, uint32_t number)
{
    return number < p->stacks.count && p->stacks.data[number].known ? &p->stacks.data[number] : NULL;
}

void wake_reader_watch(struct wake_reader *r, wake_watch_fn *watch, void *of)
{
    r->watch = watch;
    r->watch_of = of;
    r->watched = 0;
}

size_t wake_reader_note_count(const struct wake_reader *r)
{
    return r->notes.count;
}

const char *wake_reader_note(const struct wake_reader *r, size_t i)
{
    return r->notes.data[i];
}

static void reader_spell_veiled(size_t count, char text[WAKE_VEILED_NOTE])
{
    (void)snprintf(
        text, WAKE_VEILED_NOTE,
        "%zu note%s on what this recording lacks or means %s left out, because names may be in %s.", count,
        count == 1 ? "" : "s", count == 1 ? "was" : "were", count == 1 ? "it" : "them");
}

/* One of them may be such a note, of a recording that was anonymized before: it stands for as many as its maker puts
 * into it. */
static size_t reader_count_veiled(const struct wake_reader *r)
{
    size_t count = r->notes.count;
    char text[WAKE_VEILED_NOTE];
    for (size_t n = 2; r->notes.count != 0 && n <= READER_NOTES_MAX; n++) {
        reader_spell_veiled(n, text);
        count += wake_reader_has_note(r, text) ? n - 1 : 0;
    }
    return count;
}

const char *wake_reader_veiled_note(const struct wake_reader *r, char text[WAKE_VEILED_NOTE])
{
    size_t count = reader_count_veiled(r);
    text[0] = '\0';
    if (count != 0)
        reader_spell_veiled(count, text);
    return text;
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

int reader_verify_events(struct wake_reader *r, size_t process, struct err *err)
{
    return wake_reader_visit(r, process, 0, UINT64_MAX, reader_ignore, NULL, err);
}

/* What is in the chunks of a process, or in those of the recording. */
static int reader_verify_content(struct wake_reader *r, bool is_of_process, size_t process, struct err *err)
{
    int code = 0;
    for (unsigned i = 0; i < FORMAT_TYPE_COUNT && code == 0; i++) {
        const struct chunk_type *type = chunk_type_get(i);
        if (type->verify != NULL && type->is_of_process == is_of_process)
            code = type->verify(r, process, err);
    }
    return code;
}

int wake_reader_verify(struct wake_reader *r, struct err *err)
{
    uint64_t end = r->begin;
    for (size_t i = 0; i < r->index.entries.count; i++) {
        const struct index_entry *e = &r->index.entries.data[i];
        struct payload payload;
        if (e->offset != end && r->parts.count == 0)
            recording_damage(r, end, "%llu bytes from byte %llu on belong to no chunk.",
                             (unsigned long long)(e->offset - end), (unsigned long long)end);
        if (recording_read(r, e, &payload) == ERR_MEMORY)
            return err_no_memory(err);
        end = index_entry_end(e);
    }
    for (size_t i = 0; i < r->shelves.count; i++) {
        int code = reader_verify_content(r, true, i, err);
        if (code != 0)
            return code;
    }
    return reader_verify_content(r, false, 0, err);
}
