/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fatal_signal: of a signal that a command has taken for itself.
 */
#ifndef HW_CMD_FATAL_SIGNAL_H
#define HW_CMD_FATAL_SIGNAL_H

/* How many times Ctrl-C is pressed by somebody who sees that nothing comes of it. */
enum { FATAL_SIGNAL_PRESSES = 3 };

/* Takes the progress away from a terminal.  For signal handlers, as the other. */
void fatal_signal_wipe(void);
/* Ends the process as if nobody had taken the signal. */
void fatal_signal_of(int signal);

#endif
