/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * suppressed: see suppressed.h.
 */
#include "present/suppressed.h"

#include "present/safe.h"
#include "present/table.h"
#include "present/units.h"

#include <string.h>

enum { SUPPRESSED_RULES = 20 }; /* of the table */

void suppressed_note(struct strbuf *out, enum measure measure, const struct suppress *s)
{
    char a[UNITS_MAX];
    if (measure == MEASURE_LEAKED && s != NULL && suppress_blocks(s) != 0)
        strbuf_addf(out, ", without %s suppressed", units_bytes(a, suppress_bytes(s)));
}

/* Rules of one name count as one, which is the first of them.  False: this is not it, or none fitted. */
static bool suppressed_rule(const struct suppress *s, size_t i, struct suppress_rule *sum)
{
    *sum = s->rules.data[i];
    for (size_t k = 0; k < s->rules.count; k++) {
        const struct suppress_rule *r = &s->rules.data[k];
        if (k == i || r->built_in != sum->built_in || strcmp(r->pattern, sum->pattern) != 0)
            continue;
        if (k < i)
            return false;
        sum->bytes += r->bytes;
        sum->blocks += r->blocks;
    }
    return sum->blocks != 0;
}

void suppressed_print(struct page *p, const struct suppress *s)
{
    struct table t;
    char a[UNITS_MAX];
    table_init(&t, 3);
    for (size_t i = 0; s != NULL && i < s->rules.count; i++) {
        struct suppress_rule r;
        if (t.cells.count >= SUPPRESSED_RULES * 3 || !suppressed_rule(s, i, &r))
            continue;
        if (t.cells.count == 0) {
            table_add(&t, "bytes");
            table_add(&t, "blocks");
            table_add(&t, "suppressed by");
        }
        struct strbuf name;
        strbuf_init(&name);
        safe_add_text(&name, r.pattern);
        if (r.built_in)
            strbuf_add_text(&name, " (built in)");
        table_add(&t, units_bytes(a, r.bytes));
        table_add(&t, units_count(a, r.blocks));
        table_add(&t, strbuf_get(&name));
        strbuf_release(&name);
    }
    table_print(&t, p);
    table_release(&t);
}

void suppressed_json(struct json *j, enum measure measure, const struct suppress *s)
{
    if (measure != MEASURE_LEAKED || s == NULL)
        return;
    json_open_object(j, "suppressed");
    json_add_number(j, "total_bytes", suppress_bytes(s));
    json_add_number(j, "total_blocks", suppress_blocks(s));
    json_open_array(j, "rules");
    for (size_t i = 0; i < s->rules.count; i++) {
        struct suppress_rule r;
        if (!suppressed_rule(s, i, &r))
            continue;
        json_open_object(j, NULL);
        json_add_text(j, "pattern", r.pattern, strlen(r.pattern));
        json_add_bool(j, "built_in", r.built_in);
        json_add_number(j, "bytes", r.bytes);
        json_add_number(j, "blocks", r.blocks);
        json_close_object(j);
    }
    json_close_array(j);
    json_close_object(j);
}
