/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sieve: which stacks a report is about, by what their frames are called.
 *
 * A rule is an extended regular expression (POSIX) that is searched in the
 * function, the file and the module of a frame.  A stack is kept when no frame
 * matches an exclude and, if there are includes, some frame matches one.
 */
#ifndef HW_QUERY_SIEVE_H
#define HW_QUERY_SIEVE_H

#include <stdbool.h>
#include <stdint.h>

#include "query/result.h"
#include "tool/err.h"
#include "tool/vec.h"

struct traces;
struct sieve_rule;

struct sieve {
    VEC(struct sieve_rule *) rules;
    bool has_include;
};

void sieve_init(struct sieve *s);
void sieve_release(struct sieve *s);

/* ERR_USAGE: not a regular expression, the sentence says why; ERR_MEMORY. */
int sieve_add(struct sieve *s, const char *pattern, bool exclude, struct err *err);
bool sieve_keeps(const struct sieve *s, const struct traces *c, uint32_t trace);

/* Takes the rows that are not kept out of an answer (their processes count as
 * in c) and makes its total that of the others.  ERR_MEMORY. */
int sieve_apply(const struct sieve *s, struct traces *c, struct query_result *r, struct err *err);

#endif
