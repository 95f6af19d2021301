/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * name: where a recording goes: patterns with %e %p %t %n %h %j %r %%.
 *
 *     %e  base name of the program      %n  smallest number that makes the name unused
 *     %p  process id                    %h  host name
 *     %t  seconds since 1970            %%  a percent sign
 *     %j  job of the batch system       %r  rank in an MPI program        (0 where there is none)
 *
 * A pattern without %p, %n and %r holds a whole process tree in one file; with %p or %n each
 * process gets its own, with %r each rank.  What comes from the program (%e, %j, %r) is made
 * safe: slashes, control bytes and a leading dot become '_'.
 */
#ifndef HW_COLLECT_NAME_H
#define HW_COLLECT_NAME_H

#include "tool/err.h"
#include "tool/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

#define NAME_DEFAULT "%e.%p.wake"

struct name_facts {
    const char *exe; /* path of the program */
    uint32_t pid;
    uint64_t seconds;
    const char *job, *rank; /* NULL or "" = none */
};

/* Is it a pattern that we can follow, in a folder that we can write to?
 * ERR_USAGE (unknown %x, empty) or ERR_IO with a sentence. */
int name_check(const char *pattern, struct err *err);
/* Do processes get files of their own? */
bool name_is_per_process(const char *pattern);
/* Does nobody come back to a file whose processes are over?  To that of a rank its next program does. */
bool name_is_used_once(const char *pattern);
/* Appends the name.  ERR_MEMORY, or ERR_USAGE for a pattern that name_check refuses. */
int name_expand(struct strbuf *out, const char *pattern, const struct name_facts *facts, struct err *err);

#endif
