/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * vec: a growable array of any type.
 *
 *     VEC(struct point) points = {0};
 *     if (!vec_push(&points, ((struct point){1, 2})))
 *         ... no memory; points is as before ...
 *     for (size_t i = 0; i < points.count; i++)
 *         use(points.data[i]);
 *     vec_release(&points);
 *
 * Elements move when the array grows: keep indexes, not pointers.
 */
#ifndef HW_TOOL_VEC_H
#define HW_TOOL_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tool/memory.h"

#define VEC(type)        \
    struct {             \
        type *data;      \
        size_t count;    \
        size_t capacity; \
    }

/* Room for at least `need` elements in all; false: no memory, array unchanged. */
static inline bool vec_grow_bytes(void **data, size_t *capacity, size_t element, size_t need)
{
    if (need <= *capacity)
        return true;
    size_t wanted = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    if (wanted < need)
        wanted = need;
    size_t bytes;
    if (__builtin_mul_overflow(wanted, element, &bytes) || bytes > PTRDIFF_MAX)
        return false;
    void *moved = memory_resize(*data, bytes);
    if (moved == NULL)
        return false;
    *data = moved;
    *capacity = wanted;
    return true;
}

#define vec_reserve(v, need) vec_grow_bytes((void **)&(v)->data, &(v)->capacity, sizeof *(v)->data, need)

/* Appends a value; false: no memory. */
#define vec_push(v, value) \
    (vec_reserve(v, (v)->count + 1) ? ((v)->data[(v)->count++] = (value), true) : false)

#define vec_release(v)                  \
    do {                                \
        free((v)->data);                \
        (v)->data = NULL;               \
        (v)->count = (v)->capacity = 0; \
    } while (0)

#endif
