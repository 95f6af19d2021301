/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * trace: see trace.h.
 *
 * A process remembers the trace of each node of its tree of stacks, so that a
 * stack costs only what no stack before it had.  Stacks with frames left out
 * in the middle have another trace than their nodes say, since a gap stands
 * between the halves (the outer half is the smaller one when they differ); they
 * are walked without remembering.
 */
#include "analysis/trace.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/called.h"
#include "analysis/role.h"
#include "base/hash.h"
#include "tool/memory.h"
#include "wire/record.h"

enum { TRACE_FEW = 8 }; /* children that are looked through */

/* What makes two frames one.  No padding: it is hashed as bytes. */
struct trace_frame_key {
    const char *function, *file, *module;
    uint64_t address; /* 0 when there is a line */
    uint64_t line, inlined;
};

struct trace_symbol_key {
    const char *function, *module;
    uint64_t address; /* 0 when there is a function */
};

void traces_init(struct traces *c)
{
    memset(c, 0, sizeof *c);
    words_init(&c->words);
    map_init(&c->frame_slots);
    map_init(&c->symbol_slots);
    map_init(&c->module_slots);
    map_init(&c->trace_slots);
}

void traces_release(struct traces *c)
{
    for (size_t i = 0; i < c->processes.count; i++) {
        free(c->processes.data[i].images);
        free(c->processes.data[i].modules);
        free(c->processes.data[i].traces);
        map_release(&c->processes.data[i].place_slots);
        vec_release(&c->processes.data[i].places);
        vec_release(&c->processes.data[i].frames);
    }
    vec_release(&c->processes);
    vec_release(&c->path);
    vec_release(&c->traces);
    vec_release(&c->frames);
    map_release(&c->trace_slots);
    map_release(&c->symbol_slots);
    map_release(&c->module_slots);
    map_release(&c->frame_slots);
    words_release(&c->words);
}

/* ----------------------------------------------------------------- interning */

/* 0: no memory. */
static uint32_t traces_add_symbol(struct traces *c, const struct frame *f)
{
    struct trace_symbol_key key = {f->function, f->module, f->function[0] == '\0' ? f->address : 0};
    uintptr_t word = (uintptr_t)words_add(&c->words, &key, sizeof key);
    if (word == 0)
        return 0;
    const uint64_t *known = map_find(&c->symbol_slots, word);
    if (known != NULL)
        return (uint32_t)*known;
    if (!map_set(&c->symbol_slots, word, c->symbols + 1))
        return 0;
    return ++c->symbols;
}

/* The number of the frame + 1; 0: no memory. */
static uint32_t traces_add_frame(struct traces *c, const struct frame *from)
{
    struct frame f = *from;
    if (f.role != FRAME_GAP)
        f.role = (uint8_t)role_find(&f);
    for (size_t i = 0; i < c->wrapper_count && !f.wraps && f.role != FRAME_GAP; i++)
        f.wraps = called_matches(&f, c->wrappers[i]);
    if (f.wraps && f.role == FRAME_OWN)
        f.role = FRAME_LIBRARY;
    if (c->veil != NULL && !anonymize_frame(c->veil, &f))
        return 0;
    f.function = words_add_text(&c->words, f.function);
    f.linkage = words_add_text(&c->words, f.linkage);
    f.file = words_add_text(&c->words, f.file);
    f.module = words_add_text(&c->words, f.module);
    if (f.function == NULL || f.linkage == NULL || f.file == NULL || f.module == NULL)
        return 0;
    struct trace_frame_key key = {f.function, f.file,   f.module, f.line != 0 ? 0 : f.address,
                                  f.line,     f.inlined};
    uintptr_t word = (uintptr_t)words_add(&c->words, &key, sizeof key);
    if (word == 0)
        return 0;
    const uint64_t *known = map_find(&c->frame_slots, word);
    if (known != NULL)
        return (uint32_t)*known;
    f.symbol = traces_add_symbol(c, &f);
    if (f.symbol == 0 || !vec_push(&c->frames, f) || !map_set(&c->frame_slots, word, c->frames.count))
        return 0;
    return (uint32_t)c->frames.count;
}

/* Most traces have one child.  A few are looked through, which is quicker than a
 * table as large as all stacks; those of the others are in one. */
static uint32_t traces_find_child(const struct traces *c, uint32_t parent, uint32_t frame)
{
    const struct trace *p = &c->traces.data[parent];
    if (p->children > TRACE_FEW) {
        const uint64_t *known = map_find(&c->trace_slots, (uint64_t)parent << 32 | frame);
        return known == NULL ? 0 : (uint32_t)*known;
    }
    uint32_t at = p->child;
    while (at != 0 && c->traces.data[at].frame != frame)
        at = c->traces.data[at].sibling;
    return at;
}

