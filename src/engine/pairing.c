/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pairing: see pairing.h.
 */
#include "engine/pairing.h"

#include <assert.h>
#include <string.h>

void pairing_init(struct pairing *p, size_t size, pairing_birth_fn *birth, pairing_death_fn *death,
                  void *context)
{
    assert(size <= PAIRING_MAX);
    *p = (struct pairing){.size = size, .birth = birth, .death = death, .context = context};
    numbered_init(&p->live);
}

void pairing_release(struct pairing *p)
{
    numbered_release(&p->live);
}

void pairing_restart(struct pairing *p)
{
    numbered_release(&p->live);
    numbered_init(&p->live);
}

static int pairing_alloc(struct pairing *p, const struct wake_block *b, uint32_t i)
{
    uint64_t entry[PAIRING_MAX / sizeof(uint64_t)];
    int code = p->birth(p->context, b, i, entry);
    if (code != PAIRING_KEEP)
        return code;
    void *kept = numbered_add(&p->live, b->number[i], p->size);
    if (kept == NULL)
        return ERR_MEMORY;
    memcpy(kept, entry, p->size);
    return 0;
}

int pairing_visit(const struct wake_block *b, void *context)
{
    struct pairing *p = context;
    int code = 0;
    for (uint32_t i = 0; i < b->count && code == 0; i++) {
        if (p->each != NULL && (code = p->each(p->context, b, i)) != 0)
            break;
        if (b->event[i] == WAKE_ALLOC)
            code = pairing_alloc(p, b, i);
        else if (b->event[i] == WAKE_FREE)
            code = p->death(p->context, b, i, numbered_take(&p->live, b->number[i], p->size));
        else if (p->other != NULL)
            code = p->other(p->context, b, i);
    }
    return code != 0 || p->watch == NULL ? code : watch_advance(p->watch, b->count);
}
