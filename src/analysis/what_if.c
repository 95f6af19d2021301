/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * what_if: see what_if.h.
 *
 * Without a time one reading does: blocks of the stacks are passed over.  With
 * one, a first reading notes when each of them would die (their deaths come in order of
 * time, moved by the same amount, so the list is in order too) and a bit for each that is as good as
 * not made; the second lets them die then.
 */
#include "analysis/what_if.h"

#include <stdlib.h>
#include <string.h>

#include "engine/bitset.h"
#include "engine/pairing.h"
#include "engine/parse.h"
#include "engine/pattern.h"
#include "store/weight.h"
#include "tool/memory.h"

enum { WHAT_IF_DEATHS = 100000000 }; /* 2.4 GB of memory */

void what_if_init(struct what_if *w)
{
    memset(w, 0, sizeof *w);
}

void what_if_release(struct what_if *w)
{
    for (size_t i = 0; i < w->without.count; i++) {
        query_release(w->without.data[i]);
        free(w->without.data[i]);
    }
    vec_release(&w->without);
}

int what_if_add(struct what_if *w, const char *text, struct err *err)
{
    static const char *const fields[] = {"function", "source", "module"};
    const char *field = NULL;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t length = strlen(fields[i]);
        if (strncmp(text, fields[i], length) == 0 && text[length] == '~') {
            field = fields[i];
            text += length + 1;
            break;
        }
    }
    /* Destructors have a ~ in their names, but no small letters alone before it. */
    size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz-");
    if (field == NULL && word > 0 && text[word] == '~')
        return err_set(err, ERR_USAGE, "--without knows function~, source~ and module~, not '%.*s~'.",
                       (int)word, text);
    field = field == NULL ? fields[0] : field;
    struct query *q = memory_new(sizeof *q);
    if (q == NULL)
        return err_no_memory(err);
    query_init(q);
    int code = query_parse(q, field, text, err);
    if (code == 0 && !vec_push(&w->without, q))
        code = err_no_memory(err);
    if (code != 0) {
        query_release(q);
        free(q);
    }
    return code;
}

/* -------------------------------------------------------------------- reading */

struct what_if_block {
    struct weight weight;
    uint64_t born_ns;
    bool matches;
};

struct what_if_death {
    uint64_t time_ns;
    struct weight weight;
};

struct what_if_level {
    uint64_t bytes, blocks;
    struct what_if_peak peak;
};

struct what_if_work {
    const struct what_if *asked;
    uint8_t *matches; /* by stack */
    size_t stack_count;
    VEC(struct what_if_death) deaths;
    size_t next_death;
    struct bitset unmade; /* allocations that lived too short to be there at all */
    struct what_if_level was, would_be;
    uint64_t matched_blocks, matched_bytes;
    struct watch watch;
    struct weight_rule rule;
};

static bool what_if_matches(const struct what_if_work *w, uint32_t stack)
{
    return w->matches[stack < w->stack_count ? stack : 0] != 0;
}

static struct weight what_if_weigh(const struct what_if_work *w, const struct wake_block *b, uint32_t i)
{
    return weight_of(&w->rule, b->number[i], b->size[i]);
}

static void what_if_rise(struct what_if_level *l, struct weight weight, uint64_t time_ns)
{
    l->bytes += weight.bytes;
    l->blocks += weight.blocks;
    if (l->bytes > l->peak.bytes)
        l->peak = (struct what_if_peak){l->bytes, l->blocks, time_ns, 0};
}

static void what_if_fall(struct what_if_level *l, struct weight weight)
{
    l->bytes -= weight.bytes;
    l->blocks -= weight.blocks;
}

/* First of two: when those that match would die. */
static int what_if_note_birth(void *context, const struct wake_block *b, uint32_t i, void *entry)
{
    struct what_if_work *w = context;
    *(struct what_if_block *)entry = (struct what_if_block){what_if_weigh(w, b, i), b->time_ns[i], true};
    return what_if_matches(w, b->stack[i]) ? PAIRING_KEEP : 0;
}

static int what_if_note_death(void *context, const struct wake_block *b, uint32_t i, const void *entry)
{
    struct what_if_work *w = context;
    const struct what_if_block *was = entry;
    if (was == NULL)
        return 0;
    if (b->time_ns[i] - was->born_ns <= w->asked->earlier_ns)
        return bitset_set(&w->unmade, b->number[i]) ? 0 : ERR_MEMORY;
    if (w->deaths.count >= WHAT_IF_DEATHS)
        return ERR_LIMIT;
    const struct what_if_death death = {b->time_ns[i] - w->asked->earlier_ns, was->weight};
    return vec_push(&w->deaths, death) ? 0 : ERR_MEMORY;
}