/* Enters the children of a trace that has become one of the others; later the new one alone. */
static bool traces_enter_children(struct traces *c, uint32_t parent)
{
    uint32_t children = c->traces.data[parent].children, at = c->traces.data[parent].child;
    uint32_t left = children <= TRACE_FEW ? 0 : children == TRACE_FEW + 1 ? children : 1;
    for (; left > 0; left--, at = c->traces.data[at].sibling) {
        if (!map_set(&c->trace_slots, (uint64_t)parent << 32 | c->traces.data[at].frame, at))
            return false;
    }
    return true;
}

/* The trace of a frame (its number) called from parent.  0: no memory. */
static uint32_t traces_link(struct traces *c, uint32_t parent, uint32_t frame)
{
    uint32_t known = traces_find_child(c, parent, frame);
    if (known != 0)
        return known;
    struct trace trace = {.parent = parent,
                          .frame = frame,
                          .depth = c->traces.data[parent].depth + 1,
                          .sibling = c->traces.data[parent].child};
    if (!vec_push(&c->traces, trace))
        return 0;
    c->traces.data[parent].child = (uint32_t)(c->traces.count - 1);
    c->traces.data[parent].children++;
    return traces_enter_children(c, parent) ? (uint32_t)(c->traces.count - 1) : 0;
}

uint32_t traces_add(struct traces *c, uint32_t parent, const struct frame *frame)
{
    uint32_t number = traces_add_frame(c, frame);
    if (number == 0 || (c->traces.count == 0 && !vec_push(&c->traces, (struct trace){0})))
        return 0;
    return traces_link(c, parent, number - 1);
}

/* ------------------------------------------------------------------- readers */

/* The file of a module; the loader has no name for that of the program.  Files that are called the same and have the
 * same build id are one, in whatever folder and recording they are.  NULL: no memory. */
static const char *traces_module_path(struct traces *c, const struct wake_process *p,
                                      const struct wake_module *m)
{
    const char *path = m->path[0] == '\0' && p->info.exe != NULL ? p->info.exe : m->path;
    const char *text = words_add_text(&c->words, path);
    if (text == NULL || m->build_id_length == 0)
        return text;
    struct {
        const char *name;
        const void *build_id;
    } key = {words_add_text(&c->words, frame_basename(path)),
             words_add(&c->words, m->build_id, m->build_id_length)};
    const void *word = words_add(&c->words, &key, sizeof key);
    if (key.name == NULL || key.build_id == NULL || word == NULL)
        return NULL;
    const uint64_t *known = map_find(&c->module_slots, (uintptr_t)word);
    if (known != NULL)
        return (const char *)(uintptr_t)*known;
    return map_set(&c->module_slots, (uintptr_t)word, (uintptr_t)text) ? text : NULL;
}

/* False: no memory. */
static bool traces_name_modules(struct traces *c, struct trace_process *own)
{
    const struct wake_process *p = own->process;
    bool fine = true;
    for (size_t i = 0; i < p->modules.count && fine; i++) {
        own->modules[i + 1] = traces_module_path(c, p, &p->modules.data[i]);
        fine = own->modules[i + 1] != NULL;
    }
    return fine;
}

int traces_add_reader(struct traces *c, struct wake_reader *r, uint32_t *base, struct err *err)
{
    *base = (uint32_t)c->processes.count;
    if (c->traces.count == 0 && !vec_push(&c->traces, (struct trace){0}))
        goto out;
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        struct trace_process own = {.process = p, .names = wake_reader_names(r)};
        own.images = memory_new_zeroed(p->modules.count + 1, sizeof *own.images);
        own.modules = memory_new_zeroed(p->modules.count + 1, sizeof *own.modules);
        own.traces = memory_new_zeroed(p->nodes.count + 1, sizeof *own.traces);
        map_init(&own.place_slots);
        if (own.images == NULL || own.modules == NULL || own.traces == NULL ||
            !traces_name_modules(c, &own) || !vec_push(&c->processes, own)) {
            free(own.images);
            free(own.modules);
            free(own.traces);
            goto out;
        }
        for (uint32_t m = 0; own.names != NULL && m <= p->modules.count; m++)
            own.images[m] = wake_reader_image(r, i, m);
    }
    return 0;
out:
    return err_no_memory(err);
}

/* Appends the frames of a place to the list of its process.  False: no memory. */
static bool traces_name_place(struct traces *c, struct trace_process *p, struct trace_place *place)
{
    bool exact = (place->address & RECORD_FRAME_EXACT) != 0;
    struct frame f = {.function = "",
                      .linkage = "",
                      .file = "",
                      .module = "",
                      .address = place->address & ~RECORD_FRAME_EXACT};
    const struct name_place *named = NULL;
    uint32_t image = p->images[0];
    if (place->module != 0 && place->module <= p->process->modules.count) {
        f.address -= p->process->modules.data[place->module - 1].bias;
        f.module = p->modules[place->module];
        image = p->images[place->module];
    }
    if (p->names != NULL && image != 0)
        named = names_find(p->names, image, f.address, exact);
    place->first = (uint32_t)p->frames.count;
    place->count = named == NULL || named->count == 0 ? 1 : named->count;
    for (uint32_t i = place->count; i-- > 0;) {
        if (named != NULL && named->count != 0) {
            const struct name_frame *n = &named->frames[i];
            f.function = n->function;
            f.linkage = n->linkage;
            f.file = n->file;
            f.line = n->line;
            f.inlined = n->inlined;
        }
        uint32_t number = traces_add_frame(c, &f);
        if (number == 0 || !vec_push(&p->frames, number - 1))
            return false;
    }
    return true;
}

