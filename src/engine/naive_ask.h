/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * naive_ask: for tests: random questions about a random recording (naive.h).
 * `asked` holds the latest one in words, to be shown when an answer is wrong.
 */
#ifndef HW_ENGINE_NAIVE_ASK_H
#define HW_ENGINE_NAIVE_ASK_H

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "engine/block_list.h"
#include "engine/naive.h"
#include "engine/parse.h"

static inline void ask(struct query *q, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What was asked, to be shown when an answer is wrong. */
static char asked[4096];

static inline void ask(struct query *q, const char *key, const char *format, ...)
{
    char value[64];
    struct err err;
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    if (query_parse(q, key, value, &err) != 0)
        fail_msg("%s", err.text);
    size_t length = strlen(asked);
    snprintf(asked + length, sizeof asked - length, " %s=%s", key, value);
}

static inline const char *random_time(struct naive *n)
{
    static char text[8][32];
    static unsigned next;
    char *to = text[next++ % 8];
    const struct naive_process *p = &n->processes.data[naive_below(n, n->processes.count)];
    switch (naive_below(n, 4)) {
    case 0:
        snprintf(to, 32, "%u.%u%%", (unsigned)naive_below(n, 100), (unsigned)naive_below(n, 100));
        break;
    case 1:
        if (p->marks.count > 0) {
            snprintf(to, 32, "mark:%s", p->marks.data[naive_below(n, p->marks.count)].name);
            break;
        }
        /* fall through */
    default:
        snprintf(to, 32, "%lluns",
                 (unsigned long long)(p->times.data[naive_below(n, p->events)] + naive_below(n, 3) - 1));
    }
    return to;
}

/* A range of some property: near values that exist. */
static inline void ask_range(struct naive *n, struct query *q, const char *name, const char *unit,
                             uint64_t low, uint64_t width)
{
    char key[64];
    uint64_t from = low + naive_below(n, width);
    snprintf(key, sizeof key, "%s-min", name);
    if (naive_below(n, 3) != 0)
        ask(q, key, "%llu%s", (unsigned long long)from, unit);
    snprintf(key, sizeof key, "%s-max", name);
    if (naive_below(n, 3) != 0)
        ask(q, key, "%llu%s", (unsigned long long)(from + naive_below(n, width)), unit);
}

static const char *const naive_patterns[] = {"fn_1",   "fn_[36]\\(", "part0",  "file[0-4]\\.cc$",
                                             "libfoo", "app$",       "nothing"};

/* As if a file had said so, in any order, some of them twice. */
static inline void ask_listing(struct naive *n, struct query *q)
{
    bool fine = q->filter.blocks != NULL || (q->filter.blocks = block_list_new("list")) != NULL;
    uint64_t most = 1 + naive_below(n, 2 * n->blocks.count + 1);
    for (uint64_t i = 0; i < most && fine && n->blocks.count > 0; i++) {
        const struct naive_block *b = &n->blocks.data[naive_below(n, n->blocks.count)];
        fine = block_list_add(q->filter.blocks, b->process, b->number);
    }
    assert_true(fine);
    block_list_seal(q->filter.blocks);
    size_t length = strlen(asked);
    snprintf(asked + length, sizeof asked - length, " blocks=(%llu)", (unsigned long long)most);
}

static inline void ask_birth(struct naive *n, struct query *q)
{
    static const char *const keys[] = {"function",   "not-function", "source",
                                       "not-source", "module",       "not-module"};
    switch (naive_below(n, 17)) {
    case 0:
        ask(q, "allocated-from", "%s", random_time(n));
        break;
    case 1:
        ask(q, "allocated-to", "%s", random_time(n));
        break;
    case 2:
        ask(q, "allocated", "%s", naive_below(n, 2) ? "inside" : "outside");
        break;
    case 3:
        ask_range(n, q, "size", "", 0, naive_below(n, 2) ? 300 : 50000);
        break;
    case 4:
        ask_range(n, q, "usable", "", 0, 300);
        break;
    case 5:
        ask_range(n, q, "slack", "", 0, 40);
        break;
    case 6:
        ask(q, naive_below(n, 2) ? "address-min" : "address-max", "%llx",
            (unsigned long long)(0x550000000000 + naive_below(n, 4096) * 16));
        break;
    case 7:
        ask_range(n, q, "depth", "", 0, 4);
        break;
    case 8:
        ask(q, naive_below(n, 3) == 0 ? "not-stack" : "stack", "%u,%u,%u",
            (unsigned)naive_below(n, NAIVE_STACKS), (unsigned)naive_below(n, NAIVE_STACKS),
            (unsigned)naive_below(n, 100));
        break;
    case 9:
        ask(q, keys[naive_below(n, 6)], "%s", naive_patterns[naive_below(n, 7)]);
        break;
    case 10:
        if (naive_below(n, 2))
            ask(q, "thread", "%u", (unsigned)(1000 + naive_below(n, 6)));
        else
            ask(q, "thread", "%s", naive_thread_names[1 + naive_below(n, NAIVE_THREADS)]);
        break;
    case 11:
        ask(q, "kind", "%s", naive_below(n, 3) == 0 ? "realloc" : naive_below(n, 2) ? "malloc,new" : "new");
        break;
    case 12:
        ask(q, "mapped", "%s", naive_below(n, 2) ? "yes" : "no");
        break;
    case 13:
        ask(q, "arena", "%s", naive_below(n, 2) ? "main" : "other");
        break;
    case 14:
        ask(q, "mapping", "%u,%u", 1 + (unsigned)naive_below(n, 8), 1 + (unsigned)naive_below(n, 8));
        break;
    case 15:
        ask_listing(n, q);
        break;
    default:
        ask(q, "mark", "%s", naive_marks[naive_below(n, 3)]);
    }
}

static inline void ask_death(struct naive *n, struct query *q)
{
    static const char *const states[] = {"leaked",       "freed",        "temporary",
                                         "chain-leaked", "group-leaked", "freed,chain-leaked"};
    static const char *const keys[] = {"freed-function",   "not-freed-function", "freed-source",
                                       "not-freed-source", "freed-module",       "not-freed-module"};
    switch (naive_below(n, 16)) {
    case 0:
        ask(q, "freed-from", "%s", random_time(n));
        break;
    case 1:
        ask(q, "freed-to", "%s", random_time(n));
        break;
    case 2:
        ask(q, "alive-at", "%s", random_time(n));
        break;
    case 3:
        ask(q, "alive-at", "%s", random_time(n));
        ask(q, "alive-at-2", "%s", random_time(n));
        break;
    case 4:
        ask(q, "freed", "%s", naive_below(n, 2) ? "inside" : "outside");
        break;
    case 5:
    case 6:
        ask(q, "state", "%s", states[naive_below(n, 6)]);
        break;
    case 7:
        ask_range(n, q, "lifetime", "ns", 0, naive_below(n, 2) ? 10000 : 1000000);
        break;
    case 8:
        if (naive_below(n, 2))
            ask(q, "freed-by", "%u", (unsigned)(1000 + naive_below(n, 6)));
        else
            ask(q, "freed-by", "%s", naive_thread_names[1 + naive_below(n, NAIVE_THREADS)]);
        break;
    case 9:
        ask_range(n, q, "chain-length", "", 1, 3);
        break;
    case 10:
        ask_range(n, q, "chain-position", "", 1, 3);
        break;
    case 11:
        ask_range(n, q, naive_below(n, 2) ? "chain-first-size" : "chain-last-size", "", 0, 300);
        break;
    case 12:
        ask(q, naive_below(n, 3) == 0 ? "not-freed-stack" : "freed-stack", "%u,%u,%u",
            (unsigned)naive_below(n, NAIVE_STACKS), (unsigned)naive_below(n, NAIVE_STACKS),
            (unsigned)naive_below(n, 100));
        break;
    case 13:
        ask(q, keys[naive_below(n, 6)], "%s", naive_patterns[naive_below(n, 7)]);
        break;
    case 14:
        ask(q, "kept-until", "%s", random_time(n));
        break;
    default:
        ask_range(n, q, "chain-lifetime", "ns", 0, 1000000);
    }
}

static inline void ask_group(struct naive *n, struct query *q)
{
    switch (naive_below(n, 5)) {
    case 0:
        ask_range(n, q, "group-allocations", "", 0, 30);
        break;
    case 1:
        ask_range(n, q, "group-leaked", "", 0, 20);
        break;
    case 2:
        ask_range(n, q, "group-leaked", "%", 0, 60);
        break;
    case 3:
        if (naive_below(n, 2))
            ask_range(n, q, "group-interval", "%", 0, 100);
        else
            ask_range(n, q, "group-interval", "us", 0, 2000);
        break;
    default:
        ask(q, naive_below(n, 2) ? "group-peak-from" : "group-peak-to", "%s", random_time(n));
    }
}

static inline void ask_rest(struct naive *n, struct query *q)
{
    static const char *const splits[] = {"none", "thread", "kind"};
    if (naive_below(n, 4) == 0)
        ask(q, "from", "%s", random_time(n));
    if (naive_below(n, 4) == 0)
        ask(q, "to", "%s", random_time(n));
    if (naive_below(n, 4) == 0)
        ask(q, "at", "%s", naive_below(n, 4) == 0 ? "peak-rss" : random_time(n));
    if (naive_below(n, 4) == 0)
        ask(q, "pid", "%u", (unsigned)(100 + naive_below(n, n->processes.count)));
    if (naive_below(n, 6) == 0)
        ask(q, "temporary", "%u%s", 1 + (unsigned)naive_below(n, 5), naive_below(n, 2) ? "us" : "");
    if (naive_below(n, 3) == 0)
        ask(q, "ticks", "%u", 1 + (unsigned)naive_below(n, 12));
    ask(q, "split", "%s", splits[naive_below(n, 3)]);
    if (naive_below(n, 2) == 0) {
        ask(q, "detail", "yes");
        ask(q, "median", "yes");
        ask(q, "histograms", "yes");
    }
}

static inline void ask_anything(struct naive *n, struct query *q)
{
    asked[0] = '\0';
    ask_rest(n, q);
    for (uint64_t i = naive_below(n, 3); i > 0; i--)
        ask_birth(n, q);
    for (uint64_t i = naive_below(n, 3) == 0 ? 0 : naive_below(n, 3); i > 0; i--)
        ask_death(n, q);
    if (naive_below(n, 6) == 0)
        ask_group(n, q);
    q->find_place = naive_place;
}

#endif
