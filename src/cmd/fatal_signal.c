/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fatal_signal: see fatal_signal.h.
 */
#include "cmd/fatal_signal.h"

#include <signal.h>
#include <unistd.h>

void fatal_signal_wipe(void)
{
    static const char over_progress[] = "\r\033[K";
    if (isatty(STDERR_FILENO) == 1 && write(STDERR_FILENO, over_progress, sizeof over_progress - 1) < 0)
        return; /* there is nowhere else to say it */
}

void fatal_signal_of(int signal)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigaction(signal, &usual, NULL);
    (void)raise(signal);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
