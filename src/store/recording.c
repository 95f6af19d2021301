/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recording: opens the file, reads single chunks and keeps the list of damages.
 *
 * A chunk is taken only when its header is sound, says what the index said,
 * and its payload has the checksum in the header.
 */
#include "store/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "store/format.h"
#include "tool/file.h"
#include "tool/memory.h"

#define RECORDING_BUDGET_BASE (UINT64_C(1) << 30)
enum {
    RECORDING_BUDGET_FACTOR = 64 /* bytes of memory for a byte of file, beyond the base */
};

static void recording_note_damage(struct wake_reader *r, uint64_t offset, const char *format, va_list args)
{
    char text[256];
    r->summary.complete = false;
    for (size_t i = 0; i < r->damages.count; i++)
        if (r->damages.data[i].offset == offset)
            return;
    if (r->damages.count >= RECORDING_DAMAGES_MAX)
        return;
    int length = vsnprintf(text, sizeof text, format, args);
    /* Then it was perhaps not the file that made no sense. */
    if (memory_has_failed())
        length = snprintf(text, sizeof text, "Out of memory while reading what is at byte %llu.",
                          (unsigned long long)offset);
    if (r->damages.count == RECORDING_DAMAGES_MAX - 1)
        length = snprintf(text, sizeof text, "More is damaged from here on than is listed.");
    size_t kept = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    char *copy = arena_push_text(&r->arena, text, kept);
    (void)vec_push(&r->damages, ((struct wake_damage){
                                    .offset = offset,
                                    .text = copy != NULL ? copy : "A part is damaged.",
                                }));
}

void recording_damage(struct wake_reader *r, uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&r->noting);
    recording_note_damage(r, offset, format, args);
    pthread_mutex_unlock(&r->noting);
    va_end(args);
}

static bool recording_reserve(uint8_t **bytes, size_t *capacity, size_t need)
{
    if (need <= *capacity)
        return true;
    free(*bytes);
    *bytes = memory_new(need);
    *capacity = *bytes == NULL ? 0 : need;
    return *bytes != NULL;
}

uint8_t *recording_reserve_raw(struct wake_reader *r, size_t need)
{
    struct chunk_scratch *s = &r->scratch;
    return recording_reserve(&s->raw, &s->raw_capacity, need) ? s->raw : NULL;
}

void chunk_scratch_release(struct chunk_scratch *s)
{
    codec_release(&s->codec);
    free(s->stored);
    free(s->raw);
    s->stored = s->raw = NULL;
    s->stored_capacity = s->raw_capacity = 0;
}

bool recording_read_header(struct wake_reader *r, uint64_t offset, struct chunk_header *header)
{
    uint8_t bytes[FORMAT_CHUNK_HEADER_SIZE];
    size_t got;
    struct chunk_header h;
    if (file_read_at(r->fd, bytes, sizeof bytes, offset, &got) != 0 || got < sizeof bytes ||
        !chunk_header_decode(bytes, &h))
        return false;
    *header = h;
    return true;
}

void recording_watch(struct wake_reader *r, size_t bytes)
{
    pthread_mutex_lock(&r->noting);
    r->watched += bytes;
    if (r->watch != NULL)
        r->watch(r->watch_of, r->watched);
    pthread_mutex_unlock(&r->noting);
}

static __attribute__((format(printf, 3, 4))) int
recording_fault(struct chunk_fault *fault, const struct index_entry *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    fault->offset = e->offset;
    return ERR_INPUT;
}

