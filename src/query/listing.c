/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * listing: see listing.h.
 */
#include "query/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/arena.h"
#include "tool/file.h"
#include "tool/map.h"
#include "tool/memory.h"
#include "tool/vec.h"

struct listing_process {
    uint32_t number;
    VEC(uint64_t) blocks;
};

struct listing {
    struct arena arena;
    const char *name;
    struct map index; /* number of a process -> its place */
    VEC(struct listing_process) processes;
    uint64_t lone_line; /* the first that names no process; 0 = all do */
};

struct listing *listing_new(const char *name)
{
    struct listing *l = memory_new_zeroed(1, sizeof *l);
    if (l == NULL)
        return NULL;
    arena_init(&l->arena);
    map_init(&l->index);
    l->name = arena_push_text(&l->arena, name, strlen(name));
    if (l->name == NULL) {
        listing_free(l);
        return NULL;
    }
    return l;
}

void listing_free(struct listing *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; i < l->processes.count; i++)
        vec_release(&l->processes.data[i].blocks);
    vec_release(&l->processes);
    map_release(&l->index);
    arena_release(&l->arena);
    free(l);
}

bool listing_add(struct listing *l, uint32_t process, uint64_t block)
{
    const uint64_t *place = map_find(&l->index, process);
    size_t at = place == NULL ? l->processes.count : (size_t)*place;
    if (place == NULL && (!vec_push(&l->processes, ((struct listing_process){.number = process})) ||
                          !map_set(&l->index, process, at)))
        return false;
    return vec_push(&l->processes.data[at].blocks, block) &&
           vec_reserve(&l->processes.data[at].blocks, l->processes.data[at].blocks.count + 1);
}

static int listing_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void listing_seal(struct listing *l)
{
    for (size_t i = 0; i < l->processes.count; i++) {
        struct listing_process *p = &l->processes.data[i];
        qsort(p->blocks.data, p->blocks.count, sizeof *p->blocks.data, listing_compare);
        p->blocks.data[p->blocks.count] = UINT64_MAX; /* listing_add has made room */
    }
}

int listing_check(const struct listing *l, size_t processes, struct err *err)
{
    if (l->lone_line != 0 && processes > 1)
        return err_set(err, ERR_INPUT,
                       "Line %llu of '%s' names a block, but not its process, and the recording has %zu: "
                       "give both numbers.",
                       (unsigned long long)l->lone_line, l->name, processes);
    for (size_t i = 0; i < l->processes.count; i++) {
        if (l->processes.data[i].number >= processes)
            return err_set(
                err, ERR_INPUT,
                "'%s' names a block of process number %u, and the recording has %zu, counted from 0: "
                "the list is that of another recording.",
                l->name, l->processes.data[i].number, processes);
    }
    return 0;
}

const uint64_t *listing_blocks(const struct listing *l, uint32_t process)
{
    static const uint64_t none[] = {UINT64_MAX};
    const uint64_t *place = map_find(&l->index, process);
    return place == NULL ? none : l->processes.data[*place].blocks.data;
}

/* ------------------------------------------------------------------ reading */

struct listing_line {
    uint64_t number; /* from 1 */
    uint64_t values[2];
    unsigned count; /* of values; 3: too many, or none at all */
    bool in_value, is_passed_over;
};

static void listing_take_digit(struct listing_line *line, unsigned digit)
{
    if (!line->in_value && ++line->count <= 2)
        line->values[line->count - 1] = 0;
    line->in_value = true;
    if (line->count > 2)
        return;
    uint64_t *value = &line->values[line->count - 1];
    if (*value > (UINT64_MAX - 1 - digit) / 10)
        line->count = 3;
    else
        *value = *value * 10 + digit;
}

static bool listing_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '"';
}

static void listing_take(struct listing_line *line, char c)
{
    if (line->is_passed_over)
        return;
    if (c >= '0' && c <= '9')
        listing_take_digit(line, (unsigned)(c - '0'));
    else if (c == ' ' || c == '\t' || c == ',' || c == '|' || c == '\r')
        line->in_value = false;
    else if (line->count == 0 && (c == '#' || (line->number == 1 && listing_is_letter(c))))
        line->is_passed_over = true;
    else
        line->count = 3;
}

static int listing_end_line(struct listing *l, struct listing_line *line, struct err *err)
{
    bool is_lone = line->count == 1, fine = true;
    uint64_t process = is_lone ? 0 : line->values[0];
    if (line->count > 2 || (line->count == 2 && process > UINT32_MAX))
        return err_set(
            err, ERR_INPUT,
            "Line %llu of '%s' is not a block. A line has two numbers, that of a process and that of a "
            "block, as the table 'block' of 'heapwake export -f sqlite' has them.",
            (unsigned long long)line->number, l->name);
    if (is_lone && l->lone_line == 0)
        l->lone_line = line->number;
    if (line->count != 0)
        fine = listing_add(l, (uint32_t)process, line->values[is_lone ? 0 : 1]);
    *line = (struct listing_line){.number = line->number + 1};
    return fine ? 0 : err_no_memory(err);
}

static int listing_read_lines(struct listing *l, int fd, struct err *err)
{
    static char bytes[1 << 16];
    struct listing_line line = {.number = 1};
    int code = 0;
    for (;;) {
        ssize_t got = read(fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, file_code(errno), "The list of blocks '%s' cannot be read: %s.", l->name,
                           strerror(errno));
        if (got == 0)
            return listing_end_line(l, &line, err);
        for (ssize_t i = 0; i < got && code == 0; i++) {
            if (bytes[i] == '\n')
                code = listing_end_line(l, &line, err);
            else
                listing_take(&line, bytes[i]);
        }
        if (code != 0)
            return code;
    }
}

int listing_read(struct listing **l, const char *path, struct err *err)
{
    bool is_input = strcmp(path, "-") == 0;
    *l = NULL;
    /* Pipes are welcome: what chooses blocks may still be at it. */
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, file_code(errno), "The list of blocks '%s' cannot be read: %s.", path,
                       strerror(errno));
    struct listing *made = listing_new(is_input ? "standard input" : path);
    int code = made == NULL ? err_no_memory(err) : listing_read_lines(made, fd, err);
    if (!is_input)
        close(fd);
    if (code != 0) {
        listing_free(made);
        return code;
    }
    listing_seal(made);
    *l = made;
    return 0;
}
