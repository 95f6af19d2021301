/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * result: see result.h.
 */
#include "engine/result.h"

void query_result_init(struct query_result *r)
{
    *r = (struct query_result){0};
}

void query_result_release(struct query_result *r)
{
    vec_release(&r->rows);
    vec_release(&r->timeline);
    vec_release(&r->peaks);
    query_result_init(r);
}
