/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * verdicts: see verdicts.h.
 */
#include "present/verdicts.h"

#include "present/units.h"

#include <stdio.h>
#include <string.h>

static enum colour verdicts_colour(const struct verdict *v)
{
    return v->kind == VERDICT_GROWS ? COLOUR_ALARM : COLOUR_QUIET;
}

void verdicts_print_word(struct page *p, const struct verdict *v)
{
    page_addf(p, verdicts_colour(v), "  (%s)", verdict_name(v->kind));
}

static const char *verdicts_sentence(const struct verdict *v)
{
    switch (v->kind) {
    case VERDICT_BOUNDED:
        return "bounded: fills or varies, and does not grow";
    case VERDICT_AT_EXIT:
        return "at exit: freed only when the program ends";
    case VERDICT_ONCE:
        return "once: made within a moment, and kept";
    case VERDICT_PASSING:
        return v->leaves_some ? "passing: nearly all of it has come and gone" : "passing: has come and gone";
    default:
        return "unclear: it began too late to tell";
    }
}

void verdicts_print_line(struct page *p, const struct verdict *v, size_t indent)
{
    char a[UNITS_MAX], text[160];
    if (v->kind == VERDICT_GROWS)
        snprintf(text, sizeof text, "grows: %s a minute, %.0f %% sure%s",
                 units_bytes(a, (uint64_t)v->bytes_per_minute), 100 * v->confidence,
                 v->freed_at_exit ? ", freed at exit" : "");
    else if (v->kind == VERDICT_STOPPED)
        snprintf(text, sizeof text, "stopped: grew with its calls until %s; no calls since%s",
                 units_time(a, v->until_ns), v->freed_at_exit ? ", freed at exit" : "");
    else
        snprintf(text, sizeof text, "%s", verdicts_sentence(v));
    page_addf(p, COLOUR_PLAIN, "%*s", (int)indent, "");
    page_add_wrapped(p, verdicts_colour(v), text, indent, indent);
    page_end_line(p);
}

void verdicts_json(struct json *j, const struct verdict *v)
{
    const char *name = verdict_name(v->kind);
    json_open_object(j, "verdict");
    json_add_text(j, "kind", name, strlen(name));
    if (v->kind == VERDICT_GROWS) {
        json_add_number(j, "bytes_per_minute", (uint64_t)v->bytes_per_minute);
        json_add_real(j, "confidence", v->confidence);
    } else if (v->kind == VERDICT_STOPPED) {
        json_add_number(j, "until_ns", v->until_ns);
    }
    json_add_bool(j, "freed_at_exit", v->freed_at_exit);
    json_close_object(j);
}
