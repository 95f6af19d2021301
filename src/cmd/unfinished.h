/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unfinished: a file that is being made, and is not to stay when Ctrl-C, SIGTERM or a
 * hangup ends the command half way.
 *
 *     unfinished_hold();          signals wait while the file is made; unfinished_leave() if it is not
 *     unfinished_guard(path);     from here on a signal removes it, says so and ends the command
 *     unfinished_settle();        from here on signals wait
 *     rename or unlink
 *     unfinished_leave();         as it was before
 *
 * One at a time in a process.  A signal that was ignored stays ignored (nohup).
 */
#ifndef HW_CMD_UNFINISHED_H
#define HW_CMD_UNFINISHED_H

void unfinished_hold(void);
/* The path has to last until unfinished_settle(). */
void unfinished_guard(const char *path);
void unfinished_settle(void);
void unfinished_leave(void);

#endif
