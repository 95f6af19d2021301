/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_pprof: a heap profile in pprof's format, a protobuf message, usually
 * gzipped.  These fields are read (profile.proto has them all):
 *
 *     Profile   1 sample_type   2 sample   3 mapping   4 location   5 function   6 string_table   10 duration_nanos
 *     ValueType 1 type                          Sample   1 location_id (leaf first)   2 value
 *     Mapping   1 id   2 start   3 limit   4 offset   5 filename   6 build_id
 *     Location  1 id   2 mapping   3 address    4 line (what is inlined first)
 *     Line      1 function   2 line             Function 1 id   2 name   4 filename
 *
 * Texts are numbers in string_table, which comes late: one reading notes where
 * things are, the samples are read in a second one.  The message is in memory
 * as a whole.
 */
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

#include "import/linescan.h"
#include "import/lots.h"
#include "import/protoread.h"
#include "import/segments.h"
#include "tool/map.h"
#include "tool/memory.h"
#include "tool/vec.h"

enum {
    PPROF_SIZE_MAX = 1 << 30,
    PPROF_BUILD_ID_MAX = 64,
    PPROF_LINES_MAX = 256, /* functions inlined in one place */
    PPROF_TYPES_MAX = 64,  /* values of a sample */
};

/* What a value of a sample means. */
enum pprof_role {
    ROLE_ALLOC_BLOCKS,
    ROLE_ALLOC_BYTES,
    ROLE_END_BLOCKS,
    ROLE_END_BYTES,
    ROLE_PEAK_BYTES,
    ROLE_COUNT
};

static const struct {
    const char *type;
    enum pprof_role role;
} pprof_roles[] = {
    {"alloc_objects", ROLE_ALLOC_BLOCKS}, {"alloc_space", ROLE_ALLOC_BYTES},
    {"inuse_objects", ROLE_END_BLOCKS},   {"inuse_space", ROLE_END_BYTES},
    {"objects", ROLE_END_BLOCKS},         {"space", ROLE_END_BYTES},
    {"peak_space", ROLE_PEAK_BYTES},
};

struct pprof_function {
    uint64_t name, file; /* texts */
};

struct pprof_mapping {
    uint64_t start, limit, offset, file, build_id;
    uint32_t module; /* 0: not told yet */
};

struct pprof_location {
    uint64_t mapping, address;
    struct cursor message; /* for its lines */
    struct wake_frame frame;
    bool is_told;
};

struct pprof_file {
    struct import_job *job;
    uint8_t *bytes;
    size_t length;
    VEC(struct recast_text) texts;
    VEC(struct pprof_function) functions;
    VEC(struct pprof_mapping) mappings;
    VEC(struct pprof_location) locations;
    struct map function_ids, mapping_ids, location_ids; /* id -> index */
    uint64_t types[PPROF_TYPES_MAX];                    /* texts */
    size_t type_count;
    int value_of[ROLE_COUNT]; /* which value; -1: none */
    uint64_t duration_ns;
    struct segments segments;
    VEC(struct wake_frame) path;
    struct lots lots;
    const uint8_t *wrong; /* where it makes no sense; NULL: nowhere */
    bool failed;          /* no memory */
};

static void pprof_blame(struct pprof_file *p, const struct cursor *c)
{
    if (p->wrong == NULL)
        p->wrong = c->at;
}

static struct recast_text pprof_text(const struct pprof_file *p, uint64_t number)
{
    return number < p->texts.count ? p->texts.data[number] : (struct recast_text){"", 0};
}

/* ---------------------------------------------------------------- first reading */

static void pprof_take_type(struct pprof_file *p, struct cursor message)
{
    struct protoread field;
    uint64_t type = 0;
    while (protoread_next(&message, &field)) {
        if (field.number == 1)
            type = field.value;
    }
    if (p->type_count < PPROF_TYPES_MAX)
        p->types[p->type_count++] = type;
}

static void pprof_take_function(struct pprof_file *p, struct cursor message)
{
    struct protoread field;
    struct pprof_function f = {0};
    uint64_t id = 0;
    while (protoread_next(&message, &field)) {
        if (field.number == 1)
            id = field.value;
        else if (field.number == 2)
            f.name = field.value;
        else if (field.number == 4)
            f.file = field.value;
    }
    if (!map_set(&p->function_ids, id, p->functions.count) || !vec_push(&p->functions, f))
        p->failed = true;
}