/* Programs have far fewer places than nodes.  NULL: no memory. */
static const struct trace_place *traces_find_place(struct traces *c, struct trace_process *p,
                                                   const struct wake_node *node)
{
    uint64_t key = hash_join(node->address, node->module);
    for (const uint64_t *at = map_find(&p->place_slots, key); at != NULL;
         at = map_find(&p->place_slots, ++key)) {
        const struct trace_place *place = &p->places.data[*at];
        if (place->address == node->address && place->module == node->module)
            return place;
    }
    struct trace_place fresh = {node->address, node->module, 0, 0};
    if (!traces_name_place(c, p, &fresh) || !vec_push(&p->places, fresh) ||
        !map_set(&p->place_slots, key, p->places.count - 1))
        return NULL;
    return &p->places.data[p->places.count - 1];
}

/* Adds the frames of one node below parent.  0: no memory. */
static uint32_t traces_add_node(struct traces *c, struct trace_process *p, uint32_t parent,
                                const struct wake_node *node)
{
    const struct trace_place *place = traces_find_place(c, p, node);
    if (place == NULL)
        return 0;
    for (uint32_t i = 0; i < place->count && (i == 0 || parent != 0); i++)
        parent = traces_link(c, parent, p->frames.data[place->first + i]);
    return parent;
}

static uint32_t traces_add_gap(struct traces *c, uint32_t parent)
{
    static const struct frame gap = {
        .function = "(frames left out)", .linkage = "", .file = "", .module = "", .role = FRAME_GAP};
    return traces_add(c, parent, &gap);
}

/* Below trace, the nodes path[count - 1] .. path[0]; remembers them unless a gap comes. */
static uint32_t traces_descend(struct traces *c, struct trace_process *p, uint32_t trace, size_t count,
                               size_t gap_at)
{
    for (size_t i = count; i-- > 0;) {
        uint32_t node = c->path.data[i];
        trace = traces_add_node(c, p, trace, &p->process->nodes.data[node]);
        if (trace != 0 && i == gap_at)
            trace = traces_add_gap(c, trace);
        if (trace == 0)
            return 0;
        if (gap_at == SIZE_MAX)
            p->traces[node] = trace;
    }
    return trace;
}

int traces_find(struct traces *c, uint32_t process, uint32_t stack, uint32_t *trace, struct err *err)
{
    *trace = 0;
    if (process >= c->processes.count)
        return 0;
    struct trace_process *p = &c->processes.data[process];
    const struct wake_stack *s = wake_process_find_stack(p->process, stack);
    if (s == NULL || s->leaf == 0)
        return 0;
    uint32_t known = 0, node = s->leaf;
    bool whole = s->omitted == 0;
    c->path.count = 0;
    while (node != 0 && node < p->process->nodes.count && c->path.count < s->depth) {
        known = whole ? p->traces[node] : 0;
        if (known != 0)
            break;
        if (!vec_push(&c->path, node))
            return err_no_memory(err);
        node = p->process->nodes.data[node].parent;
    }
    size_t gap_at = whole ? SIZE_MAX : (c->path.count + 1) / 2;
    *trace = c->path.count == 0 ? known : traces_descend(c, p, known, c->path.count, gap_at);
    if (*trace == 0)
        return err_no_memory(err);
    return 0;
}

/* The caller of the outermost wrapper that was named, or the trace itself. */
static uint32_t traces_pass_wrappers(const struct traces *c, uint32_t trace)
{
    uint32_t outside = trace;
    for (uint32_t at = c->wrapper_count == 0 ? 0 : trace; at != 0; at = traces_parent(c, at)) {
        if (traces_frame(c, at)->wraps && traces_parent(c, at) != 0)
            outside = traces_parent(c, at);
    }
    return outside;
}

uint32_t traces_find_own(const struct traces *c, uint32_t trace)
{
    uint32_t library = 0;
    for (uint32_t at = traces_pass_wrappers(c, trace); at != 0; at = traces_parent(c, at)) {
        unsigned role = traces_frame(c, at)->role;
        if (role == FRAME_OWN)
            return at;
        if (role == FRAME_LIBRARY && library == 0)
            library = at;
    }
    return library != 0 ? library : trace;
}
