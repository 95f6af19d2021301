/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * block_list: see block_list.h.
 */
#include "engine/block_list.h"

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

struct block_list_process {
    uint32_t number;
    VEC(uint64_t) blocks;
};

struct block_list {
    struct arena arena;
    const char *name;
    struct map index; /* number of a process -> its place */
    VEC(struct block_list_process) processes;
    uint64_t lone_line; /* the first that names no process; 0 = all do */
};

struct block_list *block_list_new(const char *name)
{
    struct block_list *l = memory_new_zeroed(1, sizeof *l);
    if (l == NULL)
        return NULL;
    arena_init(&l->arena);
    map_init(&l->index);
    l->name = arena_push_text(&l->arena, name, strlen(name));
    if (l->name == NULL) {
        block_list_free(l);
        return NULL;
    }
    return l;
}

void block_list_free(struct block_list *l)
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

bool block_list_add(struct block_list *l, uint32_t process, uint64_t block)
{
    const uint64_t *place = map_find(&l->index, process);
    size_t at = place == NULL ? l->processes.count : (size_t)*place;
    if (place == NULL && (!vec_push(&l->processes, ((struct block_list_process){.number = process})) ||
                          !map_set(&l->index, process, at)))
        return false;
    return vec_push(&l->processes.data[at].blocks, block) &&
           vec_reserve(&l->processes.data[at].blocks, l->processes.data[at].blocks.count + 1);
}

static int block_list_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void block_list_seal(struct block_list *l)
{
    for (size_t i = 0; i < l->processes.count; i++) {
        struct block_list_process *p = &l->processes.data[i];
        qsort(p->blocks.data, p->blocks.count, sizeof *p->blocks.data, block_list_compare);
        p->blocks.data[p->blocks.count] = UINT64_MAX; /* block_list_add has made room */
    }
}

int block_list_check(const struct block_list *l, size_t processes, struct err *err)
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

const uint64_t *block_list_blocks(const struct block_list *l, uint32_t process)
{
    static const uint64_t none[] = {UINT64_MAX};
    const uint64_t *place = map_find(&l->index, process);
    return place == NULL ? none : l->processes.data[*place].blocks.data;
}

/* ------------------------------------------------------------------ reading */

struct block_list_line {
    uint64_t number; /* from 1 */
    uint64_t values[2];
    unsigned count; /* of values; 3: too many, or none at all */
    bool in_value, is_passed_over;
};

static void block_list_take_digit(struct block_list_line *line, unsigned digit)
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

static bool block_list_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '"';
}

static void block_list_take(struct block_list_line *line, char c)
{
    if (line->is_passed_over)
        return;
    if (c >= '0' && c <= '9')
        block_list_take_digit(line, (unsigned)(c - '0'));
    else if (c == ' ' || c == '\t' || c == ',' || c == '|' || c == '\r')
        line->in_value = false;
    else if (line->count == 0 && (c == '#' || (line->number == 1 && block_list_is_letter(c))))
        line->is_passed_over = true;
    else
        line->count = 3;
}

static int block_list_end_line(struct block_list *l, struct block_list_line *line, struct err *err)
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
        fine = block_list_add(l, (uint32_t)process, line->values[is_lone ? 0 : 1]);
    *line = (struct block_list_line){.number = line->number + 1};
    return fine ? 0 : err_no_memory(err);
}

static int block_list_read_lines(struct block_list *l, int fd, struct err *err)
{
    static char bytes[1 << 16];
    struct block_list_line line = {.number = 1};
    int code = 0;
    for (;;) {
        ssize_t got = read(fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, file_code(errno), "The list of blocks '%s' cannot be read: %s.", l->name,
                           strerror(errno));
        if (got == 0)
            return block_list_end_line(l, &line, err);
        for (ssize_t i = 0; i < got && code == 0; i++) {
            if (bytes[i] == '\n')
                code = block_list_end_line(l, &line, err);
            else
                block_list_take(&line, bytes[i]);
        }
        if (code != 0)
            return code;
    }
}

int block_list_read(struct block_list **l, const char *path, struct err *err)
{
    bool is_input = strcmp(path, "-") == 0;
    *l = NULL;
    /* Pipes are welcome: what chooses blocks may still be at it. */
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, file_code(errno), "The list of blocks '%s' cannot be read: %s.", path,
                       strerror(errno));
    struct block_list *made = block_list_new(is_input ? "standard input" : path);
    int code = made == NULL ? err_no_memory(err) : block_list_read_lines(made, fd, err);
    if (!is_input)
        close(fd);
    if (code != 0) {
        block_list_free(made);
        return code;
    }
    block_list_seal(made);
    *l = made;
    return 0;
}
