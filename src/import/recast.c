/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recast: see recast.h.
 *
 *     blocks    number -> address, size, stack, while they are live
 *     totals    per stack, with the exact peak (collect/totals.h)
 *     names     places that the source has named, added behind the end (store/annex.h)
 *
 * Made-up addresses rise, a block behind the other, from RECAST_ADDRESS on.
 */
#include "import/recast.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "collect/totals.h"
#include "store/annex.h"
#include "store/codec.h"
#include "store/meta.h"
#include "store/numbered.h"
#include "store/stream.h"
#include "tool/map.h"
#include "tool/memory.h"
#include "tool/vec.h"
#include "wire/record.h"

#define RECAST_ADDRESS UINT64_C(0x10000)
#define RECAST_BYTES_MAX (UINT64_C(1) << 60)  /* allocated, in all: more is no heap */
#define RECAST_OTHER_NAME (UINT64_C(1) << 52) /* step between made-up places of one address */

enum {
    RECAST_FRAMES_MAX = 1 << 28, /* of all stacks together */
    RECAST_NAMES_MAX = 1024,     /* names of one address */
    RECAST_NOTES_MAX = 64,
    RECAST_STEP_MAX = 1 << 30, /* between made-up addresses, for blocks as large or larger */
};

struct recast_block {
    uint64_t address, size;
    uint32_t stack;
    uint32_t thread; /* that made it */
};

struct recast_module {
    uint64_t bias;
    uint32_t image;
};

struct recast {
    struct wake_writer *writer;
    struct wake_stream *stream;
    char *path;
    uint32_t process, pid;
    bool has_begun, is_made_up, misses_clock;
    struct err trouble;
    struct names *names;
    struct map modules;             /* hash of path and bias -> number */
    VEC(struct recast_module) code; /* by number - 1 */
    uint32_t fileless;              /* image of code in no module; 0 = not asked for yet */
    struct map stacks;              /* hash of the frames -> number */
    uint64_t frames;                /* of all stacks */
    VEC(struct name_frame) spare;   /* scratch: names of a place */
    struct map threads;             /* tid -> number */
    VEC(uint64_t) latest;           /* by thread: number + 1 of its latest allocation */
    struct numbered blocks;
    struct totals totals;
    VEC(char *) notes;
    uint64_t now_ns;
    uint32_t from;   /* the stack of the next release */
    uint32_t thread; /* of the next event; 0 = none has been named */
    uint64_t events, next_address;
    uint64_t unknown_frees, implied_frees, peak_rss;
};

static void recast_fail(struct recast *r, int code, const char *sentence)
{
    if (r->trouble.code == 0)
        err_set(&r->trouble, code, "%s", sentence);
}

/* Can nothing more be told? */
static bool recast_is_bad(struct recast *r)
{
    if (r->trouble.code == 0 && r->writer != NULL && wake_writer_has_failed(r->writer))
        recast_fail(r, ERR_IO, ""); /* closing tells */
    return r->trouble.code != 0;
}

static void recast_no_memory(struct recast *r)
{
    recast_fail(r, ERR_MEMORY, ERR_NO_MEMORY);
}

/* -------------------------------------------------------------------- beginning */

static bool recast_init(struct recast *r)
{
    map_init(&r->modules);
    map_init(&r->stacks);
    map_init(&r->threads);
    numbered_init(&r->blocks);
    r->next_address = RECAST_ADDRESS;
    r->names = names_new();
    return totals_init(&r->totals, 0) && r->names != NULL;
}

static void recast_free_all(struct recast *r)
{
    names_free(r->names);
    map_release(&r->modules);
    map_release(&r->stacks);
    map_release(&r->threads);
    vec_release(&r->code);
    vec_release(&r->spare);
    vec_release(&r->latest);
    numbered_release(&r->blocks);
    totals_release(&r->totals);
    for (size_t i = 0; i < r->notes.count; i++)
        free(r->notes.data[i]);
    vec_release(&r->notes);
    free(r->path);
    free(r);
}

