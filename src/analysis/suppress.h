/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * suppress: leaks that nobody wants to hear of.
 *
 * Files have LeakSanitizer's syntax: a line `leak:PATTERN`, empty lines, and
 * comments that begin with #.  A pattern is searched in the function (as people
 * and as the linker write it), the file and the module of every frame of a
 * stack; `*` stands for any text, `^` at its beginning and `$` at its end for
 * the beginning and end of the name.
 *
 * The built-in rules (suppress_known.c) know blocks that libc, the loader and the C++ library keep
 * on purpose.  They look at the innermost frame, or at the function of libc that the program called
 * where the innermost frames are libc's: a program's own leak below
 * a static constructor has the loader in its stack too.
 *
 * Rules keep account of what they suppressed.  Not for several threads.
 */
#ifndef HW_ANALYSIS_SUPPRESS_H
#define HW_ANALYSIS_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace.h"
#include "engine/result.h"
#include "tool/arena.h"
#include "tool/err.h"
#include "tool/vec.h"

struct suppress_rule {
    const char *pattern;                               /* as written; of a built-in rule: what it is about */
    const char *innermost_module, *innermost_function; /* built-in only; NULL = any */
    const char *const *called; /* built-in only: one of these functions of libc; NULL = any */
    uint64_t size;             /* built-in only: of each block; 0 = any */
    bool built_in;
    uint64_t blocks, bytes; /* suppressed so far */
};

struct suppress {
    struct arena arena;
    VEC(struct suppress_rule) rules;
};

void suppress_init(struct suppress *s);
void suppress_release(struct suppress *s);

int suppress_no_memory(struct err *err);
/* (suppress_known.c)  ERR_MEMORY. */
int suppress_add_built_in(struct suppress *s, struct err *err);
/* name: of the file, for the sentence.  ERR_INPUT: "lsan.txt, line 3: ..."; ERR_MEMORY. */
int suppress_add_text(struct suppress *s, const char *name, const char *text, size_t length, struct err *err);

/* Whether a LeakSanitizer pattern matches a name. */
bool suppress_matches(const char *pattern, const char *name);

/* Moves the leaks of rows that a rule names out of the answer's rows and total;
 * the first rule that matches gets them on its account.  ERR_MEMORY. */
int suppress_apply(struct suppress *s, struct traces *c, struct query_result *r, struct err *err);

/* What all rules have on their accounts. */
uint64_t suppress_bytes(const struct suppress *s);
uint64_t suppress_blocks(const struct suppress *s);

#endif
