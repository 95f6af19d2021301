/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * caveat_text: see caveat_text.h.
 *
 * A sentence is SUBJECT before ROW behind: "a.wake" " is not whole: " "12 events lost" "".  Where a kind needs another
 * order it has a sentence of its own.
 */
#include "present/caveat_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct caveat_words {
    const char *name;               /* in JSON */
    const char *count, *bytes, *ns; /* keys of the figures that it has */
    const char *label;              /* of its line */
    const char *before, *behind;    /* of a sentence; NULL: it is no such sentence */
};

static const struct caveat_words caveat_table[] = {
    [CAVEAT_DAMAGED] = {"damaged", "damages", NULL, NULL, "damage", NULL, NULL},
    [CAVEAT_UNCLOSED] = {"not-closed", "files", NULL, NULL, "", NULL, NULL},
    [CAVEAT_LOST] = {"lost-events", "events", NULL, NULL, "", " is not whole: ", ""},
    [CAVEAT_UNRECORDED] = {"unrecorded-processes", "processes", NULL, NULL, "", " is not whole: ", ""},
    [CAVEAT_OFF] = {"switched-off", NULL, NULL, "off_ns", "", " was ",
                    ": what was allocated meanwhile is not in it"},
    [CAVEAT_CUT_STACKS] = {"cut-stacks", "stacks", NULL, NULL, "", " has ", ""},
    [CAVEAT_CULLED] = {"culled", "blocks", "bytes", "threshold_ns", "culled", " was culled: ", ""},
    [CAVEAT_SAMPLED] = {"sampled", "samples", "sample_rate", NULL, "sampled", " was sampled, ", ""},
    [CAVEAT_LIMITED] = {"limited", "events", NULL, "limit_ns", "limited", " was limited: ", ""},
    [CAVEAT_MADE_UP] = {"imported-sums", NULL, NULL, NULL, "", " was ", ""},
    [CAVEAT_OMITTED] = {"omitted-blocks", "blocks", NULL, NULL, "not shown", NULL, NULL},
    [CAVEAT_TIMELINE] = {"timeline-omitted-blocks", "blocks", NULL, "limit_ns", "", NULL, NULL},
    [CAVEAT_RELEASES] = {"releases-without-stack", "releases", NULL, NULL, "not shown", NULL, NULL},
    [CAVEAT_TEMPORARY] = {"temporary-unknown", NULL, NULL, NULL, "temporary", NULL, NULL},
    [CAVEAT_LEAKED] = {"leaked-unknown", NULL, NULL, NULL, "leaked", NULL, NULL},
    [CAVEAT_MOMENT_AFTER_END] = {"moment-after-end", NULL, NULL, "end_ns", "", NULL, NULL},
    [CAVEAT_MOMENT_BEFORE] = {"moment-before-begin", NULL, NULL, "begin_ns", "", NULL, NULL},
    [CAVEAT_MOMENT_AFTER_FULL] = {"moment-after-limit", NULL, NULL, "limit_ns", "", NULL, NULL},
    [CAVEAT_INTERRUPTED] = {"interrupted", NULL, NULL, "until_ns", "", NULL, NULL},
};

_Static_assert(sizeof caveat_table / sizeof *caveat_table == CAVEAT_COUNT, "each kind has its words");

/* ------------------------------------------------------------------------ rows */

__attribute__((format(printf, 2, 3))) static void caveat_text_put(struct caveat_row *row, const char *format,
                                                                  ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(row->text, sizeof row->text, format, args);
    va_end(args);
}

static void caveat_text_fill_lost(struct caveat_row *row, const struct caveat *c)
{
    char a[UNITS_MAX];
    if (c->is_unknown)
        caveat_text_put(row, "what is missing is not known");
    else
        caveat_text_put(row, "%s event%s lost", units_count(a, c->count), units_plural(c->count));
}

static void caveat_text_fill_culled(struct caveat_row *row, const struct caveat *c)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    const char *less = units_time(a, c->ns);
    if (c->is_unknown) {
        strcpy(row->figure, "not known");
        caveat_text_put(row, "what lived less than %s:\nit is not in the file before the process ends", less);
    } else if (c->is_sampled) {
        units_count(row->figure, c->count);
        caveat_text_put(row, "sample%s lived less than %s:\nthey are in the totals, not among the events",
                        units_plural(c->count), less);
    } else {
        units_bytes(row->figure, c->bytes);
        caveat_text_put(row,
                        "in %s call%s, lived less than %s:\nthey are in the totals, not among the events",
                        units_count(b, c->count), units_plural(c->count), less);
    }
}