int recast_open(struct recast **out, const char *path, uint64_t wall_ns, struct err *err)
{
    struct recast *r = memory_new_zeroed(1, sizeof *r);
    *out = NULL;
    if (r == NULL)
        return err_no_memory(err);
    r->path = memory_copy_text(path);
    int code = recast_init(r) && r->path != NULL ? wake_writer_open_at(&r->writer, path, wall_ns, err)
                                                 : err_no_memory(err);
    if (code == 0)
        *out = r;
    else
        recast_free_all(r);
    return code;
}

void recast_begin(struct recast *r, uint32_t pid, const char *exe, size_t exe_length, const char *command,
                  size_t command_length)
{
    struct strbuf name, args;
    if (r->has_begun)
        return;
    strbuf_init(&name);
    strbuf_init(&args);
    strbuf_add(&name, exe, exe_length);
    for (size_t i = 0; i < command_length; i++) {
        bool is_gap = command[i] == ' ' || command[i] == '\0';
        if (!is_gap)
            strbuf_add_char(&args, command[i]);
        if ((is_gap || i + 1 == command_length) && args.length > 0 && args.text[args.length - 1] != '\0')
            strbuf_add_char(&args, '\0');
    }
    if (exe_length == 0 && args.length > 0)
        strbuf_add_text(&name, args.text);
    if (name.failed || args.failed)
        recast_no_memory(r);
    r->has_begun = true;
    r->process = wake_writer_add_process(r->writer, &(struct wake_process_info){
                                                        .pid = pid,
                                                        .exe = strbuf_get(&name),
                                                        .args = strbuf_get(&args),
                                                        .args_length = args.length,
                                                    });
    r->stream = wake_writer_stream(r->writer, r->process);
    if (r->stream == NULL)
        recast_no_memory(r);
    strbuf_release(&name);
    strbuf_release(&args);
    r->pid = pid;
}

bool recast_has_begun(const struct recast *r)
{
    return r->has_begun;
}

void recast_note(struct recast *r, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (size_t i = 0; i < r->notes.count; i++) {
        if (strcmp(r->notes.data[i], text) == 0)
            return;
    }
    if (r->notes.count == RECAST_NOTES_MAX)
        return;
    char *copy = memory_copy_text(text);
    if (copy == NULL || !vec_push(&r->notes, copy)) {
        free(copy);
        recast_no_memory(r);
    }
}

size_t recast_note_count(const struct recast *r)
{
    return r->notes.count;
}

const char *recast_get_note(const struct recast *r, size_t i)
{
    return r->notes.data[i];
}

/* -------------------------------------------------------------- code and stacks */

uint32_t recast_module(struct recast *r, const struct wake_module_info *info)
{
    uint64_t key = hash_join(codec_sum(info->path, info->path_length), info->bias);
    if (info->build_id_length > 0)
        key = hash_join(key, codec_sum(info->build_id, info->build_id_length));
    const uint64_t *known = map_find(&r->modules, key);
    if (known != NULL)
        return (uint32_t)*known;
    if (recast_is_bad(r))
        return 0;
    /* As the store would cut it, so that the image is the one that readers find. */
    char *path =
        memory_copy_part(info->path, info->path_length < META_TEXT_MAX ? info->path_length : META_TEXT_MAX);
    uint32_t image = path == NULL ? 0 : names_image(r->names, info->build_id, info->build_id_length, path);
    struct wake_module_info module = *info;
    module.path = path == NULL ? "" : path;
    module.path_length = strlen(module.path);
    uint32_t number = wake_writer_add_module(r->writer, r->process, &module);
    free(path);
    if (image == 0 || number != r->code.count + 1 ||
        !vec_push(&r->code, ((struct recast_module){info->bias, image})) ||
        !map_set(&r->modules, key, number))
        recast_no_memory(r);
    return number;
}

uint32_t recast_module_at(struct recast *r, const char *path, size_t length)
{
    return recast_module(r, &(struct wake_module_info){.path = path, .path_length = length});
}

static uint32_t recast_image(struct recast *r, uint32_t module)
{
    if (module != 0)
        return r->code.data[module - 1].image;
    if (r->fileless == 0)
        r->fileless = names_image(r->names, NULL, 0, "[process 0]");
    return r->fileless;
}

