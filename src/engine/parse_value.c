/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * parse_value: see parse_value.h.
 */
#include "engine/parse_value.h"

#include <stdlib.h>
#include <string.h>

#include "engine/pattern.h"
#include "engine/quantity.h"
#include "wire/record.h"

static int parse_no_memory(struct err *err)
{
    return err_no_memory(err);
}

/* ------------------------------------------------------------- single values */

int parse_size(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    uint64_t bytes;
    (void)q, (void)key, (void)err;
    if (!quantity_size(value, &bytes))
        return ERR_USAGE;
    *(uint64_t *)to = bytes;
    return 0;
}

int parse_duration(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    uint64_t ns;
    (void)q, (void)key, (void)err;
    if (!quantity_duration(value, &ns))
        return ERR_USAGE;
    *(uint64_t *)to = ns;
    return 0;
}

int parse_count(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    uint64_t count;
    (void)q, (void)key, (void)err;
    if (!quantity_count(value, &count))
        return ERR_USAGE;
    *(uint64_t *)to = count;
    return 0;
}

int parse_address(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    uint64_t address;
    (void)q, (void)key, (void)err;
    if (!quantity_address(value, &address))
        return ERR_USAGE;
    *(uint64_t *)to = address;
    return 0;
}

/* A duration, a date, a percentage, "end", "peak-rss" (choice: only where it makes sense), or a mark. */
int parse_time(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    struct query_time time = {.when = WHEN_NS};
    bool is_mark = strncmp(value, "mark:", 5) == 0;
    if (is_mark)
        value += 5;
    if (!is_mark && strcmp(value, "end") == 0)
        time = (struct query_time){.when = WHEN_PERCENT, .percent = 100};
    else if (!is_mark && key->choice == WHEN_PEAK_RSS && strcmp(value, "peak-rss") == 0)
        time.when = WHEN_PEAK_RSS;
    else if (!is_mark && quantity_percent(value, &time.percent)) {
        if (time.percent > 100)
            return ERR_USAGE;
        time.when = WHEN_PERCENT;
    } else if (!is_mark && quantity_date(value, &time.ns)) {
        time.when = WHEN_DATE;
    } else if (is_mark || !quantity_duration(value, &time.ns)) {
        if (value[0] == '\0' || (!is_mark && ((value[0] >= '0' && value[0] <= '9') || value[0] == '-')))
            return ERR_USAGE;
        time = (struct query_time){.when = WHEN_MARK};
        time.mark = arena_push_text(&q->arena, value, strlen(value));
        if (time.mark == NULL)
            return parse_no_memory(err);
    }
    *(struct query_time *)to = time;
    return 0;
}

/* A count (choice 0) or a duration (choice 1), or a percentage. */
int parse_amount(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    struct query_amount amount = {.is_set = true};
    (void)q, (void)err;
    if (quantity_percent(value, &amount.percent))
        amount.is_percent = true;
    else if (!(key->choice == 0 ? quantity_count(value, &amount.number)
                                : quantity_duration(value, &amount.number)))
        return ERR_USAGE;
    *(struct query_amount *)to = amount;
    return 0;
}

int parse_text(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    const char *copy = arena_push_text(&q->arena, value, strlen(value));
    (void)key;
    if (copy == NULL)
        return parse_no_memory(err);
    *(const char **)to = copy;
    return 0;
}

/* -------------------------------------------------------------------- words */

struct parse_word {
    const char *word;
    unsigned number;
};

static bool parse_find_word(const struct parse_word *words, const char *value, size_t length,
                            unsigned *number)
{
    for (; words->word != NULL; words++) {
        if (strlen(words->word) == length && strncmp(words->word, value, length) == 0) {
            *number = words->number;
            return true;
        }
    }
    return false;
}

/* The words of a list with commas, or'ed; every word must be known. */
static bool parse_find_words(const struct parse_word *words, const char *value, unsigned *numbers)
{
    *numbers = 0;
    for (;;) {
        size_t length = strcspn(value, ",");
        unsigned number;
        if (!parse_find_word(words, value, length, &number))
            return false;
        *numbers |= number;
        if (value[length] == '\0')
            return true;
        value += length + 1;
    }
}

