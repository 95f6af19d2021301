/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fake_stacks: for tests: processes with stacks and names, without a file.
 *
 *     struct fake f;
 *     fake_init(&f);
 *     uint32_t p = fake_process(&f);
 *     uint32_t s = fake_stack(&f, p, "main@app.c:10 > serve@app.c:20 > std::string::assign");
 *     fake_row(&f, p, s, (struct metrics){.leaked_blocks = 1, .leaked_bytes = 10});
 *     ... f.traces, f.rows.data, f.rows.count ...
 *     fake_release(&f);
 *
 * Frames stand outermost first.  `a|b` is b inlined into a; without @file:line
 * there is no line; `?` has no name at all; `libx.so:f` lies in the module /lib/libx.so.
 */
#ifndef HW_ANALYSIS_FAKE_STACKS_H
#define HW_ANALYSIS_FAKE_STACKS_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace.h"
#include "engine/result.h"
#include "store/names.h"
#include "store/reader.h"
#include "tool/vec.h"

enum { FAKE_PROCESSES = 4, FAKE_MODULE_SIZE = 1 << 20 };

struct fake {
    struct traces traces;
    struct names *names;
    struct wake_process *processes[FAKE_PROCESSES];
    size_t count;
    uint64_t bias[FAKE_PROCESSES];
    VEC(struct query_row) rows;
    char texts[64][64]; /* frames; the address of one is its place here */
    size_t text_count;
};

static inline void fake_init(struct fake *f)
{
    memset(f, 0, sizeof *f);
    traces_init(&f->traces);
    (void)vec_push(&f->traces.traces, (struct trace){0});
    f->names = names_new();
}

static inline void fake_release(struct fake *f)
{
    traces_release(&f->traces);
    names_free(f->names);
    for (size_t i = 0; i < f->count; i++) {
        vec_release(&f->processes[i]->modules);
        vec_release(&f->processes[i]->nodes);
        vec_release(&f->processes[i]->stacks);
        free(f->processes[i]);
    }
    vec_release(&f->rows);
}

/* Each process has its modules elsewhere, as processes do. */
static inline uint32_t fake_process(struct fake *f)
{
    struct wake_process *p = calloc(1, sizeof *p);
    assert(f->count < FAKE_PROCESSES);
    p->info.exe = "/bin/app";
    (void)vec_push(&p->nodes, (struct wake_node){0});
    (void)vec_push(&p->stacks, ((struct wake_stack){.known = true}));
    f->bias[f->count] = (f->count + 1) << 32;
    f->processes[f->count++] = p;
    struct trace_process own = {.process = p, .names = f->names};
    own.images = calloc(16, sizeof *own.images);
    own.modules = calloc(16, sizeof *own.modules);
    own.traces = calloc(1024, sizeof *own.traces);
    map_init(&own.place_slots);
    (void)vec_push(&f->traces.processes, own);
    return (uint32_t)f->count - 1;
}

static inline uint32_t fake_module(struct fake *f, uint32_t process, const char *path)
{
    struct wake_process *p = f->processes[process];
    for (size_t i = 0; i < p->modules.count; i++) {
        if (strcmp(p->modules.data[i].path, path) == 0)
            return (uint32_t)i + 1;
    }
    uint64_t start = f->bias[process] + p->modules.count * FAKE_MODULE_SIZE;
    char *copy = (char *)words_add_text(&f->traces.words, path);
    struct wake_module m = {start, start + FAKE_MODULE_SIZE, start, NULL, 0, copy};
    (void)vec_push(&p->modules, m);
    assert(p->modules.count < 16);
    f->traces.processes.data[process].modules[p->modules.count] = copy;
    f->traces.processes.data[process].images[p->modules.count] = names_image(f->names, NULL, 0, path);
    return (uint32_t)p->modules.count;
}

/* "b@file:7" into a name. */
static inline struct name_frame fake_name(char *text)
{
    struct name_frame n = {text, "", "", 0, false};
    char *at = strchr(text, '@'), *colon = at == NULL ? NULL : strrchr(at, ':');
    if (colon == NULL)
        return n;
    *at = *colon = '\0';
    n.file = at + 1;
    n.line = (uint32_t)atoi(colon + 1);
    return n;
}

static inline uint64_t fake_place(struct fake *f, const char *text)
{
    for (size_t i = 0; i < f->text_count; i++) {
        if (strcmp(f->texts[i], text) == 0)
            return 0x1000 + i * 16;
    }
    assert(f->text_count < 64 && strlen(text) < 64);
    strcpy(f->texts[f->text_count++], text);
    return 0x1000 + (f->text_count - 1) * 16;
}

static inline uint32_t fake_node(struct fake *f, uint32_t process, uint32_t parent, char *text)
{
    struct wake_process *p = f->processes[process];
    char *colon = strchr(text, ':');
    bool has_module = (strncmp(text, "lib", 3) == 0 || strncmp(text, "ld-", 3) == 0) && colon != NULL &&
                      strstr(text, ".so") != NULL;
    uint64_t place = fake_place(f, text);
    uint32_t module = 0;
    if (has_module) {
        *colon = '\0';
        char path[64];
        snprintf(path, sizeof path, "/lib/%s", text);
        module = fake_module(f, process, path);
        text = colon + 1;
    } else {
        module = fake_module(f, process, "/bin/app");
    }
    if (strcmp(text, "?") != 0) {
        struct name_frame frames[4];
        uint32_t count = 0;
        char *pieces[4];
        for (char *at = strtok(text, "|"); at != NULL && count < 4; at = strtok(NULL, "|"))
            pieces[count++] = at;
        for (uint32_t i = 0; i < count; i++) {
            frames[i] = fake_name(pieces[count - 1 - i]);
            frames[i].inlined = i + 1 < count;
        }
        (void)names_add(f->names, f->traces.processes.data[process].images[module], place, false, frames,
                        count);
    }
    uint64_t address = p->modules.data[module - 1].bias + place;
    (void)vec_push(&p->nodes, ((struct wake_node){address, module, parent}));
    assert(p->nodes.count < 1024);
    return (uint32_t)p->nodes.count - 1;
}

static inline uint32_t fake_stack(struct fake *f, uint32_t process, const char *frames)
{
    struct wake_process *p = f->processes[process];
    char text[1024];
    uint32_t node = 0, depth = 0;
    snprintf(text, sizeof text, "%s", frames);
    for (char *at = text; at != NULL && *at != '\0'; depth++) {
        char *end = strstr(at, " > ");
        if (end != NULL)
            *end = '\0';
        node = fake_node(f, process, node, at);
        at = end == NULL ? NULL : end + 3;
    }
    (void)vec_push(&p->stacks, ((struct wake_stack){.leaf = node, .depth = depth, .known = true}));
    return (uint32_t)p->stacks.count - 1;
}

static inline void fake_row(struct fake *f, uint32_t process, uint32_t stack, struct metrics m)
{
    struct query_row row = {.process = process, .stack = stack, .m = m};
    (void)vec_push(&f->rows, row);
}

/* Leaked blocks of one stack. */
static inline void fake_leak(struct fake *f, uint32_t process, const char *frames, uint64_t blocks,
                             uint64_t bytes)
{
    fake_row(f, process, fake_stack(f, process, frames),
             (struct metrics){.allocated_blocks = blocks,
                              .allocated_bytes = bytes,
                              .leaked_blocks = blocks,
                              .leaked_bytes = bytes});
}

#endif
