/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unfinished: see unfinished.h.  The handler does all of it, so nobody who reads or
 * writes has to ask now and then: there is nothing to be kept of half a recording.
 * It calls only what a handler may call.
 */
#include "cmd/unfinished.h"

#include "cmd/command.h"
#include "cmd/fatal_signal.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static const int unfinished_signals[] = {SIGINT, SIGTERM, SIGHUP};

enum { UNFINISHED_SIGNALS = sizeof unfinished_signals / sizeof *unfinished_signals };

static struct sigaction unfinished_before[UNFINISHED_SIGNALS];
static sigset_t unfinished_mask_before;
static const char *unfinished_path;
static bool unfinished_is_held;

static void unfinished_set(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < UNFINISHED_SIGNALS; i++)
        sigaddset(set, unfinished_signals[i]);
}

/* Ctrl-C fails the command, as with those that make nothing else; the others are died of. */
static void unfinished_end(int signal)
{
    static const char sentence[] = "heapwake: Interrupted; nothing was written.\n";
    unlink(unfinished_path);
    fatal_signal_wipe();
    ssize_t done = write(STDERR_FILENO, sentence, sizeof sentence - 1);
    (void)done; /* there is nowhere else to say it */
    if (signal == SIGINT)
        _exit(EXIT_FAILED);
    fatal_signal_of(signal);
}

static void unfinished_block(void)
{
    sigset_t set;
    unfinished_set(&set);
    pthread_sigmask(SIG_BLOCK, &set, &unfinished_mask_before);
}

void unfinished_hold(void)
{
    unfinished_block();
    unfinished_is_held = true;
}

void unfinished_guard(const char *path)
{
    struct sigaction end = {.sa_handler = unfinished_end, .sa_flags = SA_RESTART};
    unfinished_set(&end.sa_mask);
    unfinished_path = path;
    for (size_t i = 0; i < UNFINISHED_SIGNALS; i++) {
        sigaction(unfinished_signals[i], NULL, &unfinished_before[i]);
        if (unfinished_before[i].sa_handler != SIG_IGN)
            sigaction(unfinished_signals[i], &end, NULL);
    }
    if (unfinished_is_held)
        unfinished_leave();
}

void unfinished_settle(void)
{
    unfinished_block();
    for (size_t i = 0; i < UNFINISHED_SIGNALS; i++)
        sigaction(unfinished_signals[i], &unfinished_before[i], NULL);
}

void unfinished_leave(void)
{
    unfinished_is_held = false;
    pthread_sigmask(SIG_SETMASK, &unfinished_mask_before, NULL);
}