/* One of some words; to: an enum of their values. */
static int parse_choice(const struct parse_word *words, void *to, const char *value)
{
    unsigned choice;
    if (!parse_find_word(words, value, strlen(value), &choice))
        return ERR_USAGE;
    memcpy(to, &choice, sizeof choice);
    return 0;
}

_Static_assert(sizeof(enum query_side) == sizeof(unsigned) && sizeof(enum query_mapped) == sizeof(unsigned) &&
                   sizeof(enum query_arena) == sizeof(unsigned),
               "parse_choice writes them");

int parse_side(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    static const struct parse_word words[] = {
        {"inside", SIDE_INSIDE}, {"outside", SIDE_OUTSIDE}, {"any", SIDE_ANY}, {NULL, 0}};
    (void)q, (void)key, (void)err;
    return parse_choice(words, to, value);
}

int parse_state(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    static const struct parse_word words[] = {
        {"leaked", STATE_LEAKED},
        {"freed", STATE_FREED},
        {"temporary", STATE_TEMPORARY},
        {"chain-leaked", STATE_CHAIN_LEAKED},
        {"group-leaked", STATE_GROUP_LEAKED},
        {"all", 0},
        {NULL, 0},
    };
    unsigned states;
    (void)q, (void)key, (void)err;
    if (!parse_find_words(words, value, &states))
        return ERR_USAGE;
    *(unsigned *)to = states;
    return 0;
}

int parse_kinds(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    static const struct parse_word words[] = {
        {"malloc", 1u << KIND_MALLOC},
        {"calloc", 1u << KIND_CALLOC},
        {"realloc", 1u << KIND_REALLOC},
        {"memalign", 1u << KIND_MEMALIGN},
        {"aligned_alloc", 1u << KIND_ALIGNED_ALLOC},
        {"posix_memalign", 1u << KIND_POSIX_MEMALIGN},
        {"valloc", 1u << KIND_VALLOC},
        {"pvalloc", 1u << KIND_PVALLOC},
        {"new", 1u << KIND_NEW | 1u << KIND_NEW_ALIGNED},
        {"new[]", 1u << KIND_NEW_ARRAY | 1u << KIND_NEW_ARRAY_ALIGNED},
        {"new-aligned", 1u << KIND_NEW_ALIGNED},
        {"new[]-aligned", 1u << KIND_NEW_ARRAY_ALIGNED},
        {NULL, 0},
    };
    unsigned kinds;
    (void)q, (void)key, (void)err;
    if (!parse_find_words(words, value, &kinds))
        return ERR_USAGE;
    *(uint32_t *)to = kinds;
    return 0;
}

int parse_mapped(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    static const struct parse_word words[] = {
        {"yes", MAPPED_OWN}, {"no", MAPPED_SHARED}, {"any", MAPPED_ANY}, {NULL, 0}};
    (void)q, (void)key, (void)err;
    return parse_choice(words, to, value);
}

int parse_arena(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    static const struct parse_word words[] = {
        {"main", ARENA_MAIN}, {"other", ARENA_OTHER}, {"any", ARENA_ANY}, {NULL, 0}};
    (void)q, (void)key, (void)err;
    return parse_choice(words, to, value);
}

/* Whether it has a right (choice: enum wake_rights). */
int parse_right(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    static const struct parse_word words[] = {{"yes", 1}, {"no", 2}, {"any", 0}, {NULL, 0}};
    unsigned wish;
    (void)to, (void)err;
    if (!parse_find_word(words, value, strlen(value), &wish))
        return ERR_USAGE;
    q->filter.rights = wish == 1 ? q->filter.rights | key->choice : q->filter.rights & ~key->choice;
    q->filter.no_rights = wish == 2 ? q->filter.no_rights | key->choice : q->filter.no_rights & ~key->choice;
    return 0;
}