static void pprof_take_mapping(struct pprof_file *p, struct cursor message)
{
    struct protoread field;
    struct pprof_mapping m = {0};
    uint64_t id = 0;
    while (protoread_next(&message, &field)) {
        uint64_t *const to[] = {NULL, &id, &m.start, &m.limit, &m.offset, &m.file, &m.build_id};
        if (field.number >= 1 && field.number <= 6)
            *to[field.number] = field.value;
    }
    if (!map_set(&p->mapping_ids, id, p->mappings.count) || !vec_push(&p->mappings, m))
        p->failed = true;
}

static void pprof_take_location(struct pprof_file *p, struct cursor message)
{
    struct protoread field;
    struct pprof_location l = {.message = message};
    uint64_t id = 0;
    while (protoread_next(&message, &field)) {
        if (field.number == 1)
            id = field.value;
        else if (field.number == 2)
            l.mapping = field.value;
        else if (field.number == 3)
            l.address = field.value;
    }
    if (cursor_is_bad(&message))
        pprof_blame(p, &message);
    if (l.address == 0)
        l.address = id; /* told apart by something */
    if (!map_set(&p->location_ids, id, p->locations.count) || !vec_push(&p->locations, l))
        p->failed = true;
}

static void pprof_take_text(struct pprof_file *p, struct cursor bytes)
{
    struct recast_text text = {(const char *)bytes.at, cursor_left(&bytes)};
    if (!vec_push(&p->texts, text))
        p->failed = true;
}

static void pprof_survey(struct pprof_file *p)
{
    struct cursor c;
    struct protoread field;
    cursor_init(&c, p->bytes, p->length);
    while (!p->failed && protoread_next(&c, &field)) {
        if (field.number == 10)
            p->duration_ns = field.value;
        if (!field.is_bytes)
            continue;
        if (field.number == 1)
            pprof_take_type(p, field.inside);
        else if (field.number == 3)
            pprof_take_mapping(p, field.inside);
        else if (field.number == 4)
            pprof_take_location(p, field.inside);
        else if (field.number == 5)
            pprof_take_function(p, field.inside);
        else if (field.number == 6)
            pprof_take_text(p, field.inside);
    }
    if (cursor_left(&c) > 0 || cursor_is_bad(&c))
        pprof_blame(p, &c);
}

/* Which values mean what; false: it is no heap profile. */
static bool pprof_find_roles(struct pprof_file *p)
{
    for (size_t r = 0; r < ROLE_COUNT; r++)
        p->value_of[r] = -1;
    for (size_t i = 0; i < p->type_count; i++) {
        struct recast_text type = pprof_text(p, p->types[i]);
        for (size_t k = 0; k < sizeof pprof_roles / sizeof *pprof_roles; k++) {
            if (strlen(pprof_roles[k].type) == type.length &&
                memcmp(pprof_roles[k].type, type.bytes, type.length) == 0)
                p->value_of[pprof_roles[k].role] = (int)i;
        }
    }
    return p->value_of[ROLE_ALLOC_BYTES] >= 0 || p->value_of[ROLE_END_BYTES] >= 0;
}

/* ----------------------------------------------------------------------- frames */

/* A build id in hexadecimal digits; what is anything else is none. */
static size_t pprof_build_id(struct recast_text text, uint8_t *id)
{
    struct linescan s;
    if (text.length == 0 || text.length % 2 != 0 || text.length > 2 * PPROF_BUILD_ID_MAX)
        return 0;
    for (size_t i = 0; i < text.length / 2; i++) {
        linescan_init(&s, text.bytes + 2 * i, 2);
        id[i] = (uint8_t)linescan_hex(&s);
        if (!linescan_is_done(&s))
            return 0;
    }
    return text.length / 2;
}

static uint32_t pprof_module(struct pprof_file *p, uint64_t id)
{
    const uint64_t *index = map_find(&p->mapping_ids, id);
    struct pprof_mapping *m = index == NULL ? NULL : &p->mappings.data[*index];
    struct recast_text path = m == NULL ? (struct recast_text){"", 0} : pprof_text(p, m->file);
    if (path.length == 0)
        return 0;
    if (m->module == 0) {
        uint8_t build_id[PPROF_BUILD_ID_MAX];
        char *text = memory_copy_part(path.bytes, path.length);
        uint64_t begin;
        if (text == NULL || !segments_find(&p->segments, text, m->offset, &begin))
            begin = m->offset;
        m->module = recast_module(p->job->recast,
                                  &(struct wake_module_info){
                                      .start = m->start,
                                      .end = m->limit,
                                      .bias = m->start - begin,
                                      .build_id = build_id,
                                      .build_id_length = pprof_build_id(pprof_text(p, m->build_id), build_id),
                                      .path = path.bytes,
                                      .path_length = path.length});
        free(text);
    }
    return m->module;
}

