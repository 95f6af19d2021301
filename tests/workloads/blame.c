/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * blame: functions that leak, hold, churn and grow, and an account of what each
 * of them did, kept by the program itself.  Tells one line of JSON.
 */
#include "truth.h"

#include <sys/prctl.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { LEAK_SMALL, LEAK_LARGE, HOLD, CHURN, GROW, DIG, NOTHING_AT_ALL, COUNT };
static const char *const names[COUNT] = {"leak_small", "leak_large", "hold",          "churn",
                                         "grow",       "dig",        "nothing_at_all"};

struct account {
    unsigned long blocks, bytes, live_blocks, live_bytes, peak_blocks, peak_bytes, temporary;
};
static struct account accounts[COUNT];
static unsigned long live, peak;
static void *latest; /* nothing has been made since */

static void note_made(int who, void *block, size_t size)
{
    struct account *a = &accounts[who];
    a->blocks++;
    a->bytes += size;
    a->live_blocks++;
    a->live_bytes += size;
    live += size;
    latest = block;
    for (int i = 0; live > peak && i < COUNT; i++) {
        accounts[i].peak_blocks = accounts[i].live_blocks;
        accounts[i].peak_bytes = accounts[i].live_bytes;
    }
    if (live > peak)
        peak = live;
}

static void note_gone(int who, void *block, size_t size)
{
    accounts[who].live_blocks--;
    accounts[who].live_bytes -= size;
    accounts[who].temporary += block == latest;
    live -= size;
}

/* Macros, so that the function itself is the caller of malloc. */
#define MAKE(who, size)                        \
    __extension__({                            \
        void *made = truth_keep(malloc(size)); \
        note_made(who, made, size);            \
        made;                                  \
    })
#define DROP(who, block, size)       \
    do {                             \
        note_gone(who, block, size); \
        free(block);                 \
    } while (0)

NOINLINE static void leak_small(void)
{
    for (int i = 0; i < 300; i++)
        MAKE(LEAK_SMALL, 40);
}

NOINLINE static void leak_large(void)
{
    for (int i = 0; i < 7; i++)
        MAKE(LEAK_LARGE, 100000);
}

NOINLINE static void nothing_at_all(void)
{
    for (int i = 0; i < 2; i++)
        MAKE(NOTHING_AT_ALL, 0);
}

NOINLINE static void hold(void)
{
    void *held[50];
    for (int i = 0; i < 50; i++)
        held[i] = MAKE(HOLD, 65536);
    for (int i = 0; i < 50; i++)
        DROP(HOLD, held[i], 65536);
}

NOINLINE static void churn(void)
{
    for (int i = 0; i < 5000; i++) {
        void *block = MAKE(CHURN, 100);
        DROP(CHURN, block, 100);
    }
}

/* A block is made between the steps, so that none is the latest when it goes. */
NOINLINE static void grow(void)
{
    size_t size = 16;
    void *block = MAKE(GROW, size), *between[10];
    for (int i = 0; i < 10; i++) {
        between[i] = MAKE(GROW, 8);
        note_gone(GROW, NULL, size);
        size *= 2;
        block = truth_keep(realloc(block, size));
        note_made(GROW, block, size);
    }
    void *end = MAKE(GROW, 8);
    DROP(GROW, block, size);
    for (int i = 0; i < 10; i++)
        DROP(GROW, between[i], 8);
    (void)end;
}

NOINLINE static void dig(int depth)
{
    if (depth > 0)
        dig(depth - 1);
    else
        MAKE(DIG, 11);
    truth_keep(&depth);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        prctl(PR_SET_NAME, argv[1]);
    leak_small();
    hold();
    churn();
    grow();
    leak_large();
    for (volatile int i = 0; i < 3; i++) /* not unrolled: one call, one stack */
        dig(200);
    nothing_at_all();
    truth_add("{\"peak_bytes\": %lu, \"functions\": {", peak);
    for (int i = 0; i < COUNT; i++) {
        const struct account *a = &accounts[i];
        truth_add("%s\"%s\": {\"allocated\": [%lu, %lu], \"leaks\": [%lu, %lu], \"peak\": [%lu, %lu], "
                  "\"temporary\": %lu}",
                  i == 0 ? "" : ", ", names[i], a->bytes, a->blocks, a->live_bytes, a->live_blocks,
                  a->peak_bytes, a->peak_blocks, a->temporary);
    }
    truth_add("}}\n");
    truth_tell(1);
    return 0;
}