/* Is the place called as r->spare has it?  Texts are kept once, so pointers tell. */
static bool recast_is_called(const struct recast *r, const struct name_place *p)
{
    if (p->count != r->spare.count)
        return false;
    for (size_t i = 0; i < p->count; i++) {
        const struct name_frame *a = &p->frames[i], *b = &r->spare.data[i];
        if (a->function != b->function || a->file != b->file || a->line != b->line)
            return false;
    }
    return true;
}

static bool recast_take_names(struct recast *r, const struct recast_name *names, size_t count)
{
    r->spare.count = 0;
    for (size_t i = 0; i < count; i++) {
        struct name_frame f = {
            .function = names_text(r->names, names[i].function.bytes, names[i].function.length),
            .linkage = "",
            .file = names_text(r->names, names[i].file.bytes, names[i].file.length),
            .line = names[i].line,
            .inlined = i + 1 < count,
        };
        if (f.function == NULL || f.file == NULL || !vec_push(&r->spare, f))
            return false;
    }
    return true;
}

/* An image whose names come from the source: with lines, as soon as one of them has a line. */
static bool recast_raise_source(struct recast *r, uint32_t image)
{
    enum name_source source = NAME_SOURCE_SYMBOLS;
    for (size_t i = 0; i < r->spare.count; i++) {
        if (r->spare.data[i].line != 0)
            source = NAME_SOURCE_LINES;
    }
    return names_get_image(r->names, image)->source >= source ||
           names_set_source(r->names, image, source, "Named by the file that was imported.");
}

struct wake_frame recast_frame(struct recast *r, uint32_t module, uint64_t address,
                               const struct recast_name *names, size_t count)
{
    struct wake_frame frame = {.address = address & ~RECORD_FRAME_EXACT, .module = module};
    if (recast_is_bad(r) || count == 0)
        return frame;
    if (count > NAMES_FRAMES_MAX) {
        names += count - NAMES_FRAMES_MAX;
        count = NAMES_FRAMES_MAX;
    }
    uint32_t image = recast_image(r, module);
    if (image == 0 || !recast_take_names(r, names, count)) {
        recast_no_memory(r);
        return frame;
    }
    uint64_t bias = module == 0 ? 0 : r->code.data[module - 1].bias;
    for (unsigned i = 0; i < RECAST_NAMES_MAX; i++) {
        uint64_t place = frame.address - bias;
        const struct name_place *p = names_find(r->names, image, place, false);
        if (p != NULL && recast_is_called(r, p))
            return frame;
        if (p == NULL) {
            if (!names_add_kept(r->names, image, place, false, r->spare.data, (uint32_t)count) ||
                !recast_raise_source(r, image))
                recast_no_memory(r);
            return frame;
        }
        frame.address = (frame.address + RECAST_OTHER_NAME) & ~RECORD_FRAME_EXACT;
    }
    recast_fail(r, ERR_LIMIT, "One address has more names than can be kept.");
    return frame;
}

uint32_t recast_stack(struct recast *r, const struct wake_frame *frames, size_t count)
{
    if (recast_is_bad(r) || count == 0)
        return 0;
    uint64_t key = count;
    for (size_t i = 0; i < count; i++)
        key = hash_join(hash_join(key, frames[i].address), frames[i].module);
    const uint64_t *known = map_find(&r->stacks, key);
    if (known != NULL)
        return (uint32_t)*known;
    r->frames += count;
    if (r->frames > RECAST_FRAMES_MAX || count > UINT32_MAX) {
        recast_fail(r, ERR_LIMIT, "The stacks have more than 268 million frames together.");
        return 0;
    }
    uint32_t number = wake_writer_add_stack(r->writer, r->process, frames, (uint32_t)count, 0, CUT_NOT);
    if (!totals_reserve(&r->totals, number) || !map_set(&r->stacks, key, number))
        recast_no_memory(r);
    return number;
}

/* ----------------------------------------------------------------------- events */