/* Few words, for a caption. */
static void caveat_text_fill_timeline(struct caveat_row *row, const struct caveat *c)
{
    char a[UNITS_MAX];
    if (c->ns != 0)
        caveat_text_put(row, "%sknown up to %s", c->because == CAVEAT_CULLED ? "in part " : "",
                        units_time(a, c->ns));
    else
        caveat_text_put(row, "without %s %s%s", units_count(a, c->count), c->is_sampled ? "sample" : "call",
                        units_plural(c->count));
}

static void caveat_text_fill_unknown(struct caveat_row *row, const struct caveat *c)
{
    strcpy(row->figure, "not known");
    if (c->because == CAVEAT_SAMPLED)
        caveat_text_put(row, "in a sampled recording");
    else if (c->because == CAVEAT_CULLED)
        caveat_text_put(row, "from the events of a culled recording");
    else if (c->because == CAVEAT_LIMITED)
        caveat_text_put(row, "from the events of a file that was full");
    else
        caveat_text_put(row, "of an import from sums");
}

static void caveat_text_fill_omitted(struct caveat_row *row, const struct caveat *c)
{
    units_count(row->figure, c->count);
    caveat_text_put(row, "%s are not in what follows,\nwhich is made of single events",
                    c->is_sampled ? "samples" : "calls");
}

void caveat_text_fill(struct caveat_row *row, const struct caveat *c)
{
    char a[UNITS_MAX];
    *row = (struct caveat_row){.label = caveat_table[c->kind].label};
    switch (c->kind) {
    case CAVEAT_LOST:
        caveat_text_fill_lost(row, c);
        break;
    case CAVEAT_UNRECORDED:
        caveat_text_put(row, "%s more process%s not in the recording", units_count(a, c->count),
                        c->count == 1 ? " is" : "es are");
        break;
    case CAVEAT_OFF:
        caveat_text_put(row, "switched off for %s", units_time(a, c->ns));
        break;
    case CAVEAT_CUT_STACKS:
        caveat_text_put(row, "%s cut stack%s", units_count(a, c->count), units_plural(c->count));
        break;
    case CAVEAT_CULLED:
        caveat_text_fill_culled(row, c);
        break;
    case CAVEAT_SAMPLED:
        units_count(row->figure, c->count);
        caveat_text_put(row, "blocks, one in %s: all figures are estimates", units_bytes(a, c->bytes));
        break;
    case CAVEAT_LIMITED:
        units_count(row->figure, c->count);
        caveat_text_put(row, "later events are in the totals only:\nthe file was full at %s",
                        units_time(a, c->ns));
        break;
    case CAVEAT_MADE_UP:
        caveat_text_put(row, "imported from sums: nothing is known of single blocks");
        break;
    case CAVEAT_OMITTED:
        caveat_text_fill_omitted(row, c);
        break;
    case CAVEAT_TIMELINE:
        caveat_text_fill_timeline(row, c);
        break;
    case CAVEAT_RELEASES:
        units_count(row->figure, c->count);
        caveat_text_put(row,
                        "blocks: where they were freed was not recorded\n(heapwake record --free-stacks)");
        break;
    case CAVEAT_TEMPORARY:
    case CAVEAT_LEAKED:
        caveat_text_fill_unknown(row, c);
        break;
    default: /* a sentence only */
        break;
    }
}

void caveat_text_add_short(struct strbuf *out, const struct caveat *c)
{
    struct caveat_row row;
    caveat_text_fill(&row, c);
    strbuf_addf(out, "%s%s", row.figure, row.figure[0] == '\0' ? "" : " ");
    for (const char *at = row.text; *at != '\0'; at++)
        strbuf_add_char(out, *at == '\n' ? ' ' : *at);
}

/* ------------------------------------------------------------------- sentences */

static void caveat_text_add_damaged(struct strbuf *out, const struct caveat *c, const char *subject)
{
    char a[UNITS_MAX];
    strbuf_addf(out, "%s: %s ", subject, c->text);
    if (c->count > 1)
        strbuf_addf(out, "That is one of %s damages, which 'heapwake verify' names; shown is what is sound",
                    units_count(a, c->count));
    else
        strbuf_add_text(out, "Shown is what is sound");
}

static void caveat_text_add_omitted(struct strbuf *out, const struct caveat *c, const char *subject)
{
    char a[UNITS_MAX];
    strbuf_addf(out,
                "%s is made of single events: %s %s%s that the recording knows by count alone %s not in it",
                subject, units_count(a, c->count), c->is_sampled ? "sample" : "block", units_plural(c->count),
                c->count == 1 ? "is" : "are");
}

