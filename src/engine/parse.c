/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * parse: see parse.h.  The table is all there is to know about a
 * key: its reader, and where in struct query the value goes.
 */
#include "engine/parse.h"

#include <string.h>

#include "engine/near.h"
#include "engine/parse_value.h"

/* ---------------------------------------------------------------- the table */

#define AT(member) offsetof(struct query, member)
#define RANGE(name, unit, help, about, read, member)                               \
    {name "-min", unit, "at least: " help, about, read, AT(filter.member.min), 0}, \
        {name "-max", unit, "at most: " help, about, read, AT(filter.member.max), 0}

static const char side_words[] = "inside|outside|any", yes_words[] = "yes|no|any";

static const struct parse_key keys[] = {
    {"pid", "PID,...", "processes to look at", ABOUT_BOTH, parse_numbers, AT(pids), 0},
    {"from", "TIME", "the window begins", ABOUT_BOTH, parse_time, AT(from), 0},
    {"to", "TIME", "the window ends", ABOUT_BOTH, parse_time, AT(to), 0},
    {"at", "TIME", "the moment whose live blocks are shown", ABOUT_BLOCKS, parse_time, AT(moment),
     WHEN_PEAK_RSS},

    {"allocated-from", "TIME", "allocated at or after", ABOUT_BOTH, parse_time, AT(filter.allocated_from), 0},
    {"allocated-to", "TIME", "allocated at or before", ABOUT_BOTH, parse_time, AT(filter.allocated_to), 0},
    {"freed-from", "TIME", "freed at or after", ABOUT_BOTH, parse_time, AT(filter.freed_from), 0},
    {"freed-to", "TIME", "freed at or before", ABOUT_BOTH, parse_time, AT(filter.freed_to), 0},
    {"kept-until", "TIME", "freed at or after, or leaked", ABOUT_BOTH, parse_time, AT(filter.kept_until), 0},
    {"alive-at", "TIME", "live at this moment", ABOUT_BOTH, parse_time, AT(filter.alive_at), WHEN_PEAK_RSS},
    {"alive-at-2", "TIME", "and at this one too", ABOUT_BOTH, parse_time, AT(filter.alive_at_2),
     WHEN_PEAK_RSS},
    {"allocated", side_words, "allocated in the window, or not", ABOUT_BOTH, parse_side, AT(filter.allocated),
     0},
    {"freed", side_words, "freed in the window, or not", ABOUT_BOTH, parse_side, AT(filter.freed), 0},
    {"state", "leaked|freed|temporary|chain-leaked|group-leaked|all",
     "what became of it; of several, with commas, all must hold", ABOUT_BOTH, parse_state, AT(filter.states),
     0},
    {"mark", "NAME", "allocated behind a mark and before the next one", ABOUT_BOTH, parse_text,
     AT(filter.mark), 0},

    RANGE("size", "SIZE", "size asked for", ABOUT_BOTH, parse_size, size),
    RANGE("usable", "SIZE", "usable size", ABOUT_BLOCKS, parse_size, usable),
    RANGE("slack", "SIZE", "usable size beyond the size asked for", ABOUT_BLOCKS, parse_size, slack),
    RANGE("lifetime", "DURATION", "time from allocation to free, or to the end", ABOUT_BOTH, parse_duration,
          lifetime),
    RANGE("address", "ADDRESS", "address", ABOUT_BOTH, parse_address, address),
    RANGE("depth", "COUNT", "frames of its stack", ABOUT_BOTH, parse_count, depth),

    RANGE("chain-length", "COUNT", "blocks of its realloc chain", ABOUT_BLOCKS, parse_count, chain_length),
    RANGE("chain-position", "COUNT", "place in its realloc chain, from 1", ABOUT_BLOCKS, parse_count,
          chain_position),
    RANGE("chain-first-size", "SIZE", "size of the first of its chain", ABOUT_BLOCKS, parse_size,
          chain_first_size),
    RANGE("chain-last-size", "SIZE", "size of the last of its chain", ABOUT_BLOCKS, parse_size,
          chain_last_size),
    RANGE("chain-lifetime", "DURATION", "lifetime of its whole chain", ABOUT_BLOCKS, parse_duration,
          chain_lifetime),

    {"stack", "NUMBER,...", "allocated from these stacks", ABOUT_BOTH, parse_numbers, AT(filter.stacks), 0},
    {"not-stack", "NUMBER,...", "allocated from none of these stacks", ABOUT_BOTH, parse_numbers,
     AT(filter.not_stacks), 0},
    {"function", "REGEX",
     "a function on its stack matches; without a name it is MODULE+0xADDRESS, of which more than MODULE or "
     "digits has to match",
     ABOUT_BOTH, parse_pattern, 0, FIELD_FUNCTION},
    {"not-function", "REGEX", "no function on its stack matches", ABOUT_BOTH, parse_pattern, 0,
     FIELD_FUNCTION | PARSE_NEGATED},
    {"source", "REGEX", "a source file on its stack matches", ABOUT_BOTH, parse_pattern, 0, FIELD_SOURCE},
    {"not-source", "REGEX", "no source file on its stack matches", ABOUT_BOTH, parse_pattern, 0,
     FIELD_SOURCE | PARSE_NEGATED},
    {"module", "REGEX", "a module on its stack matches", ABOUT_BOTH, parse_pattern, 0, FIELD_MODULE},
    {"not-module", "REGEX", "no module on its stack matches", ABOUT_BOTH, parse_pattern, 0,
     FIELD_MODULE | PARSE_NEGATED},
    {"thread", "TID|NAME", "allocated by this thread; may be repeated", ABOUT_BOTH, parse_thread, 0,
     PARSE_THREADS},
    {"freed-by", "TID|NAME", "freed by this thread; may be repeated", ABOUT_BOTH, parse_thread, 0,
     PARSE_FREEING_THREADS},
    {"freed-stack", "NUMBER,...", "freed from these stacks (record --free-stacks)", ABOUT_BOTH, parse_numbers,
     AT(filter.freeing_stacks), 0},
    {"not-freed-stack", "NUMBER,...", "it was freed, and from none of these stacks", ABOUT_BOTH,
     parse_numbers, AT(filter.not_freeing_stacks), 0},
    {"freed-function", "REGEX", "a function on the stack that freed it matches", ABOUT_BOTH, parse_pattern, 0,
     FIELD_FUNCTION | PARSE_FREEING},
    {"not-freed-function", "REGEX", "it was freed, and no function on that stack matches", ABOUT_BOTH,
     parse_pattern, 0, FIELD_FUNCTION | PARSE_FREEING | PARSE_NEGATED},
    {"freed-source", "REGEX", "a source file on the stack that freed it matches", ABOUT_BOTH, parse_pattern,
     0, FIELD_SOURCE | PARSE_FREEING},
    {"not-freed-source", "REGEX", "it was freed, and no source file on that stack matches", ABOUT_BOTH,
     parse_pattern, 0, FIELD_SOURCE | PARSE_FREEING | PARSE_NEGATED},
    {"freed-module", "REGEX", "a module on the stack that freed it matches", ABOUT_BOTH, parse_pattern, 0,
     FIELD_MODULE | PARSE_FREEING},
    {"not-freed-module", "REGEX", "it was freed, and no module on that stack matches", ABOUT_BOTH,
     parse_pattern, 0, FIELD_MODULE | PARSE_FREEING | PARSE_NEGATED},
    {"kind", "FUNCTION,...",
     "allocated by malloc, calloc, realloc, memalign, aligned_alloc, posix_memalign, valloc, pvalloc, new or "
     "new[]; of the last two, new-aligned and new[]-aligned are those with an alignment alone",
     ABOUT_BLOCKS, parse_kinds, AT(filter.kinds), 0},

    {"mapped", yes_words, "glibc gave it a mapping of its own, or did not", ABOUT_BLOCKS, parse_mapped,
     AT(filter.mapped), 0},
    {"arena", "main|other|any", "in glibc's main arena, or in another", ABOUT_BLOCKS, parse_arena,
     AT(filter.arena), 0},

    {"blocks", "FILE", "FILE (- = standard input) lists it: process and number, as in export -f sqlite",
     ABOUT_BLOCKS, parse_text, AT(filter.blocks_from), 0},
    {"mapping", "NUMBER,...", "lies in these mappings, or is one of them (report --maps)", ABOUT_BOTH,
     parse_numbers, AT(filter.mappings), 0},
    RANGE("peak-rss", "SIZE", "most of it that was in memory", ABOUT_MAPPINGS, parse_size, peak_rss),
    {"readable", yes_words, "it can be read, or not", ABOUT_MAPPINGS, parse_right, 0, WAKE_READ},
    {"writable", yes_words, "it can be written to, or not", ABOUT_MAPPINGS, parse_right, 0, WAKE_WRITE},
    {"executable", yes_words, "it can be executed, or not", ABOUT_MAPPINGS, parse_right, 0, WAKE_EXECUTE},

    RANGE("group-allocations", "COUNT", "allocations from its stack (by address: a site may have several)",
          ABOUT_BLOCKS, parse_count, group_allocations),
    {"group-leaked-min", "COUNT|PERCENT", "at least: leaked blocks of its stack", ABOUT_BLOCKS, parse_amount,
     AT(filter.group_leaked_min), 0},
    {"group-leaked-max", "COUNT|PERCENT", "at most: leaked blocks of its stack", ABOUT_BLOCKS, parse_amount,
     AT(filter.group_leaked_max), 0},
    {"group-interval-min", "DURATION|PERCENT",
     "at least: time from the first to the last allocation of its stack", ABOUT_BLOCKS, parse_amount,
     AT(filter.group_interval_min), 1},
    {"group-interval-max", "DURATION|PERCENT",
     "at most: time from the first to the last allocation of its stack", ABOUT_BLOCKS, parse_amount,
     AT(filter.group_interval_max), 1},
    {"group-peak-from", "TIME", "its stack had most bytes live at or after", ABOUT_BLOCKS, parse_time,
     AT(filter.group_peak_from), 0},
    {"group-peak-to", "TIME", "its stack had most bytes live at or before", ABOUT_BLOCKS, parse_time,
     AT(filter.group_peak_to), 0},

    {"temporary", "COUNT|DURATION",
     "what counts as temporary: allocations of its thread, or time, until it is freed", ABOUT_BOTH,
     parse_temporary, 0, 0},
    {"split", "none|thread|kind", "one row a stack, or for each thread or kind too", ABOUT_BLOCKS,
     parse_split, AT(split), 0},
    {"ticks", "COUNT", "stretches of the timeline, up to 100000", ABOUT_BLOCKS, parse_ticks, 0, 0},
    {"detail", "yes|no", "every metric, also those that need the events", ABOUT_BLOCKS, parse_want, 0,
     WANT_DETAIL},
    {"median", "yes|no", "median lifetimes", ABOUT_BLOCKS, parse_want, 0, WANT_MEDIAN},
    {"histograms", "yes|no", "histograms of sizes and lifetimes", ABOUT_BLOCKS, parse_want, 0,
     WANT_HISTOGRAMS},
};