uint32_t recast_thread(struct recast *r, uint32_t tid, const char *name, size_t length)
{
    const uint64_t *known = map_find(&r->threads, tid);
    if (known != NULL)
        return (uint32_t)*known;
    if (recast_is_bad(r))
        return 0;
    uint32_t number = (uint32_t)map_count(&r->threads) + 1;
    wake_writer_add_thread(r->writer, r->process, number, tid, r->now_ns);
    if (length > 0)
        wake_writer_name_thread(r->writer, r->process, number, name, length, r->now_ns);
    while (r->latest.count <= number) {
        if (!vec_push(&r->latest, 0)) {
            recast_no_memory(r);
            return 0;
        }
    }
    if (!map_set(&r->threads, tid, number))
        recast_no_memory(r);
    return number;
}

void recast_clock(struct recast *r, uint64_t time_ns)
{
    if (time_ns > r->now_ns)
        r->now_ns = time_ns;
}

uint64_t recast_now(const struct recast *r)
{
    return r->now_ns;
}

void recast_use_thread(struct recast *r, uint32_t thread)
{
    r->thread = thread;
}

/* Can no event be told?  The first one needs a thread. */
static bool recast_is_mute(struct recast *r)
{
    if (!recast_is_bad(r) && r->thread == 0)
        r->thread = recast_thread(r, r->pid, NULL, 0);
    return recast_is_bad(r);
}

/* A free address: the made-up ones lie one behind the other. */
static uint64_t recast_make_address(struct recast *r, uint64_t size)
{
    uint64_t address = r->next_address;
    uint64_t step = size < RECAST_STEP_MAX ? (size + 31) & ~UINT64_C(15) : RECAST_STEP_MAX;
    r->next_address += step;
    return address;
}

uint64_t recast_alloc(struct recast *r, unsigned kind, uint32_t stack, uint64_t address, uint64_t size,
                      uint64_t previous)
{
    if (recast_is_mute(r))
        return 0;
    if (size > RECAST_BYTES_MAX || r->totals.allocated_bytes + size > RECAST_BYTES_MAX) {
        recast_fail(r, ERR_LIMIT, "More than 2^60 bytes are said to have been allocated, which no heap has.");
        return 0;
    }
    if (address == 0)
        address = recast_make_address(r, size);
    uint64_t number = r->totals.allocations;
    struct recast_block *b = numbered_add(&r->blocks, number, sizeof *b);
    if (b == NULL) {
        recast_no_memory(r);
        return 0;
    }
    *b = (struct recast_block){address, size, stack, r->thread};
    r->latest.data[r->thread] = number + 1;
    /* The usable size is nobody's business here: the size itself. */
    wake_stream_alloc(r->stream, r->now_ns, r->thread, kind, stack, address, size, size, previous);
    totals_alloc(&r->totals, stack, 1, size, r->now_ns, r->events++);
    return number;
}

void recast_from(struct recast *r, uint32_t stack)
{
    r->from = stack;
}

void recast_free(struct recast *r, unsigned how, uint64_t allocation)
{
    uint32_t from = r->from;
    r->from = 0;
    if (recast_is_mute(r))
        return;
    const struct recast_block *b = numbered_take(&r->blocks, allocation, sizeof *b);
    if (b == NULL)
        return;
    wake_stream_free_from(r->stream, r->now_ns, r->thread, how, from, allocation, b->size);
    totals_free(&r->totals, b->stack, 1, b->size, r->now_ns, r->latest.data[r->thread] == allocation + 1);
    r->events++;
}

void recast_free_unknown(struct recast *r, unsigned how, uint64_t address)
{
    uint32_t from = r->from;
    r->from = 0;
    if (recast_is_mute(r))
        return;
    wake_stream_free_unknown(r->stream, r->now_ns, r->thread, how, from, address);
    r->unknown_frees++;
    r->events++;
}

void recast_free_implied(struct recast *r, uint64_t allocation)
{
    recast_free(r, HOW_FREE, allocation);
    r->implied_frees++;
}

