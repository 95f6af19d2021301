/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * annex: see annex.h.
 *
 *     before            | chunks | index | end |
 *     after             | chunks | index | end | binaries, notes | symbols | index | end |
 *     once more         | chunks | index | end | binaries, notes |*symbols | index | end |
 *                                                     keep ------^
 *
 * Invariants
 *  1. Bytes before `keep` are never written.
 *  2. Bytes from `keep` on are in `old` before the first is changed.
 *  3. The new index lists every chunk before it, older indexes and ends too.
 *  4. The new end says of the recorder what the old one said.
 */
#include "store/annex.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/chunk_sink.h"
#include "store/piece.h"
#include "store/recording.h"
#include "store/symbols.h"
#include "store/tail.h"
#include "tool/memory.h"

enum {
    ANNEX_GATHER = 1 << 20, /* pending bytes that are worth a write */
    ANNEX_OLD_MAX =
        64 << 20 /* bytes of older names that are replaced; beyond, they stay, and newer ones win */
};

struct wake_annex {
    struct wake_reader file; /* as it was found; its index grows */
    struct chunk_sink sink;
    uint64_t keep;
    struct strbuf old; /* what stood from there on */
    bool has_begun;    /* the file is no longer as it was */
    bool is_closing;   /* an index and an end are written */
    int error;         /* errno, 0 = none */
};

/* -------------------------------------------------------------- opening */

/* Enters the index and the end of a closed file, which no index lists. */
static int annex_note_end(struct wake_annex *a)
{
    struct wake_reader *r = &a->file;
    uint64_t offset = r->chunks_end;
    while (offset < r->size) {
        struct chunk_header h;
        if (!recording_read_header(r, offset, &h))
            return ERR_INPUT;
        struct index_entry e = {.offset = offset, .type = h.type, .process = h.process, .stored = h.stored};
        if (!vec_push(&r->index.entries, e))
            return ERR_MEMORY;
        offset = index_entry_end(&e);
    }
    return 0;
}

/* Finds what stays: everything up to the recorder's own end, and binaries. */
static int annex_find_keep(struct wake_annex *a)
{
    struct wake_reader *r = &a->file;
    struct index *index = &r->index;
    size_t own = 0; /* entries of the recorder */
    while (own < index->entries.count && index->entries.data[own].type != FORMAT_END)
        own++;
    a->keep = r->chunks_end;
    if (own == index->entries.count && r->summary.closed && !r->is_scanned) {
        a->keep = r->size;
        return annex_note_end(a);
    }
    own = own == index->entries.count ? 0 : own + 1;
    while (index->entries.count > own) {
        const struct index_entry *last = &index->entries.data[index->entries.count - 1];
        if (!chunk_type_get(last->type)->is_replaced || index_entry_end(last) != a->keep ||
            r->size - last->offset > ANNEX_OLD_MAX)
            break;
        a->keep = last->offset;
        index->entries.count--;
    }
    return 0;
}

/* May the file have a new end?  Not if that would hide that it was never closed, or damaged. */
static bool annex_may_close(const struct wake_reader *r)
{
    if (!r->summary.closed)
        return false;
    for (size_t i = 0; r->is_scanned && i < r->damages.count; i++) {
        if (r->damages.data[i].offset < r->chunks_end)
            return false;
    }
    return true;
}

static int annex_remember(struct wake_annex *a, struct err *err)
{
    size_t got;
    if (a->file.size - a->keep > ANNEX_OLD_MAX + FORMAT_PAYLOAD_MAX + FORMAT_CHUNK_HEADER_SIZE)
        return err_set(err, ERR_INPUT, "%s cannot be added to: much of it is damaged.", a->file.path);
    size_t length = (size_t)(a->file.size - a->keep);
    char *to = strbuf_reserve(&a->old, length + 1);
    if (to == NULL)
        return err_no_memory(err);
    int error = file_read_at(a->sink.file.fd, to, length, a->keep, &got);
    if (error != 0 || got != length)
        return err_set(err, ERR_IO, "%s cannot be read: %s.", a->file.path,
                       error != 0 ? strerror(-error) : "it has become shorter");
    strbuf_grown(&a->old, length);
    return 0;
}