static int what_if_each(void *context, const struct wake_block *b, uint32_t i)
{
    struct what_if_work *w = context;
    while (w->next_death < w->deaths.count && w->deaths.data[w->next_death].time_ns <= b->time_ns[i])
        what_if_fall(&w->would_be, w->deaths.data[w->next_death++].weight);
    return 0;
}

static int what_if_birth(void *context, const struct wake_block *b, uint32_t i, void *entry)
{
    struct what_if_work *w = context;
    bool matches = what_if_matches(w, b->stack[i]);
    struct weight weight = what_if_weigh(w, b, i);
    *(struct what_if_block *)entry = (struct what_if_block){weight, b->time_ns[i], matches};
    w->matched_blocks += matches ? weight.blocks : 0;
    w->matched_bytes += matches ? weight.bytes : 0;
    what_if_rise(&w->was, weight, b->time_ns[i]);
    bool is_made = !matches || (w->asked->has_earlier && !bitset_has(&w->unmade, b->number[i]));
    if (is_made)
        what_if_rise(&w->would_be, weight, b->time_ns[i]);
    return PAIRING_KEEP;
}

static int what_if_death(void *context, const struct wake_block *b, uint32_t i, const void *entry)
{
    struct what_if_work *w = context;
    const struct what_if_block *was = entry;
    (void)b;
    (void)i;
    if (was != NULL)
        what_if_fall(&w->was, was->weight);
    if (was != NULL && !was->matches)
        what_if_fall(&w->would_be, was->weight);
    return 0;
}

/* ------------------------------------------------------------------------ run */

static int what_if_match(struct what_if_work *w, const struct query *q, const struct wake_process *p,
                         uint32_t process, struct err *err)
{
    int code = 0;
    w->stack_count = p->stacks.count == 0 ? 1 : p->stacks.count;
    w->matches = memory_new_zeroed(w->stack_count, 1);
    uint8_t *allowed = memory_new(w->stack_count);
    if (w->matches == NULL || allowed == NULL)
        code = ERR_MEMORY;
    for (size_t i = 0; i < w->asked->without.count && code == 0; i++) {
        struct query one = *w->asked->without.data[i];
        one.find_place = q->find_place;
        one.place_context = q->place_context;
        memset(allowed, 1, w->stack_count);
        code = pattern_narrow(&one, one.filter.patterns.data, one.filter.patterns.count, p, process, allowed,
                              w->stack_count, err);
        for (size_t k = 0; k < w->stack_count && code == 0; k++)
            w->matches[k] |= allowed[k];
    }
    free(allowed);
    return code;
}

static void what_if_keep(struct what_if_peak *highest, const struct what_if_level *l, uint32_t process)
{
    if (l->peak.bytes <= highest->bytes)
        return;
    *highest = l->peak;
    highest->process = process;
}

int what_if_read(const struct what_if *w, const struct query *q, struct wake_reader *r, uint32_t process,
                 struct what_if_answer *answer, struct err *err)
{
    const struct wake_process *p = wake_reader_process(r, process);
    const unsigned columns = WAKE_TIME | WAKE_STACK | WAKE_SIZE;
    struct what_if_work work = {.asked = w, .watch = {.query = q, .total = p->events}, .rule = p->rule};
    struct pairing first, second;
    pairing_init(&first, sizeof(struct what_if_block), what_if_note_birth, what_if_note_death, &work);
    pairing_init(&second, sizeof(struct what_if_block), what_if_birth, what_if_death, &work);
    first.watch = second.watch = &work.watch;
    second.each = what_if_each;
    bitset_init(&work.unmade);
    int code = what_if_match(&work, q, p, process, err);
    if (code == 0 && w->has_earlier)
        code = wake_reader_visit_columns(r, process, 0, UINT64_MAX, columns, pairing_visit, &first, err);
    pairing_release(&first);
    if (code == 0)
        code = wake_reader_visit_columns(r, process, 0, UINT64_MAX, columns, pairing_visit, &second, err);
    what_if_keep(&answer->was, &work.was, process);
    what_if_keep(&answer->would_be, &work.would_be, process);
    answer->matched_blocks += work.matched_blocks;
    answer->matched_bytes += work.matched_bytes;
    pairing_release(&second);
    bitset_release(&work.unmade);
    vec_release(&work.deaths);
    free(work.matches);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    if (code == ERR_LIMIT)
        return err_set(err, ERR_LIMIT, "Too many blocks match to keep in mind when each would be freed.");
    return code == WATCH_STOP ? 0 : code;
}
