/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * kept: see kept.h.
 */
#include "query/kept.h"

#include <string.h>

#include "store/names.h"

/* Who gives queries a further member spells it below. */
_Static_assert(sizeof(void *) != 8 || (sizeof(struct query_filter) == 872 && sizeof(struct query) == 1144),
               "kept_spell knows every member of a query");

void kept_init(struct kept *k)
{
    memset(k, 0, sizeof *k);
}

void kept_release(struct kept *k)
{
    for (unsigned i = 0; i < KEPT_COUNT; i++) {
        strbuf_release(&k->answers[i].question);
        query_result_release(&k->answers[i].result);
    }
    kept_init(k);
}

/* ---------------------------------------------------------------- spelling */

static void kept_spell_text(struct strbuf *to, const char *text)
{
    strbuf_add_varint(to, text != NULL);
    if (text != NULL)
        strbuf_add(to, text, strlen(text) + 1);
}

static void kept_spell_percent(struct strbuf *to, double percent)
{
    strbuf_add(to, &percent, sizeof percent);
}

static void kept_spell_time(struct strbuf *to, const struct query_time *t)
{
    strbuf_add_varint(to, t->when);
    if (t->when == WHEN_NS || t->when == WHEN_DATE)
        strbuf_add_varint(to, t->ns);
    else if (t->when == WHEN_PERCENT)
        kept_spell_percent(to, t->percent);
    else if (t->when == WHEN_MARK)
        kept_spell_text(to, t->mark);
}

static void kept_spell_range(struct strbuf *to, const struct query_range *r)
{
    strbuf_add_varint(to, r->min);
    strbuf_add_varint(to, r->max);
}

static void kept_spell_amount(struct strbuf *to, const struct query_amount *a)
{
    strbuf_add_varint(to, a->is_set + (a->is_set && a->is_percent));
    strbuf_add_varint(to, a->is_set && !a->is_percent ? a->number : 0);
    kept_spell_percent(to, a->is_set && a->is_percent ? a->percent : 0);
}

static void kept_spell_numbers(struct strbuf *to, const struct query_numbers *numbers)
{
    strbuf_add_varint(to, numbers->count);
    for (size_t i = 0; i < numbers->count; i++)
        strbuf_add_varint(to, numbers->data[i]);
}

static void kept_spell_threads(struct strbuf *to, const struct query_thread *threads, size_t count)
{
    strbuf_add_varint(to, count);
    for (size_t i = 0; i < count; i++) {
        kept_spell_text(to, threads[i].name);
        strbuf_add_varint(to, threads[i].name == NULL ? threads[i].tid : 0);
    }
}

static void kept_spell_patterns(struct strbuf *to, const struct query_pattern *patterns, size_t count)
{
    strbuf_add_varint(to, count);
    for (size_t i = 0; i < count; i++) {
        strbuf_add_varint(to, patterns[i].field);
        strbuf_add_varint(to, patterns[i].negated);
        kept_spell_text(to, patterns[i].text);
    }
}

static void kept_spell_filter(struct strbuf *to, const struct query_filter *f)
{
    const struct query_time *times[] = {&f->allocated_from, &f->allocated_to,    &f->freed_from,
                                        &f->freed_to,       &f->kept_until,      &f->alive_at,
                                        &f->alive_at_2,     &f->group_peak_from, &f->group_peak_to};
    const struct query_range *ranges[] = {&f->size,
                                          &f->usable,
                                          &f->slack,
                                          &f->address,
                                          &f->lifetime,
                                          &f->depth,
                                          &f->chain_length,
                                          &f->chain_position,
                                          &f->chain_first_size,
                                          &f->chain_last_size,
                                          &f->chain_lifetime,
                                          &f->group_allocations,
                                          &f->peak_rss};
    const struct query_amount *amounts[] = {&f->group_leaked_min, &f->group_leaked_max,
                                            &f->group_interval_min, &f->group_interval_max};
    const struct query_numbers *lists[] = {&f->stacks, &f->not_stacks, &f->freeing_stacks,
                                           &f->not_freeing_stacks, &f->mappings};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        kept_spell_time(to, times[i]);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        kept_spell_range(to, ranges[i]);
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        kept_spell_amount(to, amounts[i]);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        kept_spell_numbers(to, lists[i]);
    strbuf_add_varint(to, f->allocated);
    strbuf_add_varint(to, f->freed);
    strbuf_add_varint(to, f->states);
    strbuf_add_varint(to, f->kinds);
    strbuf_add_varint(to, f->mapped);
    strbuf_add_varint(to, f->arena);
    kept_spell_text(to, f->mark);
    strbuf_add_varint(to, f->rights);
    strbuf_add_varint(to, f->no_rights);
    kept_spell_threads(to, f->threads.data, f->threads.count);
    kept_spell_threads(to, f->freeing_threads.data, f->freeing_threads.count);
    kept_spell_patterns(to, f->patterns.data, f->patterns.count);
    kept_spell_patterns(to, f->freeing_patterns.data, f->freeing_patterns.count);
}

