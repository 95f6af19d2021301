/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * dying: of a signal that a command has taken for itself.
 */
#ifndef HW_CMD_DYING_H
#define HW_CMD_DYING_H

/* How many times Ctrl-C is pressed by somebody who sees that nothing comes of it. */
enum { DYING_PRESSES = 3 };

/* Takes the progress away from a terminal.  For signal handlers, as the other. */
void dying_wipe(void);
/* Ends the process as if nobody had taken the signal. */
void dying_of(int signal);

#endif
