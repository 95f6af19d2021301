/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hostile: the frame of the hard cases.  A case is one function that does to
 * itself what breaks recorders, judges itself with expect(), and counts its own
 * blocks with make() and drop(), whose sizes nobody else uses.  Each process tells,
 * before its end, however that comes:
 *
 *     {"pid": 12, "blocks": {"9001": [made, released]}, "complaints": [], "names": {}, "stacks": {}}
 *
 * make(), drop() and expect() may be called from any thread and any handler.
 *
 * A case that is about names of threads or about stacks says what the recording must show of
 * them, with expect_name() and expect_stack(): "names": {"13": "worker"}, "stacks": {"9001":
 * "innermost middle main"}.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "../workloads/truth.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { HOSTILE_SIZES = 8, HOSTILE_COMPLAINTS = 4, HOSTILE_NAMES = 8 };

struct hostile_case {
    const char *name;
    void (*run)(void);
};

static struct {
    size_t size;
    long made, freed;
} hostile_counts[HOSTILE_SIZES];
static struct {
    int tid;
    const char *name;
} hostile_names[HOSTILE_NAMES];
static struct {
    size_t size;
    const char *functions;
} hostile_stacks[HOSTILE_SIZES];
static const char *hostile_complaints[HOSTILE_COMPLAINTS];
static char **hostile_argv;
static int hostile_argc;
static int hostile_pid; /* asked for once: a filter may forbid it later */

/* The account of a size; the first who asks opens it. */
static inline unsigned hostile_account(size_t size)
{
    for (unsigned i = 0; i < HOSTILE_SIZES; i++) {
        size_t none = 0;
        if (__atomic_load_n(&hostile_counts[i].size, __ATOMIC_RELAXED) == size ||
            __atomic_compare_exchange_n(&hostile_counts[i].size, &none, size, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            none == size)
            return i;
    }
    _exit(97);
}

static inline void count_made(size_t size)
{
    __atomic_fetch_add(&hostile_counts[hostile_account(size)].made, 1, __ATOMIC_RELAXED);
}

static inline void count_freed(size_t size)
{
    __atomic_fetch_add(&hostile_counts[hostile_account(size)].freed, 1, __ATOMIC_RELAXED);
}

static inline void expect(int holds, const char *sentence)
{
    for (unsigned i = 0; !holds && i < HOSTILE_COMPLAINTS; i++) {
        const char *none = NULL;
        if (__atomic_compare_exchange_n(&hostile_complaints[i], &none, sentence, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}

/* The recording calls this thread so, at last. Not from several threads at once. */
static inline void expect_name(int tid, const char *name)
{
    unsigned i = 0;
    while (i < HOSTILE_NAMES - 1 && hostile_names[i].tid != 0)
        i++;
    hostile_names[i].tid = tid;
    hostile_names[i].name = name;
}

/* The stack of every block of this size is whole, and has these functions of the program's own
 * sources (headers left out), innermost first, and no others. */
static inline void expect_stack(size_t size, const char *functions)
{
    unsigned i = hostile_account(size);
    hostile_stacks[i].size = size;
    hostile_stacks[i].functions = functions;
}

/* A block that keeps what is put in. */
static inline void *make(size_t size)
{
    unsigned char *block = (unsigned char *)truth_keep(malloc(size));
    if (block == NULL)
        _exit(96);
    count_made(size);
    block[0] = block[size - 1] = (unsigned char)(size * 7);
    return block;
}

static inline void drop(void *pointer, size_t size)
{
    unsigned char *block = (unsigned char *)pointer;
    expect(block[0] == (unsigned char)(size * 7) && block[size - 1] == block[0], "a block lost its content");
    free(block);
    count_freed(size); /* afterwards, like what is made: what has been told has happened */
}

/* So many made, half of them left. */
static inline void work(size_t size, int blocks)
{
    for (int i = 0; i < blocks; i++) {
        void *block = make(size);
        if (i % 2 == 0)
            drop(block, size);
    }
}

static inline void tell_more(void)
{
    truth_add(", \"names\": {");
    for (unsigned i = 0; i < HOSTILE_NAMES && hostile_names[i].tid != 0; i++)
        truth_add("%s\"%d\": \"%s\"", i == 0 ? "" : ", ", hostile_names[i].tid, hostile_names[i].name);
    truth_add("}, \"stacks\": {");
    const char *between = "";
    for (unsigned i = 0; i < HOSTILE_SIZES; i++) {
        if (hostile_stacks[i].size != 0) {
            truth_add("%s\"%zu\": \"%s\"", between, hostile_stacks[i].size, hostile_stacks[i].functions);
            between = ", ";
        }
    }
    truth_add("}");
}

static inline void tell(void)
{
    truth_add("{\"pid\": %d, \"blocks\": {", hostile_pid != 0 ? hostile_pid : (int)getpid());
    for (unsigned i = 0; i < HOSTILE_SIZES && hostile_counts[i].size != 0; i++)
        truth_add("%s\"%zu\": [%ld, %ld]", i == 0 ? "" : ", ", hostile_counts[i].size,
                  __atomic_load_n(&hostile_counts[i].made, __ATOMIC_SEQ_CST),
                  __atomic_load_n(&hostile_counts[i].freed, __ATOMIC_SEQ_CST));
    truth_add("}, \"complaints\": [");
    for (unsigned i = 0; i < HOSTILE_COMPLAINTS && hostile_complaints[i] != NULL; i++)
        truth_add("%s\"%s\"", i == 0 ? "" : ", ", hostile_complaints[i]);
    truth_add("]");
    tell_more();
    truth_add("}\n");
    truth_tell(1);
}

/* What a forked child does first: its account is its own. */
static inline void become_child(void)
{
    memset(hostile_counts, 0, sizeof hostile_counts);
    memset(hostile_names, 0, sizeof hostile_names);
    memset(hostile_stacks, 0, sizeof hostile_stacks);
    truth_length = 0;
    hostile_pid = (int)getpid();
}

static inline int hostile_main(int argc, char **argv, const struct hostile_case *cases, size_t count)
{
    hostile_argc = argc;
    hostile_argv = argv;
    hostile_pid = (int)getpid();
    for (size_t i = 0; argc > 1 && i < count; i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            tell();
            return hostile_complaints[0] != NULL;
        }
    }
    return 95;
}

#define HOSTILE_CASES(...)                                                    \
    int main(int argc, char **argv)                                           \
    {                                                                         \
        static const struct hostile_case cases[] = {__VA_ARGS__};             \
        return hostile_main(argc, argv, cases, sizeof cases / sizeof *cases); \
    }

#endif
