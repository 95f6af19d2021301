/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * procfs: the few things the collector asks of /proc.  All of them may fail
 * (hidepid, no /proc, process gone); then the answer is "not known".
 */
#ifndef HW_COLLECT_PROCFS_H
#define HW_COLLECT_PROCFS_H

#include "tool/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The start of /proc/PID/name as text; false: not to be had. */
bool procfs_read(uint32_t pid, const char *name, char *text, size_t size);

/* Are we in a PID namespace other than the machine's own? Where that is not known: yes. */
bool procfs_is_contained(void);

/* The parent of a process; 0: not known. */
uint32_t procfs_parent(uint32_t pid);

typedef void procfs_inner_fn(void *of, uint32_t inner);
/* All numbers that living processes have in PID namespaces below ours.  False: not known. */
bool procfs_visit_inner(procfs_inner_fn *visit, void *of);

/* Resident bytes of a process; 0: not known. */
uint64_t procfs_rss(uint32_t pid);

struct procfs_status {
    long filters;      /* changes when a seccomp filter is installed; -1: not known */
    uint64_t peak_rss; /* bytes; 0 = not known */
};

/* Appends the whole path of the file that a process has mapped at an address; false: it is not known. */
bool procfs_find_mapped(uint32_t pid, uint64_t address, struct strbuf *path);

void procfs_read_status(uint32_t pid, struct procfs_status *status);

#endif
