/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * missing_debuginfo: see missing_debuginfo.h.
 *
 * Texts of frames are words, each of which is in memory once: a module is told
 * by its address.
 */
#include "analysis/missing_debuginfo.h"

#include "tool/map.h"

#include <stdlib.h>
#include <string.h>

static int missing_debuginfo_compare(const void *a, const void *b)
{
    const struct missing_debuginfo_module *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->path, y->path);
}

static bool missing_debuginfo_add(struct missing_debuginfo *n, struct map *slots, const char *path,
                                  uint64_t bytes)
{
    const uint64_t *slot = map_find(slots, (uintptr_t)path);
    n->bytes += bytes;
    if (slot != NULL) {
        n->modules.data[*slot].bytes += bytes;
        return true;
    }
    struct missing_debuginfo_module m = {path, frame_basename(path), bytes};
    return map_set(slots, (uintptr_t)path, n->modules.count) && vec_push(&n->modules, m);
}

/* Those of one name beside each other, the worst first. */
static int missing_debuginfo_compare_names(const void *a, const void *b)
{
    const struct missing_debuginfo_module *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : missing_debuginfo_compare(a, b);
}

static void missing_debuginfo_sort(struct missing_debuginfo *n, int (*compare)(const void *, const void *))
{
    if (n->modules.count > 1)
        qsort(n->modules.data, n->modules.count, sizeof *n->modules.data, compare);
}

/* Of equal names the worst path stays. */
static void missing_debuginfo_merge(struct missing_debuginfo *n)
{
    size_t kept = 0;
    missing_debuginfo_sort(n, missing_debuginfo_compare_names);
    for (size_t i = 0; i < n->modules.count; i++) {
        struct missing_debuginfo_module m = n->modules.data[i];
        if (kept > 0 && strcmp(n->modules.data[kept - 1].name, m.name) == 0)
            n->modules.data[kept - 1].bytes += m.bytes;
        else
            n->modules.data[kept++] = m;
    }
    n->modules.count = kept;
    missing_debuginfo_sort(n, missing_debuginfo_compare);
}

int missing_debuginfo_find(struct missing_debuginfo *n, struct traces *c, const struct query_result *answer,
                           struct err *err)
{
    struct map slots;
    int code = 0;
    map_init(&slots);
    for (size_t i = 0; i < answer->rows.count && code == 0; i++) {
        const struct query_row *row = &answer->rows.data[i];
        uint32_t trace;
        code = traces_find(c, row->process, row->stack, &trace, err);
        if (code != 0 || trace == 0)
            continue;
        const struct frame *f = traces_frame(c, traces_find_own(c, trace));
        if (f->line == 0 && f->module[0] != '\0' &&
            !missing_debuginfo_add(n, &slots, f->module, row->m.allocated_bytes))
            code = err_no_memory(err);
    }
    map_release(&slots);
    missing_debuginfo_merge(n);
    return code;
}

bool missing_debuginfo_is_packaged(const struct missing_debuginfo_module *m)
{
    static const char *const folders[] = {"/usr/", "/lib", "/bin/", "/sbin/"};
    static const char local[] = "/usr/local/";
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (strncmp(m->path, folders[i], strlen(folders[i])) == 0)
            return strncmp(m->path, local, sizeof local - 1) != 0;
    }
    return false;
}

void missing_debuginfo_release(struct missing_debuginfo *n)
{
    vec_release(&n->modules);
    *n = (struct missing_debuginfo){0};
}
