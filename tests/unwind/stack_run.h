/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stack_run: runs a program with the witness and the probe, is the probe's collector (a
 * small one that shares no code with the real one, only src/wire/), and keeps in memory
 * what it recorded. Whatever goes wrong ends this process with a sentence and status 2.
 */
#ifndef HW_TESTS_UNWIND_STACK_RUN_H
#define HW_TESTS_UNWIND_STACK_RUN_H

#include <err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRY(x, ...) ((x) ? (void)0 : errx(2, __VA_ARGS__))

struct stack {
    uint64_t *frames; /* innermost first; NULL: not seen */
    uint32_t count;
    uint32_t room;
    uint32_t omitted;
    uint8_t cut;
    bool is_compared;
};

struct alloc {
    uint64_t address;
    uint64_t size;
    uint32_t stack;
    bool is_paired; /* with a record of the witness */
};

/* The allocations of one thread in one lane; most threads have one lane. */
struct queue {
    uint32_t tid;
    uint32_t lane;
    struct alloc *allocs;
    size_t count;
    size_t next;
};

struct module {
    uint64_t start, end, bias;
    char *path;
};

struct stack_run {
    const char *probe; /* both libraries */
    const char *witness;
    const char *witness_path; /* where the witness writes, and its environment */
    const char *every;
    const char *count;

    struct queue *queues;
    size_t queue_count;
    struct stack *stacks; /* by id */
    uint32_t stack_count;
    struct module *modules;
    size_t module_count;
    uint64_t alloc_count;
    uint64_t lost_count;
};

/* Runs it to its end; gives its wait status. `run` has the first five members set. */
int stack_run(struct stack_run *run, char **arguments);

/* The stack with this id; an empty one if there is none. Valid until the next call. */
struct stack *stack_at(struct stack_run *run, uint32_t id);

#endif
