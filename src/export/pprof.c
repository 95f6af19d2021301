/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pprof: a gzipped profile.proto (profile.proto has its messages).
 *
 * Parts of a protobuf message may follow each other: repeated fields add up.
 * So the profile is written in small pieces, each a Profile with one sample,
 * location, function or string in it, as soon as it is known; only tables of
 * numbers are kept.  Mappings come last, when it is known what their locations
 * have.
 *
 *   sample     a site, with the values of pprof_types
 *   location   an address: a frame that was called and, before it, the functions
 *              that were inlined there, one line each
 *   function   a symbol
 *   mapping    a module, as the first process that has it had it; frames of the
 *              others are moved there
 */
#include "export/export.h"
#include "export/gzip.h"

#include <profile.pb-c.h>
#include <string.h>

enum { PPROF_VALUES = 6, PPROF_DEFAULT = 4 };

/* The order is that of other heap profiles; the one shown first is named. */
static const char *const pprof_types[PPROF_VALUES][2] = {
    {"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"},
    {"inuse_space", "bytes"},   {"peak_space", "bytes"},  {"leaked_space", "bytes"},
};

struct pprof_mapping {
    const struct wake_module *module;
    const char *path; /* veiled */
    bool functions, files, lines, inlines;
};

struct pprof {
    const struct export_job *job;
    struct gzip *gzip;
    struct strbuf packed; /* scratch */
    struct words words;
    struct map strings;                 /* word -> index */
    struct map functions;               /* symbol -> id */
    struct map locations;               /* word of its frames -> id */
    struct map mapping_slots;           /* word of the path -> id */
    VEC(struct pprof_mapping) mappings; /* id n is at n - 1 */
    uint64_t string_count, function_count, location_count;
    VEC(uint32_t) frames;   /* scratch: of a location, innermost first */
    VEC(Pprof__Line) lines; /* scratch, this and the next */
    VEC(Pprof__Line *) line_list;
    VEC(uint64_t) path;
    bool failed; /* no memory */
};

/* --------------------------------------------------------------------- pieces */

static void pprof_put(struct pprof *p, const Pprof__Profile *piece)
{
    size_t size = pprof__profile__get_packed_size(piece);
    strbuf_clear(&p->packed);
    char *room = strbuf_reserve(&p->packed, size);
    p->failed = p->failed || room == NULL;
    if (p->failed)
        return;
    gzip_add(p->gzip, room, pprof__profile__pack(piece, (uint8_t *)room));
}

/* The index of a text in the string table. */
static int64_t pprof_string(struct pprof *p, const char *text)
{
    uintptr_t word = (uintptr_t)words_add_text(&p->words, text);
    const uint64_t *known = map_find(&p->strings, word);
    if (known != NULL)
        return (int64_t)*known;
    if (word == 0 || !map_set(&p->strings, word, p->string_count)) {
        p->failed = true;
        return 0;
    }
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    char *strings[1] = {(char *)word};
    piece.n_string_table = 1;
    piece.string_table = strings;
    pprof_put(p, &piece);
    return (int64_t)p->string_count++;
}

static void pprof_begin(struct pprof *p)
{
    pprof_string(p, "");
    for (unsigned i = 0; i < PPROF_VALUES; i++) {
        Pprof__Profile piece = PPROF__PROFILE__INIT;
        Pprof__ValueType type = PPROF__VALUE_TYPE__INIT, *types[1] = {&type};
        type.type = pprof_string(p, pprof_types[i][0]);
        type.unit = pprof_string(p, pprof_types[i][1]);
        piece.n_sample_type = 1;
        piece.sample_type = types;
        pprof_put(p, &piece);
    }
}

static uint64_t pprof_function(struct pprof *p, const struct frame *f)
{
    const uint64_t *known = map_find(&p->functions, f->symbol);
    if (known != NULL)
        return *known;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    Pprof__Function function = PPROF__FUNCTION__INIT, *functions[1] = {&function};
    function.id = ++p->function_count;
    function.name = pprof_string(p, f->function);
    /* Never the same as the name: pprof would take that for a name still to be demangled. */
    function.system_name = pprof_string(p, f->linkage);
    function.filename = pprof_string(p, f->file);
    piece.n_function = 1;
    piece.function = functions;
    pprof_put(p, &piece);
    p->failed = p->failed || !map_set(&p->functions, f->symbol, function.id);
    return function.id;
}

/* ------------------------------------------------------------------- mappings */

/* Of a script the program is its interpreter, which then is the first argument. */
static bool pprof_is_program(const struct wake_process *p, const struct wake_module *m)
{
    const char *path = wake_process_module_path(p, m);
    return (p->info.exe != NULL && strcmp(path, p->info.exe) == 0) ||
           (p->info.args_length != 0 && strcmp(path, p->info.args) == 0);
}

