/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * lives: sites that each live in their own way, for some 240 steps, and what a
 * person should conclude about them.
 *
 *     lives exit|kill [MICROSECONDS-PER-STEP]
 *
 * A site plans what it allocates in a step and until when each block is kept; all
 * of it is made by one call of malloc in one place.  Tells for each site its verdict and,
 * where it grows, by how many bytes a minute; and how many seconds the longest step took.
 */
#include "truth.h"

#include <signal.h>
#include <stdint.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { STEPS = 240, ITEMS = 64, KEPT_MAX = 1 << 16, NEVER = 1 << 28, AT_EXIT = 1 << 27 };

struct plan {
    int count;
    size_t size[ITEMS];
    int until[ITEMS];
};

static struct {
    void *block;
    int until;
} kept[KEPT_MAX];
static int kept_count;
static uint32_t noise_state = 12345;

static uint32_t noise(uint32_t below)
{
    noise_state = noise_state * 1664525u + 1013904223u;
    return (noise_state >> 8) % below;
}

static void add(struct plan *p, size_t size, int until)
{
    if (p->count == ITEMS)
        _exit(97);
    p->size[p->count] = size;
    p->until[p->count++] = until;
}

static void keep(void *block, int until)
{
    if (kept_count == KEPT_MAX)
        _exit(96);
    kept[kept_count].block = block;
    kept[kept_count++].until = until;
}

static void release(int step)
{
    int left = 0;
    for (int i = 0; i < kept_count; i++) {
        if (kept[i].until <= step)
            free(kept[i].block);
        else
            kept[left++] = kept[i];
    }
    kept_count = left;
}

static void grow_steady_plan(struct plan *p, int step)
{
    (void)step;
    add(p, 1000, NEVER);
}

/* Half of it is held for up to ten steps. */
static void grow_noisy_plan(struct plan *p, int step)
{
    add(p, 300 + noise(400), NEVER);
    for (uint32_t i = noise(4); i > 0; i--)
        add(p, 200 + noise(1000), step + 1 + (int)noise(10));
}

static void grow_in_bursts_plan(struct plan *p, int step)
{
    for (int i = 0; step % 16 == 3 && i < 20; i++)
        add(p, 800, NEVER);
    if (step % 16 == 3)
        add(p, 300000, step + 1);
}

static void grow_and_free_plan(struct plan *p, int step)
{
    (void)step;
    add(p, 600, AT_EXIT);
}

static void cache_with_turnover_plan(struct plan *p, int step)
{
    add(p, 500, step + 24 + (int)noise(12));
    add(p, 700, step + 24 + (int)noise(12));
}

static void cache_late_plan(struct plan *p, int step)
{
    for (int i = 0; step >= 150 && step < 185 && i < 4; i++)
        add(p, 900, NEVER);
    if (step >= 185)
        add(p, 900, step + 1);
}

/* Its calls end, while the program goes on. */
static void grow_for_a_while_plan(struct plan *p, int step)
{
    for (int i = 0; step >= 40 && step < 140 && i < 2; i++)
        add(p, 200, NEVER);
}

/* An entry for every key that comes for the first time. */
static void cache_saturating_plan(struct plan *p, int step)
{
    static char seen[48];
    uint32_t key = noise(48);
    (void)step;
    if (!seen[key])
        add(p, 2000, NEVER);
    seen[key] = 1;
}

static void flat_with_bursts_plan(struct plan *p, int step)
{
    if (step == 0)
        add(p, 20000, NEVER);
    if (step % 15 == 7)
        add(p, 100000, step + 1);
}

static void table_once_plan(struct plan *p, int step)
{
    for (int i = 0; step == 5 && i < 50; i++)
        add(p, 400, NEVER);
}

static void table_until_exit_plan(struct plan *p, int step)
{
    for (int i = 0; step == 2 && i < 50; i++)
        add(p, 300, AT_EXIT);
}

static void phase_in_between_plan(struct plan *p, int step)
{
    if (step > 50 && step < 90)
        add(p, 5000, 110);
}

#define SITES(X)                      \
    X(grow_steady, "grows")           \
    X(grow_noisy, "grows")            \
    X(grow_in_bursts, "grows")        \
    X(grow_and_free, "grows")         \
    X(grow_for_a_while, "stopped")    \
    X(cache_with_turnover, "bounded") \
    X(cache_late, "bounded")          \
    X(cache_saturating, "bounded")    \
    X(flat_with_bursts, "bounded")    \
    X(table_once, "once")             \
    X(table_until_exit, "at-exit")    \
    X(phase_in_between, "passing")

static size_t stays; /* bytes of the latest plan that are never freed before the end */

#define SITE(name, verdict)                                  \
    static size_t name##_bytes;                              \
    NOINLINE static void name(int step)                      \
    {                                                        \
        struct plan p = {0};                                 \
        name##_plan(&p, step);                               \
        for (int i = 0; i < p.count; i++) {                  \
            keep(truth_keep(malloc(p.size[i])), p.until[i]); \
            stays += p.until[i] >= AT_EXIT ? p.size[i] : 0;  \
        }                                                    \
    }
SITES(SITE)

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    int killed = argc > 1 && strcmp(argv[1], "kill") == 0;
    struct timespec pause = {0, (argc > 2 ? atoi(argv[2]) : 5000) * 1000L};
    double begin = seconds(), last = begin, longest = 0;
    for (int step = 0; step < STEPS; step++) {
        release(step);
#define RUN(name, verdict) \
    stays = 0;             \
    name(step);            \
    name##_bytes += stays;
        SITES(RUN)
        nanosleep(&pause, NULL);
        double now = seconds();
        longest = now - last > longest ? now - last : longest;
        last = now;
    }
    double minutes = (seconds() - begin) / 60;
    truth_add("{\"sites\": {");
#define TELL(name, verdict)                                                                    \
    truth_add("%s\"%s\": [\"%s\", %.0f]", begin > 0 ? "" : ", ", #name,                        \
              killed && verdict[0] == 'a' ? "once" : verdict, (double)name##_bytes / minutes), \
        begin = -1;
    SITES(TELL)
    truth_add("}, \"killed\": %s, \"longest_step\": %.3f}\n", killed ? "true" : "false", longest);
    truth_tell(1);
    if (killed)
        kill(getpid(), SIGKILL);
    release(AT_EXIT);
    return 0;
}