enum { KEY_COUNT = sizeof keys / sizeof *keys };

_Static_assert(sizeof keys / sizeof *keys <= QUERY_KEYS, "a bit for each");

static bool parse_is_wish(const struct parse_key *k)
{
    return k->read == parse_split || k->read == parse_ticks || k->read == parse_want;
}

bool query_get_key(size_t i, struct query_key *key)
{
    if (i >= KEY_COUNT)
        return false;
    *key =
        (struct query_key){keys[i].name, keys[i].value, keys[i].help, keys[i].about, parse_is_wish(&keys[i])};
    return true;
}

/* Does it say which blocks, and not what is shown of them? */
static bool parse_is_condition(const struct parse_key *k)
{
    return k->to != AT(moment) && k->read != parse_temporary && !parse_is_wish(k);
}

const char *query_find_condition(const struct query *q)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        bool is_given = (q->given[i / 64] >> i % 64 & 1) != 0;
        if (is_given && strcmp(keys[i].name, "pid") != 0 && parse_is_condition(&keys[i]))
            return keys[i].name;
    }
    return NULL;
}

/* Does it add to a list when it is given again? */
static bool parse_is_list(const struct parse_key *k)
{
    return k->read == parse_numbers || k->read == parse_thread || k->read == parse_pattern;
}

