/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * elf_resolver: see elf_resolver.h.
 */
#include "symbol/elf_resolver.h"

#include "symbol/procmaps.h"
#include "symbol/symbolizer.h"
#include "tool/memory.h"

#include <signal.h>
#include <stdlib.h>

/* A file that a copy of /proc/PID/maps names, opened when first needed. */
struct elf_mapped {
    struct binary *binary; /* NULL: not tried yet, or not to be had */
    uint64_t bias;
    bool is_tried;
};

struct elf_resolver {
    struct naming_resolver resolver;
    struct naming_options options;
    struct symbolizer *symbolizer;
    struct procmaps maps;
    struct elf_mapped *mapped; /* by module of maps */
    volatile sig_atomic_t stop;
    struct name_frame frames[BINARY_FRAMES_MAX];
};

/* What open() hands out for code in no module; any other is a struct binary. */
static char elf_any_map;

/* A server is waited for: is anybody tired of that? */
static void elf_progress(const char *text, uint64_t done, uint64_t total, void *context)
{
    struct elf_resolver *e = context;
    if (e->options.is_stopped != NULL && e->options.is_stopped(e->options.is_stopped_of))
        e->stop = 1;
    if (e->options.progress != NULL)
        e->options.progress(e->options.progress_of, text, done, total);
}

static enum name_source elf_source(struct binary *b)
{
    switch (binary_get_source(b)) {
    case BINARY_LINES:
        return NAME_SOURCE_LINES;
    case BINARY_SYMBOLS:
        return NAME_SOURCE_SYMBOLS;
    default:
        return NAME_SOURCE_MISSING;
    }
}

static void *elf_open(void *of, const struct name_image *image, int fd, enum name_source *source,
                      struct strbuf *remark)
{
    struct elf_resolver *e = of;
    struct binary *b = NULL;
    struct err err;
    err_init(&err);
    *source = NAME_SOURCE_MISSING;
    if (naming_is_fileless(image)) {
        *source = NAME_SOURCE_LINES;
        return &elf_any_map;
    }
    int code = fd >= 0 ? symbolizer_open_fd(e->symbolizer, &b, image->path, fd, &err)
                       : symbolizer_open(e->symbolizer, &b, image->path, image->build_id,
                                         image->build_id_length, &err);
    if (code != 0) {
        strbuf_add_text(remark, err.text);
        return NULL;
    }
    *source = elf_source(b);
    strbuf_add_text(remark, binary_get_remark(b));
    return b;
}

/* The file that is mapped at an address, and the address in it; NULL: none. */
static struct binary *elf_find_mapped(struct elf_resolver *e, uint64_t *address)
{
    for (size_t i = 0; i < e->maps.modules.count; i++) {
        const struct procmaps_module *m = &e->maps.modules.data[i];
        struct elf_mapped *mapped = &e->mapped[i];
        uint64_t begin;
        if (*address < m->start || *address >= m->end)
            continue;
        if (!mapped->is_tried) {
            mapped->is_tried = true;
            if (symbolizer_open(e->symbolizer, &mapped->binary, m->path, NULL, 0, NULL) != 0 ||
                !binary_find_address(mapped->binary, m->code_offset, &begin))
                mapped->binary = NULL;
            else
                mapped->bias = m->code_start - begin;
        }
        *address -= mapped->bias;
        return mapped->binary;
    }
    return NULL;
}

static uint32_t elf_resolve(void *of, void *opened, uint64_t place, bool exact,
                            const struct name_frame **frames)
{
    struct elf_resolver *e = of;
    const struct binary_frame *found = NULL;
    struct binary *b = opened == &elf_any_map ? elf_find_mapped(e, &place) : opened;
    size_t count = b == NULL ? 0 : binary_resolve(b, place, exact, &found);
    if (count > NAMES_FRAMES_MAX) {
        found += count - NAMES_FRAMES_MAX; /* the outermost is the function itself */
        count = NAMES_FRAMES_MAX;
    }
    for (size_t i = 0; i < count; i++)
        e->frames[i] = (struct name_frame){found[i].function, found[i].linkage, found[i].file, found[i].line,
                                           found[i].inlined};
    *frames = e->frames;
    return (uint32_t)count;
}

/* The symbolizer keeps what it has opened for the next recording. */
static void elf_close(void *of, void *opened)
{
    (void)of;
    (void)opened;
}

static const char *elf_lack(void *of, void *opened)
{
    (void)of;
    return opened != &elf_any_map && binary_is_poor(opened) ? binary_get_remark(opened) : NULL;
}

static const char *elf_remark(void *of, void *opened)
{
    (void)of;
    return opened != &elf_any_map ? binary_get_remark(opened) : "";
}

/* The network is asked when the user says so, or has named servers. */
static bool elf_asks_servers(const struct naming_options *options)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    return options->debuginfod || (servers != NULL && servers[0] != '\0');
}

static bool elf_read_maps(struct elf_resolver *e, struct err *err)
{
    if (e->options.maps == NULL)
        return true;
    if (procmaps_read(&e->maps, e->options.maps, err) != 0)
        return false;
    e->mapped = memory_new_zeroed(e->maps.modules.count + 1, sizeof *e->mapped);
    if (e->mapped == NULL)
        err_no_memory(err);
    return e->mapped != NULL;
}

struct elf_resolver *elf_resolver_new(const struct naming_options *options, struct err *err)
{
    struct elf_resolver *e = memory_new_zeroed(1, sizeof *e);
    if (e == NULL) {
        err_no_memory(err);
        return NULL;
    }
    e->options = *options;
    e->resolver = (struct naming_resolver){e, elf_open, elf_resolve, elf_close, elf_lack, elf_remark};
    procmaps_init(&e->maps);
    e->symbolizer = symbolizer_new(&(struct symbolizer_options){
        .sysroot = options->sysroot,
        .debug_path = options->debug_path,
        .debuginfod = elf_asks_servers(options),
        .progress = elf_progress,
        .progress_context = e,
        .interrupt = &e->stop,
    });
    if (e->symbolizer == NULL)
        err_no_memory(err);
    if (e->symbolizer == NULL || !elf_read_maps(e, err)) {
        elf_resolver_free(e);
        return NULL;
    }
    return e;
}

void elf_resolver_free(struct elf_resolver *e)
{
    if (e == NULL)
        return;
    if (e->symbolizer != NULL)
        symbolizer_free(e->symbolizer);
    procmaps_release(&e->maps);
    free(e->mapped);
    free(e);
}

const char *elf_resolver_get_remark(const struct elf_resolver *e)
{
    return symbolizer_get_remark(e->symbolizer);
}

const struct naming_resolver *elf_resolver_get(const struct elf_resolver *e)
{
    return &e->resolver;
}
