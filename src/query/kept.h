/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * kept: the latest answers about a recording, for whoever asks the same again to show it in another way.
 *
 * Two questions are the same when all that is in the query is, texts by their letters, and the recording
 * has as many names as before.  One that asks a function of the caller which stacks count (keeps_stack) is
 * never kept, nor is an answer that was interrupted or is large.
 */
#ifndef HW_QUERY_KEPT_H
#define HW_QUERY_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/query.h"
#include "query/result.h"
#include "store/reader.h"
#include "tool/strbuf.h"

enum {
    KEPT_COUNT = 4,
    KEPT_BYTES = 8 << 20, /* of one answer, at most */
};

struct kept_answer {
    struct strbuf question; /* empty: there is none */
    struct query_result result;
    uint64_t used; /* the higher the later */
};

struct kept {
    struct kept_answer answers[KEPT_COUNT];
    uint64_t uses;
};

void kept_init(struct kept *k);
void kept_release(struct kept *k);

/* The question in bytes.  False: it is none to be kept, or there is no memory. */
bool kept_spell(struct strbuf *to, const struct query *q, struct wake_reader *reader);
/* False: not kept, or no memory; *result is empty then.  It says that no event was read. */
bool kept_find(struct kept *k, const struct strbuf *question, struct query_result *result);
/* Keeps a copy, if there is memory. */
void kept_add(struct kept *k, const struct strbuf *question, const struct query_result *result);

#endif