bool query_has_key(const struct query *q, const char *key)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, key) == 0)
            return !parse_is_list(&keys[i]) && (q->given[i / 64] >> i % 64 & 1) != 0;
    }
    return false;
}

uint64_t *query_find_bound(struct query *q, const char *key)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        parse_fn *read = keys[i].read;
        bool is_number =
            read == parse_size || read == parse_duration || read == parse_count || read == parse_address;
        if (is_number && strcmp(keys[i].name, key) == 0)
            return (uint64_t *)((char *)q + keys[i].to);
    }
    return NULL;
}

/* --------------------------------------------------------------- strange keys */

static int parse_unknown(const char *key, struct err *err)
{
    char near[128] = "";
    size_t length = 0;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        size_t need = strlen(keys[i].name) + 2;
        if (!near_is(key, keys[i].name) || length + need >= sizeof near)
            continue;
        memcpy(near + length, length > 0 ? ", " : "", length > 0 ? 2 : 0);
        length += length > 0 ? 2 : 0;
        memcpy(near + length, keys[i].name, need - 1);
        length += need - 2;
    }
    if (length == 0)
        return err_set(err, ERR_USAGE, "There is no filter called \"%.60s\".", key);
    return err_set(err, ERR_USAGE, "There is no filter called \"%.60s\"; near it are: %s.", key, near);
}

int query_parse(struct query *q, const char *key, const char *value, struct err *err)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const struct parse_key *k = &keys[i];
        if (strcmp(k->name, key) != 0)
            continue;
        struct err own;
        err_init(&own);
        int code = k->read(q, k, (char *)q + k->to, value, &own);
        if (code != 0 && own.code != 0)
            return err_set(err, code, "%s", own.text);
        if (code != 0)
            return err_set(err, code, "\"%.100s\" is no value for %s, which takes %s (%s).", value, k->name,
                           k->value, k->help);
        q->given[i / 64] |= UINT64_C(1) << i % 64;
        q->conditions += parse_is_condition(k);
        if (k->about == ABOUT_BLOCKS)
            q->key_of_blocks = k->name;
        else if (k->about == ABOUT_MAPPINGS)
            q->key_of_mappings = k->name;
        return 0;
    }
    return parse_unknown(key, err);
}
