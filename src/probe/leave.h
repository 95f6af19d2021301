/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * leave: the end of a process, where its collector may be killed at the same moment, or has never been.
 *
 * A spool is sealed (wire/seal.h). And when the first process of a PID namespace ends (of a container: often a shell), the kernel kills all
 * others in it, a collector that LD_PRELOAD alone has started among them. Such a collector says so in the segment
 * (wait_at_end), and the process does not end before its events are in the file; the last one not before the file is
 * closed and has its name: two seconds at most. Anywhere else the end costs a look at that word.
 *
 * Seen are `_exit`, `_Exit`, exit and a return from main (behind all destructors and handlers), quick_exit (likewise),
 * and abort: where a handler of SIGABRT may let the process go on, its events are written and nothing is closed. Not seen:
 * signals, libc's own calls of abort, exit_group by syscall().
 */
#ifndef HW_PROBE_LEAVE_H
#define HW_PROBE_LEAVE_H

/* Once, at birth, when libc may be called. */
void leave_open(void);

#endif