static struct wake_frame pprof_frame(struct pprof_file *p, struct pprof_location *l)
{
    struct recast_name names[PPROF_LINES_MAX];
    struct protoread field, part;
    size_t count = 0;
    if (l->is_told)
        return l->frame;
    struct cursor c = l->message;
    while (protoread_next(&c, &field)) {
        uint64_t function = 0, line = 0;
        if (field.number != 4 || !field.is_bytes || count == PPROF_LINES_MAX)
            continue;
        while (protoread_next(&field.inside, &part)) {
            if (part.number == 1)
                function = part.value;
            else if (part.number == 2)
                line = part.value;
        }
        const uint64_t *index = map_find(&p->function_ids, function);
        struct pprof_function f = index == NULL ? (struct pprof_function){0} : p->functions.data[*index];
        names[count++] = (struct recast_name){pprof_text(p, f.name), pprof_text(p, f.file),
                                              line > UINT32_MAX / 2 ? 0 : (uint32_t)line};
    }
    p->job->is_nameless |= count == 0;
    /* The address is that of the call, one before where it returns to. */
    l->frame = recast_frame(p->job->recast, pprof_module(p, l->mapping), l->address + 1, names, count);
    l->is_told = true;
    return l->frame;
}

/* ---------------------------------------------------------------------- samples */

static uint64_t pprof_value(const struct pprof_file *p, const uint64_t *values, enum pprof_role role)
{
    return p->value_of[role] < 0 ? 0 : values[p->value_of[role]];
}

/* How many blocks the bytes at the peak are, which no profile tells: by their share of all bytes, or
 * where the other sums leave no room for so many or so few, another number near to that. */
static struct lot_sum pprof_peak(const struct lot *lot, uint64_t bytes)
{
    struct lot_sum peak = {0, bytes};
    if (bytes == lot->end.bytes)
        return lot->end;
    if (bytes > 0 && lot->allocated.bytes > 0)
        peak.blocks =
            (uint64_t)((double)bytes / (double)lot->allocated.bytes * (double)lot->allocated.blocks + 0.5);
    if (peak.blocks > lot->allocated.blocks)
        peak.blocks = lot->allocated.blocks;
    if (peak.blocks == 0 && bytes > 0)
        peak.blocks = 1;
    const uint64_t tries[] = {peak.blocks, peak.blocks - (peak.blocks > 1), peak.blocks + 1, 1};
    for (size_t i = 0; i < sizeof tries / sizeof *tries && bytes > 0; i++) {
        struct lot tried = *lot;
        tried.peak = (struct lot_sum){tries[i], bytes};
        if (lots_is_even(&tried))
            return tried.peak;
    }
    return peak;
}

static void pprof_add_lot(struct pprof_file *p, const uint64_t *values)
{
    struct lot lot = {
        .allocated = {pprof_value(p, values, ROLE_ALLOC_BLOCKS), pprof_value(p, values, ROLE_ALLOC_BYTES)},
        .end = {pprof_value(p, values, ROLE_END_BLOCKS), pprof_value(p, values, ROLE_END_BYTES)},
    };
    if (lot.end.blocks == 0 && lot.end.bytes > 0)
        lot.end.blocks = 1; /* no profile of objects */
    if (lot.allocated.blocks == 0 && lot.allocated.bytes > 0)
        lot.allocated.blocks = lot.end.blocks + (lot.allocated.bytes != lot.end.bytes);
    if (p->value_of[ROLE_ALLOC_BYTES] < 0)
        lot.allocated = lot.end;
    lot.peak = pprof_peak(&lot, pprof_value(p, values, ROLE_PEAK_BYTES));
    lot.stack = recast_stack(p->job->recast, p->path.data, p->path.count);
    if (!lots_add(&p->lots, &lot))
        p->failed = true;
}

static void pprof_take_sample(struct pprof_file *p, struct cursor message)
{
    struct protoread field;
    uint64_t values[PPROF_TYPES_MAX] = {0}, value;
    size_t count = 0;
    struct cursor start = message;
    p->path.count = 0;
    while (protoread_next(&message, &field)) {
        if (field.number == 1) {
            PROTOREAD_EACH(&field, value)
            {
                const uint64_t *index = map_find(&p->location_ids, value);
                if (index == NULL)
                    pprof_blame(p, &start);
                else if (!vec_push(&p->path, pprof_frame(p, &p->locations.data[*index])))
                    p->failed = true;
            }
        } else if (field.number == 2) {
            PROTOREAD_EACH(&field, value)
            {
                if (value > INT64_MAX) /* less than nothing: a difference of profiles */
                    pprof_blame(p, &start);
                else if (count < PPROF_TYPES_MAX)
                    values[count++] = value;
            }
        }
        if (field.is_bytes && cursor_is_bad(&field.inside))
            pprof_blame(p, &start);
    }
    if (cursor_is_bad(&message))
        pprof_blame(p, &start);
    if (p->wrong == NULL && !p->failed)
        pprof_add_lot(p, values);
}