int recording_load(const struct wake_reader *r, struct chunk_scratch *scratch, const struct index_entry *e,
                   struct payload *payload, struct chunk_fault *fault)
{
    const char *name = chunk_type_get(e->type)->name;
    unsigned long long offset = e->offset;
    size_t need = FORMAT_CHUNK_HEADER_SIZE + (size_t)e->stored, got;
    fault->text[0] = '\0';
    if (!recording_reserve(&scratch->stored, &scratch->stored_capacity, need))
        return ERR_MEMORY;
    int error = file_read_at(recording_fd(r, e), scratch->stored, need, e->offset, &got);
    if (error != 0 || got < need)
        return recording_fault(fault, e, "The %s chunk at byte %llu cannot be read: %s.", name, offset,
                               error != 0 ? strerror(-error) : "the file ends there");
    struct chunk_header *h = &payload->header;
    const uint8_t *bytes = scratch->stored + FORMAT_CHUNK_HEADER_SIZE;
    if (!chunk_header_decode(scratch->stored, h) || h->type != e->type || h->process != e->process ||
        h->stored != e->stored || codec_sum(bytes, h->stored) != h->sum)
        return recording_fault(fault, e, "The %s chunk at byte %llu (%u bytes) is damaged and is left out.",
                               name, offset, e->stored);
    payload->bytes = bytes;
    payload->length = h->stored;
    if (h->type == FORMAT_EVENTS || h->flags == FORMAT_PLAIN)
        return 0;
    /* One more: even nothing has an address. */
    if (!recording_reserve(&scratch->raw, &scratch->raw_capacity, (size_t)h->raw + 1))
        return ERR_MEMORY;
    if (!codec_unpack(&scratch->codec, scratch->raw, h->raw, bytes, h->stored, h->flags))
        return recording_fault(fault, e, "The %s chunk at byte %llu cannot be unpacked and is left out.",
                               name, offset);
    payload->bytes = scratch->raw;
    payload->length = h->raw;
    return 0;
}

int recording_read(struct wake_reader *r, const struct index_entry *e, struct payload *payload)
{
    struct chunk_fault fault;
    int code = recording_load(r, &r->scratch, e, payload, &fault);
    if (code != ERR_MEMORY)
        recording_watch(r, FORMAT_CHUNK_HEADER_SIZE + (size_t)e->stored);
    if (code == ERR_INPUT)
        recording_damage(r, fault.offset, "%s", fault.text);
    return code;
}

bool recording_is_being_written(const struct wake_reader *r)
{
    if (flock(r->fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    (void)flock(r->fd, LOCK_UN);
    return false;
}

int recording_read_levels(struct wake_reader *r, size_t process, struct payload *payload)
{
    size_t at = process < r->shelves.count ? r->shelves.data[process]->levels : 0;
    return at == 0 ? ERR_ABSENT : recording_read(r, &r->index.entries.data[at - 1], payload);
}

void recording_damage_levels(struct wake_reader *r, size_t process)
{
    uint64_t offset = r->index.entries.data[r->shelves.data[process]->levels - 1].offset;
    recording_damage(r, offset, "The levels chunk at byte %llu makes no sense and is left out.",
                     (unsigned long long)offset);
}

/* Is the file, whose header is not sound, a recording nevertheless? */
static bool recording_smells_right(struct wake_reader *r)
{
    struct chunk_header h;
    return recording_read_header(r, FORMAT_HEADER_SIZE, &h);
}

static int recording_check_header(struct wake_reader *r, struct err *err)
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
        r->summary.series = h.series;
        r->summary.part = r->summary.last_part = h.part;
        return 0;
    }
    if (state == FILE_HEADER_ALIEN && !recording_smells_right(r))
        return err_set(err, ERR_INPUT, "%s is not a heapwake recording.", r->path);
    recording_damage(r, 0, "The header of the file is damaged.");
    r->summary.major = FORMAT_MAJOR;
    return 0;
}

int recording_open(struct wake_reader *r, const char *path, struct err *err)
{
    r->fd = -1;
    pthread_mutex_init(&r->noting, NULL);
    r->path = memory_copy_text(path);
    int code = r->path == NULL ? err_no_memory(err) : file_open(&r->fd, &r->size, path, err);
    if (code != 0)
        return code;
    r->summary.file_size = r->size;
    r->summary.complete = true;
    r->budget = RECORDING_BUDGET_BASE;
    if (r->size < UINT64_MAX / 2 / RECORDING_BUDGET_FACTOR)
        r->budget += r->size * RECORDING_BUDGET_FACTOR;
    code = recording_check_header(r, err);
    if (code == 0 && salvage_index(r) != 0)
        code = err_no_memory(err);
    return code;
}

void recording_close(struct wake_reader *r)
{
    file_close(r->fd);
    for (size_t i = 0; i < r->parts.count; i++)
        file_close(r->parts.data[i]);
    vec_release(&r->parts);
    vec_release(&r->damages);
    vec_release(&r->notes);
    index_release(&r->index);
    chunk_scratch_release(&r->scratch);
    pthread_mutex_destroy(&r->noting);
    arena_release(&r->arena);
    free(r->path);
}
