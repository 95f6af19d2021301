/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * condition: turns a comparison into keys: it knows which suffix a comparison has (-min, -max, -from, -to, not-), and
 * asks the table of keys whether the key has it.
 */
#include "engine/condition.h"

#include <stdio.h>
#include <string.h>

#include "engine/parse.h"

/* Longer ones first: "<=" is no "<". */
static const char *const operators[] = {"!=", "!~", "<=", ">=", "<", ">", "=", "~"};

static bool condition_has_key(const char *name)
{
    struct query_key key;
    for (size_t i = 0; query_get_key(i, &key); i++) {
        if (strcmp(key.name, name) == 0)
            return true;
    }
    return false;
}

static bool condition_is_pattern(const char *name)
{
    struct query_key key;
    for (size_t i = 0; query_get_key(i, &key); i++) {
        if (strcmp(key.name, name) == 0)
            return strcmp(key.value, "REGEX") == 0;
    }
    return false;
}

/* Adds PREFIX NAME SUFFIX, if that is a key. */
static bool condition_add_key(struct condition *c, const char *prefix, const char *name, const char *suffix)
{
    char *key = c->keys[c->key_count];
    int length = snprintf(key, CONDITION_KEY, "%s%s%s", prefix, name, suffix);
    bool is_one = length > 0 && length < CONDITION_KEY && condition_has_key(key);
    c->key_count += is_one;
    return is_one;
}

/* Whether the key has the comparison; its keys are added. */
static bool condition_resolve(struct condition *c, const char *name, const char *operator)
{
    bool is_pattern = condition_is_pattern(name);
    switch (operator[0]) {
    case '=':
        return condition_add_key(c, "", name, "") ||
               (condition_add_key(c, "", name, "-min") && condition_add_key(c, "", name, "-max"));
    case '~':
        return is_pattern && condition_add_key(c, "", name, "");
    case '!':
        if (operator[1] == '~' && !is_pattern)
            return false;
        if (condition_add_key(c, "not-", name, ""))
            return true;
        c->is_negative = true;
        return condition_add_key(c, "", name, "");
    case '<':
        if (condition_add_key(c, "", name, "-max"))
            c->is_strict = operator[1] == '\0';
        return c->key_count > 0 || (operator[1] == '=' && condition_add_key(c, "", name, "-to"));
    default:
        if (condition_add_key(c, "", name, "-min"))
            c->is_strict = operator[1] == '\0';
        return c->key_count > 0 || (operator[1] == '=' && condition_add_key(c, "", name, "-from"));
    }
}

static bool condition_is_known(const char *name)
{
    struct condition c = {0};
    return condition_add_key(&c, "", name, "") || condition_add_key(&c, "", name, "-min") ||
           condition_add_key(&c, "", name, "-from");
}

int condition_read(struct condition *c, const char *text, struct err *err)
{
    char name[CONDITION_KEY];
    size_t length = strcspn(text, "=<>!~"), i = 0;
    const size_t count = sizeof operators / sizeof *operators;
    *c = (struct condition){0};
    while (i < count && strncmp(text + length, operators[i], strlen(operators[i])) != 0)
        i++;
    if (i == count || length == 0 || length >= sizeof name)
        return err_set(
            err, ERR_USAGE,
            "--where takes KEY=VALUE or a comparison such as 'size>100', not '%s'; 'heapwake help where' "
            "lists the keys.",
            text);
    memcpy(name, text, length);
    name[length] = '\0';
    c->value = text + length + strlen(operators[i]);
    if (condition_resolve(c, name, operators[i]))
        return 0;
    if (condition_is_known(name))
        return err_set(err, ERR_USAGE,
                       "'%s' has no comparison '%s'; 'heapwake help where' lists those it has.", name,
                       operators[i]);
    /* As it would be said of KEY=VALUE, with the keys that are near. */
    snprintf(c->keys[0], CONDITION_KEY, "%s", name);
    c->key_count = 1;
    return 0;
}

/* The range that a key ending in -min or -max bounds. */
static int condition_exclude_bound(uint64_t *bound, const char *key, struct err *err)
{
    bool is_min = strcmp(key + strlen(key) - 4, "-min") == 0;
    if (*bound == (is_min ? UINT64_MAX : 0))
        return err_set(err, ERR_USAGE, "Nothing is %s than the bound of '%s'.", is_min ? "more" : "less",
                       key);
    *bound += is_min ? 1 : UINT64_MAX;
    return 0;
}

static int condition_negate(struct query *q, const char *key, struct err *err)
{
    enum query_mapped *mapped = &q->filter.mapped;
    enum query_arena *arena = &q->filter.arena;
    if (strcmp(key, "kind") == 0)
        q->filter.kinds = ~q->filter.kinds;
    else if (strcmp(key, "state") == 0 && q->filter.states == STATE_LEAKED)
        q->filter.states = STATE_FREED;
    else if (strcmp(key, "state") == 0 && q->filter.states == STATE_FREED)
        q->filter.states = STATE_LEAKED;
    else if (strcmp(key, "mapped") == 0 && *mapped != MAPPED_ANY)
        *mapped = *mapped == MAPPED_OWN ? MAPPED_SHARED : MAPPED_OWN;
    else if (strcmp(key, "arena") == 0 && *arena != ARENA_ANY)
        *arena = *arena == ARENA_MAIN ? ARENA_OTHER : ARENA_MAIN;
    else
        return err_set(err, ERR_USAGE, "'%s' has no comparison '!=' with that value.", key);
    return 0;
}

int condition_finish(const struct condition *c, struct query *q, const char *key, struct err *err)
{
    if (c->is_negative)
        return condition_negate(q, key, err);
    uint64_t *bound = c->is_strict ? query_find_bound(q, key) : NULL;
    if (!c->is_strict)
        return 0;
    return bound != NULL ? condition_exclude_bound(bound, key, err)
                         : err_set(err, ERR_USAGE, "'%s' is compared by >= and <=.", key);
}
