/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * details: see details.h.
 */
#include "present/details.h"

#include "present/units.h"

/* Calls a second, from the first to the last; 0 = there was one, or all came at once. */
static double details_rate(const struct metrics *m)
{
    uint64_t ns = m->last_ns - m->first_ns;
    return m->allocated_blocks < 2 || ns == 0 ? 0 : (double)(m->allocated_blocks - 1) * 1e9 / (double)ns;
}

/* Events less than a microsecond apart share one time. */
static const char *details_lifetime(char *text, uint64_t ns)
{
    return ns < 1000 ? "under 1 us" : units_time(text, ns);
}

static void details_add_lifetimes(struct strbuf *out, const struct metrics *m)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    if (m->freed_blocks == 0) {
        strbuf_add_text(out, "none freed");
        return;
    }
    strbuf_add_text(out, "lived ");
    if (m->lifetime_min_ns >= 1000 && m->lifetime_min_ns != m->lifetime_max_ns)
        strbuf_addf(out, "%s to ", units_time(a, m->lifetime_min_ns));
    else if (m->lifetime_min_ns < 1000 && m->lifetime_max_ns >= 1000)
        strbuf_add_text(out, "up to ");
    strbuf_add_text(out, details_lifetime(b, m->lifetime_max_ns));
    if (m->freed_blocks > 1 && m->lifetime_median_ns != METRICS_NO_MEDIAN)
        strbuf_addf(out, " (median %s)", details_lifetime(a, m->lifetime_median_ns));
}

static void details_add_calls(struct strbuf *out, const struct metrics *m)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    double rate = details_rate(m);
    if (rate >= 10)
        strbuf_addf(out, "; %s calls a second", units_count(a, (uint64_t)(rate + 0.5)));
    else if (rate > 0)
        strbuf_addf(out, "; a call every %s", units_time(a, (uint64_t)(1e9 / rate)));
    strbuf_addf(out, rate > 0 ? ", %s to %s" : "; made at %s", units_time(a, m->first_ns),
                units_time(b, m->last_ns));
}

void details_print(struct page *p, const struct metrics *m, size_t indent)
{
    char a[UNITS_MAX];
    struct strbuf text;
    strbuf_init(&text);
    details_add_lifetimes(&text, m);
    strbuf_addf(&text, "; %s of slack", units_bytes(a, m->slack_bytes));
    details_add_calls(&text, m);
    page_addf(p, COLOUR_PLAIN, "%*s", (int)indent, "");
    page_add_wrapped(p, COLOUR_QUIET, strbuf_get(&text), indent, indent);
    page_end_line(p);
    p->out->failed |= text.failed;
    strbuf_release(&text);
}

static void details_add_known(struct json *j, const char *name, uint64_t value, bool is_known)
{
    if (is_known)
        json_add_number(j, name, value);
    else
        json_add_null(j, name);
}

void details_json(struct json *j, const struct metrics *m)
{
    bool has_freed = m->freed_blocks != 0, has_any = m->allocated_blocks != 0;
    json_open_object(j, "details");
    json_add_number(j, "allocated_bytes", m->allocated_bytes);
    json_add_number(j, "allocated_blocks", m->allocated_blocks);
    json_add_number(j, "freed_blocks", m->freed_blocks);
    json_add_number(j, "slack_bytes", m->slack_bytes);
    details_add_known(j, "first_ns", m->first_ns, has_any);
    details_add_known(j, "last_ns", m->last_ns, has_any);
    json_add_real(j, "per_second", details_rate(m));
    details_add_known(j, "lifetime_min_ns", m->lifetime_min_ns, has_freed);
    details_add_known(j, "lifetime_median_ns", m->lifetime_median_ns,
                      has_freed && m->lifetime_median_ns != METRICS_NO_MEDIAN);
    details_add_known(j, "lifetime_max_ns", m->lifetime_max_ns, has_freed);
    json_close_object(j);
}
