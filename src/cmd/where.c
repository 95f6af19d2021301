/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * where: see where.h.
 */
#include "cmd/where.h"

#include "cmd/command.h"
#include "engine/block_list.h"
#include "engine/condition.h"
#include "engine/measure.h"
#include "engine/parse.h"

#include <string.h>

/* Two that differ cannot both hold, and nobody shall wonder which of them does. */
int where_set(struct query *q, const char *key, const char *value, struct err *err)
{
    if (query_has_key(q, key))
        return err_set(err, ERR_USAGE, "'%s' is given twice; it takes one value.", key);
    return query_parse(q, key, value, err);
}

static bool where_is_wish(const char *name)
{
    struct query_key key;
    for (size_t i = 0; query_get_key(i, &key); i++) {
        if (strcmp(key.name, name) == 0)
            return key.is_wish;
    }
    return false;
}

/* A condition, in the engine's words. */
static int where_pair(struct query *q, const char *text, struct err *err)
{
    struct condition c;
    const char *list = q->filter.blocks_from;
    int code = condition_read(&c, text, err);
    for (size_t i = 0; i < c.key_count && code == 0; i++) {
        if (where_is_wish(c.keys[i]))
            return err_set(err, ERR_USAGE,
                           "'%s' says nothing of blocks; 'heapwake help where' lists the keys that do.",
                           c.keys[i]);
        code = where_set(q, c.keys[i], c.value, err);
        if (code == 0)
            code = condition_finish(&c, q, c.keys[i], err);
    }
    return code == 0 && q->filter.blocks_from != list
               ? block_list_read(&q->filter.blocks, q->filter.blocks_from, err)
               : code;
}

static void where_note(const struct where *w, const char *name, const char *value, unsigned conditions)
{
    if (w->said == NULL || w->query->conditions == conditions)
        return;
    strbuf_add(w->said, name, strlen(name) + 1);
    strbuf_add(w->said, value, strlen(value) + 1);
}

static int where_set_pair(void *to, const struct option *o, const char *value, struct err *err)
{
    struct where *w = to;
    unsigned conditions = w->query->conditions;
    int code = where_pair(w->query, value, err);
    if (code == 0 && w->other != NULL)
        code = where_pair(w->other, value, err);
    if (code == 0)
        where_note(w, o->names, value, conditions);
    return code;
}

/* --from, --to and --pid: a key each. */
static int where_set_key(void *to, const struct option *o, const char *value, struct err *err)
{
    struct where *w = to;
    const char *key = o->names + 2;
    unsigned conditions = w->query->conditions;
    int code = where_set(w->query, key, value, err);
    if (code == 0 && w->other != NULL)
        code = where_set(w->other, key, value, err);
    if (code == 0)
        where_note(w, o->names, value, conditions);
    return code;
}

static void where_add_keys(struct strbuf *words)
{
    struct query_key key;
    for (size_t i = 0; query_get_key(i, &key); i++) {
        if (!key.is_wish)
            strbuf_addf(words, "%s=\t%s\n", key.name, key.help);
    }
}

const struct option where_options[] = {
    {.names = "--from",
     .argument = "TIME",
     .help = "only from this moment on: 1.5s, 30% or the name of a mark",
     .set = where_set_key,
     .is_list = true},
    {.names = "--to",
     .argument = "TIME",
     .help = "only up to this moment",
     .set = where_set_key,
     .is_list = true},
    {.names = "--pid", .argument = "PID", .help = "only this process", .set = where_set_key, .is_list = true},
    {.names = "--where",
     .argument = "CONDITION",
     .help = "only blocks (or mappings) that are like this; 'heapwake help where' lists the keys",
     .set = where_set_pair,
     .is_list = true,
     .add_words = where_add_keys},
    {0},
};

static int where_set_measure(void *to, const struct option *o, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    for (enum measure m = 0; m < MEASURE_COUNT; m++) {
        if (strcmp(measure_name(m), o->names + 2) == 0)
            *(unsigned *)to |= 1u << m;
    }
    return 0;
}

const struct option where_measures[] = {
    {.names = "--leaks", .help = "blocks that were never freed", .set = where_set_measure},
    {.names = "--peak", .help = "blocks that were live at the peak", .set = where_set_measure},
    {.names = "--allocated", .help = "all blocks, most bytes first", .set = where_set_measure},
    {.names = "--calls", .help = "all blocks, most calls first", .set = where_set_measure},
    {.names = "--temporary", .help = "blocks that were freed right away", .set = where_set_measure},
    {0},
};

int where_suits_moment(const struct query *q, bool has_end, struct err *err)
{
    const struct query_filter *f = &q->filter;
    bool has_from = query_has_key(q, "from"), has_to = query_has_key(q, "to") && !has_end;
    if (f->allocated != SIDE_ANY || f->freed != SIDE_ANY || q->moment.when == WHEN_PEAK_RSS ||
        !(has_from || has_to))
        return 0;
    return err_set(
        err, ERR_USAGE,
        "What is live at a moment does not depend on --%s; '--where allocated-%s=TIME' leaves what "
        "was allocated %s then.",
        has_from ? "from" : "to", has_from ? "from" : "to", has_from ? "since" : "until");
}

int where_suits_temporaries(const struct query *q, bool has_list, struct err *err)
{
    bool is_used = has_list || (q->filter.states & STATE_TEMPORARY) != 0;
    if (is_used || !query_has_key(q, "temporary"))
        return 0;
    return err_set(err, ERR_USAGE,
                   "'temporary' says what counts as temporary, of which nothing is shown here; it goes with "
                   "--temporary or '--where state=temporary'.");
}
