/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pauses: a server whose requests come and pause, and what a person should conclude about
 * its memory whenever they pause.
 *
 *     pauses steady|start|middle|end|twice|bursts exit|kill [MICROSECONDS-PER-STEP]
 *
 * A schedule says in which steps there is a request.  In the others nothing is allocated but, in
 * some, a little by a timer.  Tells for each site the verdicts that are right, and how many seconds the longest step took.
 */
#include "truth.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { KEYS = 40, ENTRIES = 24, TABLE = 300, SLAB_OBJECTS = 4, SLABS = 64, SESSIONS = 4096 };

static uint32_t noise_state = 12345;

static uint32_t noise(uint32_t below)
{
    noise_state = noise_state * 1664525u + 1013904223u;
    return (noise_state >> 8) % below;
}

/* ---------------------------------------------------------------------- leaks */

NOINLINE static void leak_per_request(void)
{
    truth_keep(malloc(100));
}

/* Most is freed, in the next request. */
NOINLINE static void leak_in_part(void)
{
    static void *former;
    free(former);
    former = NULL;
    void *block = truth_keep(malloc(200 + noise(300)));
    if (noise(3) != 0)
        former = block;
}

static void *sessions[SESSIONS];
static int session_count;

/* Kept in a list that is freed when the program exits. */
NOINLINE static void leak_in_list(void)
{
    if (session_count < SESSIONS)
        sessions[session_count++] = truth_keep(malloc(300));
}

/* ------------------------------------------------------------- what is no leak */

static void *table[TABLE];

NOINLINE static void table_at_start(void)
{
    for (int i = 0; i < TABLE; i++)
        table[i] = truth_keep(malloc(64));
}

/* Random keys; nobody ever leaves. */
NOINLINE static void cache_of_keys(void)
{
    static void *cache[KEYS];
    for (int i = 0; i < 2; i++) {
        uint32_t key = noise(KEYS);
        if (cache[key] == NULL)
            cache[key] = truth_keep(malloc(700));
    }
}

/* Full after some requests, and then each takes the place of another. */
NOINLINE static void cache_with_eviction(void)
{
    static void *cache[ENTRIES];
    static unsigned next;
    free(cache[next % ENTRIES]);
    cache[next++ % ENTRIES] = truth_keep(malloc(500));
}

static int pool_free;

NOINLINE static void pool_of_slabs(void)
{
    static void *slabs[SLABS];
    static int count;
    int taken = 1 + (int)noise(12);
    while (pool_free < taken && count < SLABS) {
        slabs[count++] = truth_keep(malloc(SLAB_OBJECTS * 128));
        pool_free += SLAB_OBJECTS;
    }
}

NOINLINE static void buffer_of_request(void)
{
    for (int i = 0; i < 10; i++)
        free(truth_keep(malloc(4000)));
}

NOINLINE static void buffer_of_timer(void)
{
    free(truth_keep(malloc(50)));
}

/* ------------------------------------------------------------------- schedules */

struct schedule {
    const char *name;
    int steps, period; /* requests come in the steps from..to-1 of each period */
    int from, to;
    bool is_over; /* the last pause is longer than any before */
};

static const struct schedule schedules[] = {
    {"steady", 240, 240, 0, 240, false}, {"start", 300, 300, 120, 300, false},
    {"middle", 320, 200, 0, 120, false}, {"end", 260, 260, 0, 130, true},
    {"twice", 360, 120, 0, 60, false},   {"bursts", 320, 40, 0, 20, false},
};

static void request(void)
{
    leak_per_request();
    leak_in_part();
    leak_in_list();
    cache_of_keys();
    cache_with_eviction();
    pool_of_slabs();
    buffer_of_request();
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void tell(const struct schedule *s, double last_request, double longest)
{
    const char *leak = s->is_over ? "stopped" : "grows";
    truth_add(
        "{\"sites\": {\"leak_per_request\": [\"%s\"], \"leak_in_part\": [\"%s\"], \"leak_in_list\": "
        "[\"%s\"], "
        "\"table_at_start\": [\"once\"], \"cache_of_keys\": [\"bounded\"], \"cache_with_eviction\": "
        "[\"bounded\"], "
        "\"pool_of_slabs\": [\"bounded\", \"once\"]}, \"last_request\": %.3f, \"longest_step\": %.3f}\n",
        leak, leak, leak, last_request, longest);
    truth_tell(1);
}

int main(int argc, char **argv)
{
    const struct schedule *s = schedules;
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules && argc > 2; i++)
        s = strcmp(argv[1], schedules[i].name) == 0 ? &schedules[i] : s;
    if (argc < 3 || strcmp(argv[1], s->name) != 0)
        _exit(97);
    struct timespec pause = {0, (argc > 3 ? atoi(argv[3]) : 4000) * 1000L};
    double begin = seconds(), last = begin, longest = 0, last_request = 0;
    table_at_start();
    for (int step = 0; step < s->steps; step++) {
        int at = step % s->period;
        if (at >= s->from && at < s->to) {
            request();
            last_request = seconds() - begin;
        } else if (step % 16 == 0) {
            buffer_of_timer();
        }
        nanosleep(&pause, NULL);
        double now = seconds();
        longest = now - last > longest ? now - last : longest;
        last = now;
    }
    tell(s, last_request, longest);
    if (strcmp(argv[2], "kill") == 0)
        kill(getpid(), SIGKILL);
    for (int i = 0; i < session_count; i++)
        free(sessions[i]);
    return 0;
}
