/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * programs: see programs.h.
 */
#include "analysis/programs.h"

#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"

enum { PROGRAMS_PROCESSES_MIN = 9 }; /* of fewer each has room in a list */

/* A process, and which program it runs. */
struct programs_process {
    uint64_t bytes, blocks;
    size_t program;
};

void programs_init(struct programs *p)
{
    memset(p, 0, sizeof *p);
    sites_init(&p->leading);
}

void programs_release(struct programs *p)
{
    sites_release(&p->leading);
    vec_release(&p->others);
}

static int programs_compare(const void *left, const void *right)
{
    const struct program *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return strcmp(a->path, b->path);
}

/* The program with this path, added where it is new; SIZE_MAX: no memory. */
static size_t programs_find(struct programs *p, const char *path)
{
    for (size_t i = 0; i < p->others.count; i++)
        if (strcmp(p->others.data[i].path, path) == 0)
            return i;
    return vec_push(&p->others, ((struct program){.path = path})) ? p->others.count - 1 : SIZE_MAX;
}

/* What each process and each program leaks.  False: no memory. */
static bool programs_count(struct programs *p, struct programs_process *processes, const struct traces *c,
                           const struct query_result *answer)
{
    for (size_t i = 0; i < answer->rows.count; i++) {
        const struct query_row *row = &answer->rows.data[i];
        processes[row->process].bytes += row->m.leaked_bytes;
        processes[row->process].blocks += row->m.leaked_blocks;
    }
    for (size_t i = 0; i < c->processes.count; i++) {
        size_t at = programs_find(p, c->processes.data[i].process->info.exe);
        if (at == SIZE_MAX)
            return false;
        processes[i].program = at;
        p->others.data[at].bytes += processes[i].bytes;
        p->others.data[at].blocks += processes[i].blocks;
        p->others.data[at].processes += processes[i].blocks != 0;
    }
    return true;
}

/* That of the process that leaks most: a shell has many, each with a little. */
static size_t programs_choose(const struct programs_process *processes, size_t count)
{
    size_t worst = 0;
    for (size_t i = 1; i < count; i++)
        worst = processes[i].bytes > processes[worst].bytes ? i : worst;
    return processes[worst].program;
}

/* The sites of one program. */
static int programs_lead(struct programs *p, const struct programs_process *processes, struct traces *c,
                         const struct query_result *answer, size_t program, struct err *err)
{
    VEC(struct query_row) rows = {0};
    int code = 0;
    for (size_t i = 0; i < answer->rows.count && code == 0; i++)
        if (processes[answer->rows.data[i].process].program == program &&
            !vec_push(&rows, answer->rows.data[i]))
            code = err_no_memory(err);
    if (code == 0)
        code = sites_add(&p->leading, c, rows.data, rows.count, err);
    vec_release(&rows);
    return code;
}

/* Those that leak, but for the one that is listed. */
static void programs_keep_others(struct programs *p, size_t listed)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->others.count; i++)
        if (i != listed && p->others.data[i].blocks != 0)
            p->others.data[kept++] = p->others.data[i];
    p->others.count = kept;
    if (kept > 1)
        qsort(p->others.data, kept, sizeof *p->others.data, programs_compare);
}

int programs_split(struct programs *p, struct traces *c, const struct query_result *answer,
                   const struct sites *all, struct err *err)
{
    size_t count = c->processes.count, leaking = 0;
    if (count < PROGRAMS_PROCESSES_MIN)
        return 0;
    struct programs_process *processes = memory_new_zeroed(count, sizeof *processes);
    int code = 0;
    if (processes == NULL || !programs_count(p, processes, c, answer))
        code = err_no_memory(err);
    for (size_t i = 0; code == 0 && i < p->others.count; i++)
        leaking += p->others.data[i].processes;
    if (code == 0 && leaking >= PROGRAMS_PROCESSES_MIN) {
        size_t program = programs_choose(processes, count);
        code = programs_lead(p, processes, c, answer, program, err);
        p->leading.total = all->total;
        programs_keep_others(p, program);
        p->is_split = p->others.count != 0;
    }
    free(processes);
    return code;
}