/* The modules of a process, or its program alone. */
static void pprof_add_modules(struct pprof *p, const struct wake_process *process, bool program_alone)
{
    for (size_t m = 0; m < process->modules.count && !p->failed; m++) {
        const struct wake_module *module = &process->modules.data[m];
        if (program_alone && !pprof_is_program(process, module))
            continue;
        const char *path =
            anonymize_text(p->job->veil, ANONYMIZE_MODULE, wake_process_module_path(process, module));
        const char *word = path == NULL ? NULL : words_add_text(&p->words, path);
        if (word != NULL && map_find(&p->mapping_slots, (uintptr_t)word) != NULL)
            continue;
        struct pprof_mapping fresh = {.module = module, .path = word};
        p->failed = word == NULL || !vec_push(&p->mappings, fresh) ||
                    !map_set(&p->mapping_slots, (uintptr_t)word, p->mappings.count);
    }
}

/* pprof takes the first mapping for the program. */
static void pprof_add_mappings(struct pprof *p)
{
    const struct wake_reader *r = p->job->reader;
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        pprof_add_modules(p, wake_reader_process(r, i), true);
        pprof_add_modules(p, wake_reader_process(r, i), false);
    }
}

static uint64_t pprof_find_mapping(struct pprof *p, const struct frame *f)
{
    const char *word = f->module[0] == '\0' ? NULL : words_add_text(&p->words, f->module);
    const uint64_t *id = word == NULL ? NULL : map_find(&p->mapping_slots, (uintptr_t)word);
    return id == NULL ? 0 : *id;
}

static void pprof_put_mappings(struct pprof *p)
{
    for (size_t i = 0; i < p->mappings.count; i++) {
        const struct pprof_mapping *m = &p->mappings.data[i];
        struct strbuf build_id;
        strbuf_init(&build_id);
        for (size_t k = 0; p->job->veil->level != ANONYMIZE_FULL && k < m->module->build_id_length; k++)
            strbuf_addf(&build_id, "%02x", m->module->build_id[k]);
        Pprof__Profile piece = PPROF__PROFILE__INIT;
        Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings[1] = {&mapping};
        mapping.id = i + 1;
        mapping.memory_start = m->module->start;
        mapping.memory_limit = m->module->end;
        mapping.filename = pprof_string(p, m->path);
        mapping.build_id = pprof_string(p, strbuf_get(&build_id));
        mapping.has_functions = m->functions;
        mapping.has_filenames = m->files;
        mapping.has_line_numbers = m->lines;
        mapping.has_inline_frames = m->inlines;
        piece.n_mapping = 1;
        piece.mapping = mappings;
        pprof_put(p, &piece);
        p->failed = p->failed || build_id.failed;
        strbuf_release(&build_id);
    }
}

/* ------------------------------------------------------------------ locations */

/* The lines of the frames in p->frames; code without a name has none. */
static void pprof_make_lines(struct pprof *p, struct pprof_mapping *mapping)
{
    p->lines.count = p->line_list.count = 0;
    if (!vec_reserve(&p->lines, p->frames.count) || !vec_reserve(&p->line_list, p->frames.count)) {
        p->failed = true;
        return;
    }
    for (size_t i = 0; i < p->frames.count; i++) {
        const struct frame *f = &p->job->traces->frames.data[p->frames.data[i]];
        if (f->function[0] == '\0')
            continue;
        Pprof__Line line = PPROF__LINE__INIT;
        line.function_id = pprof_function(p, f);
        line.line = f->line;
        p->lines.data[p->lines.count] = line;
        p->line_list.data[p->line_list.count++] = &p->lines.data[p->lines.count];
        p->lines.count++;
        if (mapping != NULL) {
            mapping->functions = true;
            mapping->files |= f->file[0] != '\0';
            mapping->lines |= f->line != 0;
            mapping->inlines |= f->inlined;
        }
    }
}

/* The location of the frames in p->frames. */
static uint64_t pprof_location(struct pprof *p)
{
    uintptr_t word =
        (uintptr_t)words_add(&p->words, p->frames.data, p->frames.count * sizeof *p->frames.data);
    const uint64_t *known = map_find(&p->locations, word);
    if (known != NULL)
        return *known;
    const struct frame *f = &p->job->traces->frames.data[p->frames.data[p->frames.count - 1]];
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    Pprof__Location location = PPROF__LOCATION__INIT, *locations[1] = {&location};
    location.id = ++p->location_count;
    location.mapping_id = pprof_find_mapping(p, f);
    struct pprof_mapping *mapping =
        location.mapping_id == 0 ? NULL : &p->mappings.data[location.mapping_id - 1];
    /* A return address; the call is before it. */
    location.address = f->address + (mapping == NULL ? 0 : mapping->module->bias) - (f->address != 0);
    pprof_make_lines(p, mapping);
    location.n_line = p->line_list.count;
    location.line = p->line_list.data;
    piece.n_location = 1;
    piece.location = locations;
    if (!p->failed)
        pprof_put(p, &piece);
    p->failed = p->failed || word == 0 || !map_set(&p->locations, word, location.id);
    return location.id;
}