/* Opens for writing and locks, before anything is looked at. */
static int annex_open_file(struct wake_annex *a, const char *path, struct err *err)
{
    int fd;
    uint64_t size;
    /* Says what is wrong with a name that is no file. */
    int code = file_open(&fd, &size, path, err);
    if (code != 0)
        return code;
    file_close(fd);
    a->sink.file.path = memory_copy_text(path);
    a->sink.file.fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (a->sink.file.fd < 0)
        return err_set(err, file_code(errno), "%s cannot be written to: %s.", path, strerror(errno));
    if (a->sink.file.path == NULL)
        return err_no_memory(err);
    /* File systems without locks are as good as ever. */
    if (flock(a->sink.file.fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return err_set(err, ERR_IO, "%s is being written by another process.", path);
    return 0;
}

static bool annex_is_same(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void annex_free(struct wake_annex *a)
{
    recording_close(&a->file);
    strbuf_release(&a->old);
    (void)chunk_sink_close(&a->sink, NULL);
    free(a);
}

int wake_annex_open(struct wake_annex **out, const char *path, struct err *err)
{
    struct wake_annex *a = memory_new_zeroed(1, sizeof *a);
    *out = NULL;
    if (a == NULL)
        return err_no_memory(err);
    a->file.fd = a->sink.file.fd = -1;
    int code = annex_open_file(a, path, err);
    if (code == 0)
        code = recording_open(&a->file, path, err);
    if (code == 0 && !annex_is_same(a->file.fd, a->sink.file.fd))
        code = err_set(err, ERR_IO, "%s is being replaced by another process.", path);
    if (code == 0 && annex_find_keep(a) != 0)
        code = err_set(err, ERR_INPUT, "%s cannot be added to: its end is damaged.", path);
    if (code == 0)
        code = annex_remember(a, err);
    if (code != 0) {
        annex_free(a);
        return code;
    }
    a->is_closing = annex_may_close(&a->file);
    a->sink.written = a->keep;
    *out = a;
    return 0;
}

/* --------------------------------------------------------------- adding */

/* Makes the file end at `keep`, to be written on from there. */
static int annex_cut(struct wake_annex *a)
{
    int fd = a->sink.file.fd;
    return ftruncate(fd, (off_t)a->keep) == 0 && lseek(fd, (off_t)a->keep, SEEK_SET) >= 0 ? 0 : errno;
}

/* Writes what has gathered, once there are that many bytes. */
static void annex_flush(struct wake_annex *a, size_t enough)
{
    if (a->error == 0 && a->sink.pending.failed)
        a->error = ENOMEM;
    if (a->error != 0 || a->sink.pending.length < enough)
        return;
    if (!a->has_begun) {
        a->has_begun = true;
        a->error = annex_cut(a);
    }
    if (a->error == 0 && !chunk_sink_flush(&a->sink))
        a->error = a->sink.error;
}

/* Takes away what was added since the file had that size and so many chunks. */
static void annex_undo(struct wake_annex *a, uint64_t size, size_t chunks)
{
    a->file.index.entries.count = chunks;
    if (size >= a->sink.written) {
        strbuf_cut(&a->sink.pending, (size_t)(size - a->sink.written));
        return;
    }
    chunk_sink_cut(&a->sink, size);
    a->error = a->sink.error;
}

void wake_annex_add_piece(struct wake_annex *a, const void *bytes, size_t length, uint32_t raw)
{
    if (a->error == 0 && !tail_add_stored(&a->sink.pending, &a->file.index, chunk_sink_size(&a->sink),
                                          FORMAT_BINARY, FORMAT_NO_PROCESS, bytes, length, raw))
        a->error = ENOMEM;
    annex_flush(a, ANNEX_GATHER);
}

/* One piece of a binary: 0, or an errno of the binary's file. */
static int annex_add_piece(struct wake_annex *a, int fd, struct piece *piece, uint8_t *bytes)
{
    struct strbuf payload;
    size_t got;
    uint32_t raw;
    int error = file_read_at(fd, bytes, piece->length, piece->offset, &got);
    if (error != 0 || got != piece->length)
        return error != 0 ? -error : ESTALE;
    strbuf_init(&payload);
    if (piece_encode(&payload, &a->file.scratch.codec, piece, bytes, &raw))
        wake_annex_add_piece(a, payload.text, payload.length, raw);
    else
        a->error = ENOMEM;
    strbuf_release(&payload);
    return 0;
}

int wake_annex_add_binary(struct wake_annex *a, const struct name_image *image, int fd, struct err *err)
{
    struct stat st;
    struct piece piece = {.build_id = image->build_id,
                          .build_id_length = image->build_id_length,
                          .path = image->path,
                          .path_length = strlen(image->path)};
    if (a->error != 0)
        return 0;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || piece.build_id_length > PIECE_ID_MAX ||
        piece.path_length > PIECE_PATH_MAX)
        return err_set(err, ERR_INPUT, "%s is no file that can be put into a recording.", image->path);
    uint8_t *bytes = memory_new(PIECE_MAX);
    uint64_t size = chunk_sink_size(&a->sink);
    size_t chunks = a->file.index.entries.count;
    int error = 0;
    if (bytes == NULL)
        a->error = ENOMEM;
    piece.total = (uint64_t)st.st_size;
    do {
        uint64_t left = piece.total - piece.offset;
        piece.length = left < PIECE_MAX ? (uint32_t)left : PIECE_MAX;
        if (a->error == 0)
            error = annex_add_piece(a, fd, &piece, bytes);
        piece.offset += piece.length;
    } while (a->error == 0 && error == 0 && piece.offset < piece.total);
    free(bytes);
    if (error == 0)
        return 0;
    annex_undo(a, size, chunks);
    return err_set(err, ERR_IO, "%s cannot be read: %s.", image->path,
                   error == ESTALE ? "it has become shorter" : strerror(error));
}

static void annex_add_chunk(struct wake_annex *a, unsigned type, const struct strbuf *payload)
{
    if (!tail_add_chunk(&a->sink.pending, &a->file.scratch.codec, &a->file.index, chunk_sink_size(&a->sink),
                        type, FORMAT_NO_PROCESS, payload->text, payload->length))
        a->error = ENOMEM;
    annex_flush(a, ANNEX_GATHER);
}

void wake_annex_add_note(struct wake_annex *a, const char *text)
{
    struct strbuf payload;
    if (a->error != 0)
        return;
    strbuf_init(&payload);
    strbuf_add_varint(&payload, strlen(text));
    strbuf_add_text(&payload, text);
    if (payload.failed)
        a->error = ENOMEM;
    else
        annex_add_chunk(a, FORMAT_NOTES, &payload);
    strbuf_release(&payload);
}

static int annex_put_symbols(void *of, const struct strbuf *payload)
{
    struct wake_annex *a = of;
    annex_add_chunk(a, FORMAT_SYMBOLS, payload);
    return a->error == 0 ? 0 : ERR_IO;
}

void wake_annex_add_names(struct wake_annex *a, const struct names *n)
{
    if (a->error == 0 && symbols_encode(n, annex_put_symbols, a) == ERR_MEMORY)
        a->error = ENOMEM;
}

/* -------------------------------------------------------------- closing */

/* The file as it was; false: it lacks what was added to it earlier. */
static bool annex_restore(struct wake_annex *a)
{
    return !a->has_begun || (annex_cut(a) == 0 &&
                             file_write_all(a->sink.file.fd, strbuf_get(&a->old), a->old.length, NULL) == 0);
}

static void annex_finish(struct wake_annex *a)
{
    const struct wake_summary *s = &a->file.summary;
    const struct tail_end end = {.write_error = (uint32_t)s->write_error,
                                 .not_kept = s->not_kept,
                                 .cpu_ns = s->collector_cpu_ns,
                                 .wall_ns = s->end_wall_ns,
                                 .unrecorded = s->unrecorded};
    if (a->error == 0 && a->is_closing &&
        !tail_add_end(&a->sink.pending, &a->file.scratch.codec, &a->file.index, chunk_sink_size(&a->sink),
                      &end))
        a->error = ENOMEM;
    annex_flush(a, 1);
}

int wake_annex_close(struct wake_annex *a, struct err *err)
{
    int code = 0;
    bool is_changed = chunk_sink_size(&a->sink) != a->keep || a->old.length > 0;
    if (is_changed)
        annex_finish(a);
    if (a->error != 0) {
        bool is_restored = annex_restore(a);
        code = err_set(err, file_code(a->error), "Nothing could be added to %s: %s; %s.", a->file.path,
                       strerror(a->error),
                       is_restored ? "it is as it was" : "what was added to it earlier is lost");
    }
    annex_free(a);
    return code;
}
