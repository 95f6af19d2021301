/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * protoread: the fields of a protobuf message, one after the other, out of memory
 * that stays where it is.
 *
 *     field = tag (number << 3 | kind), then
 *         kind 0: a varint    1: 8 bytes    2: a length and so many bytes    5: 4 bytes
 */
#ifndef HW_IMPORT_PROTOREAD_H
#define HW_IMPORT_PROTOREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

struct protoread {
    uint32_t number;      /* of the field */
    uint64_t value;       /* kinds 0, 1, 5 */
    struct cursor inside; /* kind 2 */
    bool is_bytes;        /* kind 2 */
};

/* The next field of a message; false: it is over, or bad. */
static inline bool protoread_next(struct cursor *c, struct protoread *p)
{
    if (cursor_left(c) == 0)
        return false;
    uint64_t tag = cursor_uleb(c), length = 0;
    *p = (struct protoread){.number = (uint32_t)(tag >> 3)};
    switch (tag & 7) {
    case 0:
        p->value = cursor_uleb(c);
        break;
    case 1:
        p->value = cursor_u64(c);
        break;
    case 5:
        p->value = cursor_u32(c);
        break;
    case 2:
        length = cursor_uleb(c);
        p->is_bytes = true;
        break;
    default:
        c->bad = true;
    }
    const uint8_t *bytes = cursor_take(c, length);
    if (bytes != NULL)
        cursor_init(&p->inside, bytes, length);
    return !cursor_is_bad(c) && tag >> 3 <= UINT32_MAX;
}

/* Calls for each number of a repeated field that may be packed. */
#define PROTOREAD_EACH(p, variable) \
    for (bool protoread_go = true; protoread_go && protoread_number(p, &(variable), &protoread_go);)

/* For PROTOREAD_EACH. */
static inline bool protoread_number(struct protoread *p, uint64_t *value, bool *go)
{
    if (!p->is_bytes) {
        *value = p->value;
        *go = false;
        return true;
    }
    if (cursor_left(&p->inside) == 0)
        return false;
    *value = cursor_uleb(&p->inside);
    return !cursor_is_bad(&p->inside);
}

#endif