/* Names may be added to an open recording. */
static void kept_spell_names(struct strbuf *to, const struct query *q, struct wake_reader *reader)
{
    const struct names *names =
        q->filter.patterns.count + q->filter.freeing_patterns.count > 0 ? wake_reader_names(reader) : NULL;
    strbuf_add_varint(to, names == NULL ? 0 : names_count(names) + 1);
    strbuf_add(to, &q->find_place, sizeof q->find_place);
    strbuf_add(to, &q->place_context, sizeof q->place_context);
}

bool kept_spell(struct strbuf *to, const struct query *q, struct wake_reader *reader)
{
    if (q->keeps_stack != NULL || q->key_of_mappings != NULL || q->filter.blocks_from != NULL ||
        q->filter.blocks != NULL)
        return false;
    kept_spell_numbers(to, &q->pids);
    kept_spell_time(to, &q->from);
    kept_spell_time(to, &q->to);
    kept_spell_time(to, &q->moment);
    strbuf_add_varint(to, q->split);
    strbuf_add_varint(to, q->want);
    strbuf_add_varint(to, q->ticks);
    strbuf_add_varint(to, q->rough_ticks);
    strbuf_add_varint(to, q->sums_only);
    strbuf_add_varint(to, q->each_peak);
    strbuf_add_varint(to, q->has_afterwards);
    strbuf_add_varint(to, q->temporary_allocations);
    strbuf_add_varint(to, q->temporary_ns);
    kept_spell_filter(to, &q->filter);
    kept_spell_names(to, q, reader);
    return !to->failed;
}

/* ----------------------------------------------------------------- answers */

static bool kept_copy(struct query_result *to, const struct query_result *from)
{
    query_result_release(to);
    struct query_result copy = *from;
    memset(&copy.rows, 0, sizeof copy.rows);
    memset(&copy.timeline, 0, sizeof copy.timeline);
    memset(&copy.peaks, 0, sizeof copy.peaks);
    if (!vec_reserve(&copy.rows, from->rows.count) || !vec_reserve(&copy.timeline, from->timeline.count) ||
        !vec_reserve(&copy.peaks, from->peaks.count)) {
        query_result_release(&copy);
        return false;
    }
    for (size_t i = 0; i < from->rows.count; i++)
        copy.rows.data[copy.rows.count++] = from->rows.data[i];
    for (size_t i = 0; i < from->timeline.count; i++)
        copy.timeline.data[copy.timeline.count++] = from->timeline.data[i];
    for (size_t i = 0; i < from->peaks.count; i++)
        copy.peaks.data[copy.peaks.count++] = from->peaks.data[i];
    *to = copy;
    return true;
}

bool kept_find(struct kept *k, const struct strbuf *question, struct query_result *result)
{
    for (unsigned i = 0; i < KEPT_COUNT; i++) {
        struct kept_answer *a = &k->answers[i];
        if (a->question.length != question->length ||
            memcmp(a->question.text, question->text, question->length) != 0)
            continue;
        a->used = ++k->uses;
        if (!kept_copy(result, &a->result))
            return false;
        result->events = 0;
        return true;
    }
    return false;
}

void kept_add(struct kept *k, const struct strbuf *question, const struct query_result *result)
{
    struct kept_answer *oldest = &k->answers[0];
    size_t bytes = result->rows.count * sizeof *result->rows.data +
                   result->timeline.count * sizeof *result->timeline.data +
                   result->peaks.count * sizeof *result->peaks.data;
    if (result->interrupted || bytes > KEPT_BYTES)
        return;
    for (unsigned i = 1; i < KEPT_COUNT; i++)
        if (k->answers[i].used < oldest->used)
            oldest = &k->answers[i];
    strbuf_clear(&oldest->question);
    strbuf_add(&oldest->question, question->text, question->length);
    if (oldest->question.failed || !kept_copy(&oldest->result, result))
        strbuf_clear(&oldest->question);
    oldest->used = ++k->uses;
}