int parse_split(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    static const struct parse_word words[] = {
        {"none", SPLIT_NONE}, {"thread", SPLIT_THREAD}, {"kind", SPLIT_KIND}, {NULL, 0}};
    unsigned split;
    (void)q, (void)key, (void)err;
    if (!parse_find_word(words, value, strlen(value), &split))
        return ERR_USAGE;
    *(enum query_split *)to = (enum query_split)split;
    return 0;
}

/* Whether something (choice: enum query_want) is wanted. */
int parse_want(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    static const struct parse_word words[] = {{"yes", 1}, {"1", 1}, {"no", 0}, {"0", 0}, {NULL, 0}};
    unsigned wanted;
    (void)to, (void)err;
    if (!parse_find_word(words, value, strlen(value), &wanted))
        return ERR_USAGE;
    q->want = wanted ? q->want | key->choice : q->want & ~key->choice;
    return 0;
}

int parse_ticks(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    uint64_t ticks;
    (void)key, (void)to, (void)err;
    if (!quantity_count(value, &ticks) || ticks > 100000)
        return ERR_USAGE;
    q->ticks = (uint32_t)ticks;
    return 0;
}

/* "3": freed before the thread's third allocation after it; "10ms": within that time. */
int parse_temporary(struct query *q, const struct parse_key *key, void *to, const char *value,
                    struct err *err)
{
    uint64_t number;
    (void)key, (void)to, (void)err;
    if (quantity_count(value, &number) && number > 0 && number <= INT32_MAX) {
        q->temporary_allocations = number;
        q->temporary_ns = 0;
        return 0;
    }
    if (quantity_count(value, &number) || !quantity_duration(value, &number) || number == 0)
        return ERR_USAGE;
    q->temporary_ns = number;
    return 0;
}

/* -------------------------------------------------------------------- lists */

/* Numbers of processes, stacks or mappings, with commas. */
int parse_numbers(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    struct query_numbers *list = to;
    size_t before = list->count;
    int code = 0;
    (void)q, (void)key;
    for (bool more = true; more && code == 0;) {
        char one[16] = {0};
        size_t length = strcspn(value, ",");
        uint64_t number;
        if (length < sizeof one)
            memcpy(one, value, length);
        if (!quantity_count(one, &number) || number > UINT32_MAX)
            code = ERR_USAGE;
        else if (!vec_push(list, (uint32_t)number))
            code = parse_no_memory(err);
        more = value[length] != '\0';
        value += length + more;
    }
    if (code != 0)
        list->count = before;
    return code;
}

int parse_thread(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    struct query_thread thread = {0};
    uint64_t tid;
    (void)to;
    if (value[0] == '\0')
        return ERR_USAGE;
    if (quantity_count(value, &tid) && tid <= UINT32_MAX)
        thread.tid = (uint32_t)tid;
    else if ((thread.name = arena_push_text(&q->arena, value, strlen(value))) == NULL)
        return parse_no_memory(err);
    bool fine = key->choice == PARSE_THREADS ? vec_push(&q->filter.threads, thread)
                                             : vec_push(&q->filter.freeing_threads, thread);
    return fine ? 0 : parse_no_memory(err);
}

int parse_pattern(struct query *q, const struct parse_key *key, void *to, const char *value, struct err *err)
{
    struct query_pattern pattern = {.field =
                                        (enum query_field)(key->choice & ~(PARSE_NEGATED | PARSE_FREEING)),
                                    .negated = (key->choice & PARSE_NEGATED) != 0};
    (void)to;
    if (value[0] == '\0') /* it would match everything */
        return ERR_USAGE;
    int code = pattern_check(value, err);
    if (code != 0)
        return code;
    pattern.text = arena_push_text(&q->arena, value, strlen(value));
    bool fine = pattern.text != NULL &&
                ((key->choice & PARSE_FREEING) != 0 ? vec_push(&q->filter.freeing_patterns, pattern)
                                                    : vec_push(&q->filter.patterns, pattern));
    return fine ? 0 : parse_no_memory(err);
}
