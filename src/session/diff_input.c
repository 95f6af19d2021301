/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * diff_input: see diff_input.h.
 */
#include "session/diff_input.h"

#include "engine/combine.h"
#include "session/known_leaks.h"

#include <string.h>

void diff_input_init(struct diff_input *s)
{
    memset(s, 0, sizeof *s);
    query_result_init(&s->result);
    suppress_init(&s->suppress);
    sites_init(&s->sites);
}

void diff_input_release(struct diff_input *s)
{
    sites_release(&s->sites);
    suppress_release(&s->suppress);
    query_result_release(&s->result);
    if (!s->is_borrowed)
        session_close(s->session);
    s->session = NULL;
}

void diff_input_set_session(struct diff_input *s, struct session *session)
{
    s->session = session;
    s->reader = session_reader(session, 0);
}

void diff_input_borrow(struct diff_input *s, const struct diff_input *from)
{
    diff_input_set_session(s, from->session);
    s->is_borrowed = true;
}

int diff_input_suppress(struct diff_input *s, const char *const *paths, size_t count, bool built_in,
                        struct err *err)
{
    return known_leaks_read(&s->suppress, paths, count, built_in, err);
}

int diff_input_read(struct diff_input *s, struct ask *ask, struct traces *c, const struct query *q,
                    struct err *err)
{
    struct query_result answer;
    uint32_t base = 0;
    query_result_init(&answer);
    int code = traces_add_reader(c, s->reader, &base, err);
    if (code == 0)
        code = session_ask_one(s->session, 0, q, ask, &answer, err);
    if (code == 0)
        code = combine_add(&s->result, &answer, base, err);
    query_result_release(&answer);
    if (code == 0)
        code = suppress_apply(&s->suppress, c, &s->result, err);
    return code == 0 ? sites_add(&s->sites, c, s->result.rows.data, s->result.rows.count, err) : code;
}