void recast_rss(struct recast *r, uint64_t bytes)
{
    if (recast_is_bad(r))
        return;
    wake_writer_sample_rss(r->writer, r->process, r->now_ns, bytes);
    if (bytes > r->peak_rss)
        r->peak_rss = bytes;
}

void recast_mark(struct recast *r, const char *name, size_t length)
{
    if (recast_is_mute(r))
        return;
    if (r->events != 0 && r->stream->last_ns >= r->now_ns)
        r->now_ns++; /* it shares its time with nothing before or behind it: windows between marks add up exactly */
    wake_stream_mark(r->stream, r->now_ns++, r->thread, name, length);
    r->events++;
}

void recast_make_up(struct recast *r)
{
    r->is_made_up = true;
}

void recast_miss_clock(struct recast *r)
{
    r->misses_clock = true;
}

uint64_t recast_live_bytes(const struct recast *r)
{
    return r->totals.live_bytes;
}

/* -------------------------------------------------------------------------- end */

int recast_check(const struct recast *r, struct err *err)
{
    return r->trouble.code == 0 ? 0 : err_set(err, r->trouble.code, "%s", r->trouble.text);
}

static struct wake_live_block *recast_list_live(const struct recast *r)
{
    struct numbered_walk at = {0};
    const struct recast_block *b;
    uint64_t number;
    size_t count = 0;
    struct wake_live_block *live = memory_new_zeroed(numbered_count(&r->blocks) + 1, sizeof *live);
    while (live != NULL && (b = numbered_next(&r->blocks, &at, &number, sizeof *b)) != NULL)
        live[count++] = (struct wake_live_block){number, b->address, b->size, b->stack};
    return live;
}

void recast_end(struct recast *r)
{
    if (!r->has_begun || recast_is_bad(r))
        return;
    const struct totals *t = &r->totals;
    struct wake_stack_totals *rows = totals_copy(&r->totals);
    struct wake_live_block *live = recast_list_live(r);
    if (rows == NULL || live == NULL) {
        recast_no_memory(r);
    } else {
        const struct wake_process_end end = {
            .end_ns = r->now_ns,
            .wait_status = -1,
            .complete = true,
            .made_up = r->is_made_up,
            .no_clock = r->misses_clock,
            .allocations = t->allocations,
            .frees = t->frees,
            .allocated_bytes = t->allocated_bytes,
            .peak_bytes = t->peak_bytes,
            .peak_blocks = t->peak_blocks,
            .peak_time_ns = t->peak_time_ns,
            .peak_event = t->peak_event,
            .leaked_blocks = t->live_blocks,
            .leaked_bytes = t->live_bytes,
            .unknown_frees = r->unknown_frees,
            .implied_frees = r->implied_frees,
            .peak_rss_bytes = r->peak_rss,
            .threads = map_count(&r->threads),
        };
        for (size_t i = 0; i < r->notes.count; i++)
            wake_writer_add_note(r->writer, r->notes.data[i], strlen(r->notes.data[i]));
        if (!r->is_made_up && !r->misses_clock)
            totals_put_levels(&r->totals, r->writer, r->process, &end);
        wake_writer_end_process(r->writer, r->process, &end, rows, (uint32_t)t->count - 1, live,
                                numbered_count(&r->blocks));
    }
    free(rows);
    free(live);
}

static int recast_add_names(const struct recast *r, struct err *err)
{
    struct wake_annex *a;
    if (names_count(r->names) == 0)
        return 0;
    int code = wake_annex_open(&a, r->path, err);
    if (code != 0)
        return code;
    wake_annex_add_names(a, r->names);
    return wake_annex_close(a, err);
}

int recast_close(struct recast *r, struct err *err)
{
    struct err closing;
    err_init(&closing);
    int code = r->trouble.code != 0 && r->trouble.text[0] != '\0' ? recast_check(r, err) : 0;
    int closed = wake_writer_close(r->writer, 0, &closing);
    if (code == 0 && closed != 0)
        code = err_set(err, closed, "%s", closing.text);
    if (code == 0)
        code = recast_add_names(r, err);
    recast_free_all(r);
    return code;
}