/* -------------------------------------------------------------------- samples */

/* The locations of a trace to p->path, innermost first. */
static void pprof_find_path(struct pprof *p, uint32_t trace)
{
    const struct traces *c = p->job->traces;
    p->path.count = p->frames.count = 0;
    for (uint32_t at = trace; at != 0 && !p->failed; at = traces_parent(c, at)) {
        p->failed = !vec_push(&p->frames, c->traces.data[at].frame);
        if (traces_frame(c, at)->inlined && traces_parent(c, at) != 0)
            continue;
        p->failed = p->failed || !vec_push(&p->path, pprof_location(p));
        p->frames.count = 0;
    }
}

static void pprof_put_site(struct pprof *p, const struct site *s)
{
    int64_t values[PPROF_VALUES] = {
        (int64_t)s->m.allocated_blocks, (int64_t)s->m.allocated_bytes, (int64_t)s->m.live_blocks,
        (int64_t)s->m.live_bytes,       (int64_t)s->m.peak_bytes,      (int64_t)s->m.leaked_bytes,
    };
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples[1] = {&sample};
    pprof_find_path(p, s->trace);
    if (p->failed)
        return;
    sample.n_location_id = p->path.count;
    sample.location_id = p->path.data;
    sample.n_value = PPROF_VALUES;
    sample.value = values;
    piece.n_sample = 1;
    piece.sample = samples;
    pprof_put(p, &piece);
}

static void pprof_put_end(struct pprof *p)
{
    const struct export_job *job = p->job;
    const struct wake_summary *summary = wake_reader_summary(job->reader);
    struct strbuf command, leaks;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
    const struct query_range window = export_window(job);
    enum { COMMENTS = 16 }; /* and no more notes than fit */
    char made_up[WAKE_VEILED_NOTE];
    const char *note;
    int64_t comments[COMMENTS];
    size_t count = 0;
    strbuf_init(&command);
    strbuf_init(&leaks);
    p->failed = !export_add_title(job, &command) || p->failed;
    comments[count++] = pprof_string(p, "heapwake " HEAPWAKE_VERSION);
    if (command.length > 0)
        comments[count++] = pprof_string(p, strbuf_get(&command));
    if (suppress_blocks(job->suppress) != 0) {
        export_add_measure(job, MEASURE_LEAKED, &leaks);
        comments[count++] = pprof_string(p, strbuf_get(&leaks));
    }
    for (size_t i = 0; count < COMMENTS && (note = export_note(job, i, made_up)) != NULL; i++)
        comments[count++] = pprof_string(p, note);
    period.type = pprof_string(p, "space");
    period.unit = pprof_string(p, "bytes");
    piece.period_type = &period;
    piece.period = 1;
    piece.n_comment = count;
    piece.comment = comments;
    piece.default_sample_type = pprof_string(p, pprof_types[PPROF_DEFAULT][0]);
    if (summary->wall_ns != 0)
        piece.time_nanos = (int64_t)(summary->wall_ns + window.min);
    piece.duration_nanos = (int64_t)(window.max - window.min);
    pprof_put(p, &piece);
    strbuf_release(&command);
    strbuf_release(&leaks);
}

static void pprof_release(struct pprof *p)
{
    gzip_free(p->gzip);
    strbuf_release(&p->packed);
    words_release(&p->words);
    map_release(&p->strings);
    map_release(&p->functions);
    map_release(&p->locations);
    map_release(&p->mapping_slots);
    vec_release(&p->mappings);
    vec_release(&p->frames);
    vec_release(&p->lines);
    vec_release(&p->line_list);
    vec_release(&p->path);
}

int export_pprof(const struct export_job *job, struct err *err)
{
    struct pprof p = {.job = job, .gzip = gzip_new(job->out)};
    int code = 0;
    strbuf_init(&p.packed);
    words_init(&p.words);
    map_init(&p.strings);
    map_init(&p.functions);
    map_init(&p.locations);
    map_init(&p.mapping_slots);
    p.failed = p.gzip == NULL;
    if (!p.failed) {
        sites_sort(job->sites, job->traces, MEASURE_PEAK);
        pprof_begin(&p);
        pprof_add_mappings(&p);
        for (size_t i = 0; i < job->sites->list.count && !p.failed; i++)
            pprof_put_site(&p, &job->sites->list.data[i]);
        pprof_put_mappings(&p);
        pprof_put_end(&p);
        code = gzip_finish(p.gzip, err);
    }
    if (p.failed)
        code = err_no_memory(err);
    pprof_release(&p);
    return code;
}
