/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * side: see side.h.
 */
#include "cmd/side.h"

#include "session/known_leaks.h"
#include "query/combine.h"

#include <string.h>

void side_init(struct side *s)
{
    memset(s, 0, sizeof *s);
    query_result_init(&s->result);
    suppress_init(&s->suppress);
    sites_init(&s->sites);
}

void side_release(struct side *s)
{
    sites_release(&s->sites);
    suppress_release(&s->suppress);
    query_result_release(&s->result);
    if (s->reader != NULL && !s->is_borrowed)
        wake_reader_close(s->reader);
    s->reader = NULL;
}

void side_borrow(struct side *s, const struct side *from)
{
    s->reader = from->reader;
    s->is_borrowed = true;
}

int side_suppress(struct side *s, const char *const *paths, size_t count, bool built_in, struct err *err)
{
    return known_leaks_read(&s->suppress, paths, count, built_in, err);
}

int side_read(struct side *s, struct asking *a, struct traces *c, const struct query *q, const char *path,
              struct err *err)
{
    struct query_result answer;
    uint32_t base = 0;
    if (s->reader == NULL)
        s->reader = asking_open(a, path, err);
    if (s->reader == NULL)
        return err->code != 0 ? err->code : ERR_INPUT;
    query_result_init(&answer);
    int code = traces_add_reader(c, s->reader, &base, err);
    if (code == 0)
        code = asking_run(a, q, s->reader, &answer, err);
    if (code == 0)
        code = combine_add(&s->result, &answer, base, err);
    s->result.to_ns = answer.to_ns;
    s->result.moment_ns = answer.moment_ns;
    query_result_release(&answer);
    if (code == 0)
        code = suppress_apply(&s->suppress, c, &s->result, err);
    return code == 0 ? sites_add(&s->sites, c, s->result.rows.data, s->result.rows.count, err) : code;
}