static int pprof_check(const struct pprof_file *p, struct err *err)
{
    if (p->failed)
        return err_no_memory(err);
    if (p->wrong != NULL)
        return feed_refuse_byte(p->job->feed, (uint64_t)(p->wrong - p->bytes), err,
                                "what stands there makes no sense in a profile.");
    return recast_check(p->job->recast, err);
}

static int pprof_take_samples(struct pprof_file *p, struct err *err)
{
    struct cursor c;
    struct protoread field;
    int code = 0;
    cursor_init(&c, p->bytes, p->length);
    while (code == 0 && protoread_next(&c, &field)) {
        if (field.number == 2 && field.is_bytes) {
            pprof_take_sample(p, field.inside);
            code = pprof_check(p, err);
        }
    }
    return code;
}

/* ------------------------------------------------------------------------- file */

static int pprof_run(struct pprof_file *p, struct err *err)
{
    pprof_survey(p);
    int code = pprof_check(p, err);
    if (code != 0)
        return code;
    if (!pprof_find_roles(p)) {
        struct recast_text type = pprof_text(p, p->type_count == 0 ? 0 : p->types[p->type_count - 1]);
        return err_set(err, ERR_UNSUPPORTED,
                       "%s is no profile of a heap: it has '%.*s' instead of alloc_space or inuse_space.",
                       feed_path(p->job->feed), type.length < 40 ? (int)type.length : 40, type.bytes);
    }
    struct recast_text exe =
        p->mappings.count == 0 ? pprof_text(p, 0) : pprof_text(p, p->mappings.data[0].file);
    recast_begin(p->job->recast, 0, exe.bytes, exe.length, exe.bytes, exe.length);
    code = pprof_take_samples(p, err);
    if (code != 0)
        return code;
    p->lots.knows_peak = p->value_of[ROLE_PEAK_BYTES] >= 0;
    if (p->duration_ns < UINT64_MAX / 2)
        p->lots.peak_ns = p->lots.end_ns = p->duration_ns;
    recast_note(p->job->recast,
                "pprof's file has no times, threads, addresses or single blocks; what was in use is "
                "taken as never freed.");
    if (p->lots.knows_peak)
        recast_note(p->job->recast,
                    "It has bytes at the peak and not how many blocks these were: that is reckoned.");
    if (p->value_of[ROLE_ALLOC_BYTES] < 0)
        recast_note(p->job->recast, "It does not tell what was freed before.");
    return lots_write(&p->lots, p->job, err);
}

bool from_pprof_is_one(const char *head, size_t length)
{
    /* Fields of a profile, and nothing else, as far as the head goes. */
    struct cursor c;
    cursor_init(&c, head, length);
    size_t messages = 0;
    while (cursor_left(&c) > 0) {
        uint64_t tag = cursor_uleb(&c), number = tag >> 3;
        unsigned kind = tag & 7;
        bool is_message = number >= 1 && number <= 6, is_number = number >= 7 && number <= 15;
        bool is_either = number == 11 || number == 13;
        bool fits = (is_message && kind == 2) || (is_number && (kind == 0 || (is_either && kind == 2)));
        if (!fits)
            return false;
        uint64_t value = cursor_uleb(&c);
        if (kind == 2)
            cursor_skip(&c, value);
        messages += is_message && !cursor_is_bad(&c);
    }
    return messages > 1;
}

int from_pprof(struct import_job *job, struct err *err)
{
    struct pprof_file p = {.job = job};
    map_init(&p.function_ids);
    map_init(&p.mapping_ids);
    map_init(&p.location_ids);
    segments_init(&p.segments, job->sysroot);
    int code = feed_rest(job->feed, PPROF_SIZE_MAX, &p.bytes, &p.length, err);
    if (code == 0)
        code = pprof_run(&p, err);
    map_release(&p.function_ids);
    map_release(&p.mapping_ids);
    map_release(&p.location_ids);
    segments_release(&p.segments);
    vec_release(&p.texts);
    vec_release(&p.functions);
    vec_release(&p.mappings);
    vec_release(&p.locations);
    vec_release(&p.path);
    lots_release(&p.lots);
    free(p.bytes);
    return code;
}
