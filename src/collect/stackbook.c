/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stackbook: see stackbook.h.
 *
 * A frame (address + module) is numbered too, so that a stack takes four bytes
 * a frame to remember and comparing two is a memcmp.  Most addresses come
 * again at the same generation: a direct-mapped cache in front saves finding
 * their module.
 */
#include "collect/stackbook.h"

#include "base/hash.h"
#include "tool/memory.h"
#include "wire/record.h"

#include <stdlib.h>
#include <string.h>

void stackbook_init(struct stackbook *b)
{
    memset(b, 0, sizeof *b);
    map_init(&b->by_hash);
    map_init(&b->by_frame);
    arena_init(&b->arena);
}

void stackbook_release(struct stackbook *b)
{
    for (size_t i = 0; i < b->ids.count; i++)
        free(b->ids.data[i]);
    vec_release(&b->ids);
    vec_release(&b->stacks);
    vec_release(&b->frames);
    vec_release(&b->scratch);
    vec_release(&b->numbers);
    map_release(&b->by_hash);
    map_release(&b->by_frame);
    arena_release(&b->arena);
    memset(b, 0, sizeof *b);
}

/* The frame's number + 1, or 0: no memory. */
static uint32_t stackbook_frame(struct stackbook *b, struct modmap *modules, uint64_t address,
                                uint64_t generation)
{
    struct stackbook_near *near = &b->near[hash_spread(address) >> 54];
    if (near->frame != 0 && near->address == address && near->generation == generation)
        return near->frame;
    uint64_t exact = address & RECORD_FRAME_EXACT;
    uint64_t plain = address & ~RECORD_FRAME_EXACT;
    /* A return address may be the first byte after the caller's code. */
    uint64_t inside = exact != 0 || plain == 0 ? plain : plain - 1;
    uint32_t module = modmap_find(modules, inside, generation);
    uint64_t key = hash_join(address, module);
    uint64_t *known = map_find(&b->by_frame, key);
    uint32_t number = 0;
    if (known != NULL && b->frames.data[*known].address == address &&
        b->frames.data[*known].module == module) {
        number = (uint32_t)*known + 1;
    } else {
        struct wake_frame frame = {address, module};
        if (b->frames.count >= UINT32_MAX - 1 || !vec_push(&b->frames, frame))
            return 0;
        number = (uint32_t)b->frames.count;
        if (!map_set(&b->by_frame, key, number - 1))
            return 0;
    }
    *near = (struct stackbook_near){address, generation, number};
    return number;
}

static bool stackbook_set_id(struct stackbook *b, uint32_t id, uint32_t number)
{
    size_t index = id / STACKBOOK_PAGE;
    if (!vec_reserve(&b->ids, index + 1))
        return false;
    while (b->ids.count <= index)
        b->ids.data[b->ids.count++] = NULL;
    uint32_t **page = &b->ids.data[index];
    if (*page == NULL)
        *page = memory_new_zeroed(STACKBOOK_PAGE, sizeof **page);
    if (*page == NULL)
        return false;
    (*page)[id % STACKBOOK_PAGE] = number;
    return true;
}

static bool stackbook_equal(const struct stackbook_stack *s, const struct stackbook *b,
                            const struct stackbook_raw *raw)
{
    return s->count == raw->count && s->omitted == raw->omitted && s->cut == raw->cut &&
           (s->count == 0 || memcmp(s->frames, b->numbers.data, s->count * sizeof *s->frames) == 0);
}

/* Fills numbers and scratch from the raw addresses. */
static bool stackbook_resolve(struct stackbook *b, struct modmap *modules, const struct stackbook_raw *raw,
                              uint64_t *hash)
{
    if (!vec_reserve(&b->numbers, raw->count) || !vec_reserve(&b->scratch, raw->count))
        return false;
    uint64_t h = hash_join(raw->cut, raw->omitted);
    for (uint32_t i = 0; i < raw->count; i++) {
        uint32_t frame = stackbook_frame(b, modules, raw->addresses[i], raw->generation);
        if (frame == 0)
            return false;
        b->numbers.data[i] = frame - 1;
        b->scratch.data[i] = b->frames.data[frame - 1];
        h = hash_join(h, frame);
    }
    b->scratch.count = b->numbers.count = raw->count;
    *hash = h;
    return true;
}

static uint32_t stackbook_append(struct stackbook *b, const struct stackbook_raw *raw, uint64_t hash,
                                 uint32_t next)
{
    struct stackbook_stack s = {hash, NULL, raw->count, raw->omitted, raw->cut, next};
    s.frames = arena_push_array(&b->arena, raw->count, sizeof *s.frames);
    if (s.frames == NULL || b->stacks.count >= UINT32_MAX - 1)
        return 0;
    if (raw->count != 0)
        memcpy(s.frames, b->numbers.data, raw->count * sizeof *s.frames);
    if (!vec_push(&b->stacks, s) || !map_set(&b->by_hash, hash, b->stacks.count))
        return 0;
    if (raw->cut != CUT_NOT)
        b->cut_stacks++;
    return (uint32_t)b->stacks.count;
}

uint32_t stackbook_add(struct stackbook *b, struct modmap *modules, const struct stackbook_raw *raw,
                       bool *is_new)
{
    uint64_t hash;
    *is_new = false;
    if (!stackbook_resolve(b, modules, raw, &hash))
        return 0;
    uint64_t *chain = map_find(&b->by_hash, hash);
    uint32_t first = chain == NULL ? 0 : (uint32_t)*chain;
    uint32_t number = first;
    while (number != 0 && !stackbook_equal(&b->stacks.data[number - 1], b, raw))
        number = b->stacks.data[number - 1].next;
    if (number == 0) {
        number = stackbook_append(b, raw, hash, first);
        *is_new = number != 0;
    }
    if (number == 0 || !stackbook_set_id(b, raw->id, number))
        return 0;
    return number;
}
