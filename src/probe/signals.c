/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * signals: a signal that stands for a wish (wire/segment.h): toggle, report or tag.
 *
 * Off unless asked for: a program must not notice us. The handler counts the
 * wish in the shared page and does nothing else; the collector acts on it,
 * even when the program never calls malloc again.
 *
 * A program that installs a handler of its own, or ignores the signal, has its
 * way: ours is replaced. What it must not see is ours: asked for the former
 * handler it gets the one that would be there without us. Setting the default,
 * as programs do at their start for all signals, leaves ours.
 *
 * While the options are off, sigaction and signal go straight through.
 */
#include "probe/signals.h"

#include "probe/environment.h"
#include "probe/hook.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/real.h"

#include <signal.h>

static struct signals_watch {
    const char *variable;
    int signal;
    bool is_on;
    enum segment_wish wish;
    struct sigaction seen; /* what the program believes to be there */
} signals_watched[] = {
    {.variable = "HEAPWAKE_SIGUSR1", .signal = SIGUSR1},
    {.variable = "HEAPWAKE_SIGUSR2", .signal = SIGUSR2},
};

enum { SIGNALS_COUNT = sizeof signals_watched / sizeof *signals_watched };

static struct signals_watch *signals_find(int signal)
{
    for (unsigned i = 0; i < SIGNALS_COUNT; i++) {
        if (signals_watched[i].signal == signal && signals_watched[i].is_on)
            return &signals_watched[i];
    }
    return NULL;
}

static void signals_handle(int signal)
{
    const struct signals_watch *w = signals_find(signal);
    struct segment_head *head = share.head;
    if (w != NULL && head != NULL && *lane_fork_word == 1)
        __atomic_fetch_add(&head->wishes[w->wish], 1, __ATOMIC_RELEASE);
}

void signals_open(bool is_recording)
{
    static const char *const words[SEGMENT_WISHES] = {
        [SEGMENT_WISH_TOGGLE] = "toggle", [SEGMENT_WISH_REPORT] = "report", [SEGMENT_WISH_TAG] = "tag"};
    int (*install)(int, const struct sigaction *, struct sigaction *) = real_look()->sigaction;
    for (unsigned i = 0; i < SIGNALS_COUNT && is_recording && install != NULL; i++) {
        struct signals_watch *w = &signals_watched[i];
        for (unsigned k = 0; k < SEGMENT_WISHES; k++) {
            if (!environment_is(w->variable, words[k]))
                continue;
            struct sigaction ours;
            memory_zero(&ours, sizeof ours);
            ours.sa_handler = signals_handle;
            ours.sa_flags = SA_RESTART;
            w->wish = (enum segment_wish)k;
            w->is_on = install(w->signal, &ours, &w->seen) == 0;
        }
    }
}

/* Is ours still there?  Then *w is the signal's entry. */
static struct signals_watch *signals_find_ours(const struct real *call, int signal)
{
    struct signals_watch *w = signals_find(signal);
    struct sigaction there;
    if (w == NULL || call->sigaction(signal, NULL, &there) != 0)
        return NULL;
    return (there.sa_flags & SA_SIGINFO) == 0 && there.sa_handler == signals_handle ? w : NULL;
}

static bool signals_is_default(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) == 0 && action->sa_handler == SIG_DFL;
}

HOOK int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    const struct real *call = life_real();
    if (call == NULL) {
        errno = EAGAIN;
        return -1;
    }
    struct signals_watch *w = signals_find_ours(call, number);
    if (HOOK_OFTEN(w == NULL))
        return call->sigaction(number, action, old);
    struct sigaction seen = w->seen;
    if (action != NULL && !signals_is_default(action) && call->sigaction(number, action, NULL) != 0)
        return -1;
    if (action != NULL)
        w->seen = *action;
    if (old != NULL)
        *old = seen;
    return 0;
}

HOOK real_handler signal(int number, real_handler handler)
{
    const struct real *call = life_real();
    if (call == NULL) {
        errno = EAGAIN;
        return SIG_ERR;
    }
    struct signals_watch *w = signals_find_ours(call, number);
    real_handler former = w == NULL ? SIG_DFL : w->seen.sa_handler;
    real_handler replaced = w == NULL || handler != SIG_DFL ? call->signal(number, handler) : former;
    if (w == NULL || replaced == SIG_ERR)
        return replaced;
    memory_zero(&w->seen, sizeof w->seen);
    w->seen.sa_handler = handler;
    return former;
}
