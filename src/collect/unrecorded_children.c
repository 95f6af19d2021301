/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unrecorded_children: see unrecorded_children.h.
 */
#include "collect/unrecorded_children.h"

#include "tool/vec.h"

#define UNRECORDED_CHILDREN_PATIENCE_NS UINT64_C(10000000000)

void unrecorded_children_init(struct unrecorded_children *s)
{
    map_init(&s->balances);
    map_init(&s->early);
    s->looked_ns = 0;
}

void unrecorded_children_release(struct unrecorded_children *s)
{
    map_release(&s->balances);
    map_release(&s->early);
}

static int64_t unrecorded_children_balance(const struct unrecorded_children *s, uint32_t pid)
{
    const uint64_t *known = map_find(&s->balances, pid);
    return known == NULL ? 0 : (int64_t)*known;
}

static void unrecorded_children_add(struct unrecorded_children *s, uint32_t pid, int64_t change)
{
    int64_t balance = unrecorded_children_balance(s, pid) + change;
    if (balance != 0)
        (void)map_set(&s->balances, pid, (uint64_t)balance);
    else
        (void)map_remove(&s->balances, pid, NULL);
}

void unrecorded_children_told(struct unrecorded_children *s, uint32_t pid)
{
    unrecorded_children_add(s, pid, 1);
}

void unrecorded_children_back(struct unrecorded_children *s, uint32_t pid)
{
    unrecorded_children_add(s, pid, -1);
}

void unrecorded_children_came(struct unrecorded_children *s, uint32_t pid, uint32_t own)
{
    bool is_by_outer = unrecorded_children_balance(s, own) <= 0 && unrecorded_children_balance(s, pid) > 0;
    unrecorded_children_add(s, is_by_outer ? pid : own, -1);
}

/* Who is early, and was so at the last look, is not told of any more. */
void unrecorded_children_look(struct unrecorded_children *s, uint64_t now_ns)
{
    VEC(uint32_t) gone = {0};
    struct map early;
    uint64_t pid, balance;
    if (now_ns - s->looked_ns < UNRECORDED_CHILDREN_PATIENCE_NS)
        return;
    s->looked_ns = now_ns;
    map_init(&early);
    for (size_t at = 0; map_next(&s->balances, &at, &pid, &balance);) {
        if ((int64_t)balance > 0)
            continue;
        if (map_find(&s->early, pid) != NULL)
            (void)vec_push(&gone, (uint32_t)pid);
        else
            (void)map_set(&early, pid, 1);
    }
    for (size_t i = 0; i < gone.count; i++)
        (void)map_remove(&s->balances, gone.data[i], NULL);
    vec_release(&gone);
    map_release(&s->early);
    s->early = early;
}

uint64_t unrecorded_children_count(const struct unrecorded_children *s)
{
    uint64_t pid, balance, sum = 0;
    for (size_t at = 0; map_next(&s->balances, &at, &pid, &balance);)
        sum += (int64_t)balance > 0 ? balance : 0;
    return sum;
}
