/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * perf_map: see perf_map.h.
 */
#include "symbol/perf_map.h"

#include "base/sorted.h"
#include "tool/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PERF_MAP_MAX (UINT64_C(1) << 30) /* bytes of a file that is read */

static int entry_compare(const void *a, const void *b)
{
    const struct perf_map_entry *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* A hexadecimal number and the blank behind it; NULL: there is none. */
static const char *perf_map_number(const char *at, uint64_t *value)
{
    char *end;
    if (*at == '-' || *at == '+' || *at == ' ')
        return NULL;
    errno = 0;
    *value = strtoull(at, &end, 16);
    return end == at || errno != 0 || *end != ' ' ? NULL : end + 1;
}

static bool perf_map_add(struct perf_map *m, const char *line, size_t number)
{
    uint64_t start, length;
    const char *at = perf_map_number(line, &start);
    at = at == NULL ? NULL : perf_map_number(at, &length);
    if (at == NULL || *at == '\0' || length == 0 || start > UINT64_MAX - length)
        return true;
    if (length > m->longest)
        m->longest = length;
    return vec_push(&m->entries, ((struct perf_map_entry){start, start + length, number, at}));
}

static int perf_map_parse(struct perf_map *m, char *text, const char *path, struct err *err)
{
    size_t number = 0;
    for (char *line = text; line != NULL; number++) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end = '\0';
        if (!perf_map_add(m, line, number))
            return err_no_memory(err);
        line = end == NULL ? NULL : end + 1;
    }
    if (m->entries.count == 0)
        return err_set(err, ERR_INPUT, "%s has no line of the kind 'START LENGTH NAME'.", path);
    qsort(m->entries.data, m->entries.count, sizeof *m->entries.data, entry_compare);
    return 0;
}

int perf_map_open(struct perf_map *m, const char *path, struct err *err)
{
    char *text;
    size_t length;
    *m = (struct perf_map){0};
    arena_init(&m->arena);
    int code = file_read_text(&text, &length, path, PERF_MAP_MAX, err);
    char *kept = code == 0 ? arena_push_text(&m->arena, text, length) : NULL;
    if (code == 0)
        code = kept == NULL ? err_no_memory(err) : perf_map_parse(m, kept, path, err);
    free(text);
    if (code != 0)
        perf_map_close(m);
    return code;
}

void perf_map_close(struct perf_map *m)
{
    vec_release(&m->entries);
    arena_release(&m->arena);
}

const char *perf_map_find(const struct perf_map *m, uint64_t address)
{
    size_t next = sorted_up_to_by(m->entries.data, m->entries.count, address, start);
    const struct perf_map_entry *best = NULL;
    while (next-- > 0) {
        const struct perf_map_entry *e = &m->entries.data[next];
        if (address - e->start >= m->longest)
            break;
        if (address < e->end && (best == NULL || e->line > best->line))
            best = e;
    }
    return best == NULL ? NULL : best->name;
}