static void caveat_text_add_moment(struct strbuf *out, const struct caveat *c)
{
    char a[UNITS_MAX];
    units_time(a, c->ns);
    if (c->kind == CAVEAT_MOMENT_AFTER_END)
        strbuf_addf(out, "The recording ends at %s: a later moment is taken as that", a);
    else if (c->kind == CAVEAT_MOMENT_BEFORE)
        strbuf_addf(
            out, "This file of a series begins at %s: what was %s before is in earlier ones. Name them too",
            a, c->text);
    else
        strbuf_addf(out, "The file was full at %s: what was live then counts as live at all later moments",
                    a);
}

static void caveat_text_add_interrupted(struct strbuf *out, const struct caveat *c)
{
    char a[UNITS_MAX];
    if (c->is_unknown)
        strbuf_add_text(out, "Interrupted: shown is what had been read by then");
    else
        strbuf_addf(out, "Interrupted: the lists are about the time up to %s only", units_time(a, c->ns));
}

/* "Temporary: not known in a sampled recording" */
static void caveat_text_add_list(struct strbuf *out, const struct caveat *c, const char *title)
{
    strbuf_addf(out, "%s: ", title);
    caveat_text_add_short(out, c);
}

void caveat_text_add(struct strbuf *out, const struct caveat *c, const char *subject)
{
    const struct caveat_words *words = &caveat_table[c->kind];
    switch (c->kind) {
    case CAVEAT_DAMAGED:
        caveat_text_add_damaged(out, c, subject);
        break;
    case CAVEAT_UNCLOSED:
        strbuf_addf(
            out,
            "%s was not closed by its recorder: it is still being made, or was cut. Shown is what is in it",
            subject);
        break;
    case CAVEAT_OMITTED:
        caveat_text_add_omitted(out, c, subject);
        break;
    case CAVEAT_TIMELINE:
        caveat_text_add_list(out, c, "The timeline");
        break;
    case CAVEAT_RELEASES:
        caveat_text_add_list(out, c, "Not shown");
        break;
    case CAVEAT_TEMPORARY:
        caveat_text_add_list(out, c, "Temporary");
        break;
    case CAVEAT_LEAKED:
        caveat_text_add_list(out, c, "Leaked");
        break;
    case CAVEAT_MOMENT_AFTER_END:
    case CAVEAT_MOMENT_BEFORE:
    case CAVEAT_MOMENT_AFTER_FULL:
        caveat_text_add_moment(out, c);
        break;
    case CAVEAT_INTERRUPTED:
        caveat_text_add_interrupted(out, c);
        break;
    default:
        strbuf_addf(out, "%s%s", subject, words->before);
        caveat_text_add_short(out, c);
        strbuf_add_text(out, words->behind);
        break;
    }
}

/* ------------------------------------------------------------------------ JSON */

static void caveat_text_add_figure(struct json *j, const char *key, uint64_t value, bool is_unknown)
{
    if (key == NULL)
        return;
    if (is_unknown)
        json_add_null(j, key);
    else
        json_add_number(j, key, value);
}

void caveat_text_json(struct json *j, const struct caveats *list)
{
    struct strbuf text;
    strbuf_init(&text);
    json_open_array(j, "caveats");
    for (enum caveat_kind kind = 0; kind < CAVEAT_COUNT; kind++) {
        const struct caveat *c = caveats_find(list, kind);
        const struct caveat_words *words = &caveat_table[kind];
        if (c == NULL)
            continue;
        strbuf_clear(&text);
        caveat_text_add(&text, c, kind == CAVEAT_OMITTED ? "The answer" : "The recording");
        strbuf_add_char(&text, '.');
        json_open_object(j, NULL);
        json_add_text(j, "kind", words->name, strlen(words->name));
        caveat_text_add_figure(j, words->count, c->count, c->is_unknown);
        caveat_text_add_figure(j, words->bytes, c->bytes, c->is_unknown);
        caveat_text_add_figure(j, words->ns, c->ns, kind == CAVEAT_INTERRUPTED && c->is_unknown);
        if (c->because != CAVEAT_COUNT)
            json_add_text(j, "because", caveat_table[c->because].name, strlen(caveat_table[c->because].name));
        json_add_text(j, "text", strbuf_get(&text), text.length);
        json_close_object(j);
    }
    json_close_array(j);
    j->out->failed |= text.failed;
    strbuf_release(&text);
}
