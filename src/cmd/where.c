/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * where: see where.h.
 */
#include "cmd/where.h"

#include "cmd/command.h"
#include "query/listing.h"
#include "query/parse.h"

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

/* KEY=VALUE in the engine's words. */
static int where_pair(struct query *q, const char *pair, struct err *err)
{
    char key[64];
    size_t length = strcspn(pair, "=");
    if (pair[length] == '\0' || length >= sizeof key)
        return err_set(err, ERR_USAGE,
                       "--where takes KEY=VALUE, not '%s'; 'heapwake help where' lists the keys.", pair);
    memcpy(key, pair, length);
    key[length] = '\0';
    if (where_is_wish(key))
        return err_set(err, ERR_USAGE,
                       "'%s' says nothing of blocks; 'heapwake help where' lists the keys that do.", key);
    const char *list = q->filter.blocks_from;
    int code = where_set(q, key, pair + length + 1, err);
    return code == 0 && q->filter.blocks_from != list
               ? listing_read(&q->filter.blocks, q->filter.blocks_from, err)
               : code;
}

static bool where_take_option(struct query *q, char **argv, int *at, struct err *err)
{
    static const char *const keys[] = {"from", "to", "pid"};
    static const char *const options[] = {"--from", "--to", "--pid"};
    const char *value;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (command_option(argv, at, options[i], &value)) {
            (void)where_set(q, keys[i], value, err);
            return true;
        }
    }
    if (!command_option(argv, at, "--where", &value))
        return false;
    (void)where_pair(q, value, err);
    return true;
}

bool where_take(struct query *q, char **argv, int *at, struct strbuf *said, struct err *err)
{
    int first = *at;
    unsigned conditions = q->conditions;
    if (!where_take_option(q, argv, at, err))
        return false;
    for (int i = first; i <= *at && said != NULL && q->conditions > conditions; i++)
        strbuf_add(said, argv[i], strlen(argv[i]) + 1);
    return true;
}

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
