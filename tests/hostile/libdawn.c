/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libdawn: a library that allocates while it is being relocated.  It is named after
 * whatever is preloaded, so it is relocated before that: in its IFUNC resolver a
 * preloaded malloc can be called whose own GOT is still empty.  It does so again in its
 * constructor.  What it made is taken over by the program.
 */
#include "dawn.h"

#include <malloc.h>
#include <stdlib.h>

/* Not by its name: the loader would copy it into the program afterwards, as it was at first. */
static struct dawn dawn;

struct dawn *dawn_made(void)
{
    return &dawn;
}

static int answer(void)
{
    return 6;
}

/* Not through the PLT: these are bound with the library's data, which comes before resolvers. */
static void *(*volatile the_malloc)(size_t) = malloc;
static void *(*volatile the_calloc)(size_t, size_t) = calloc;
static void *(*volatile the_realloc)(void *, size_t) = realloc;
static void *(*volatile the_memalign)(size_t, size_t) = memalign;
static size_t (*volatile the_usable_size)(void *) = malloc_usable_size;
static void (*volatile the_free)(void *) = free;

static unsigned char *filled(void *block, size_t size)
{
    unsigned char *bytes = block;
    if (bytes != NULL)
        bytes[0] = bytes[size - 1] = (unsigned char)(size * 7);
    return bytes;
}

/* No stack protector and no other calls: there is nothing yet to lean on. */
static int (*resolve(void))(void)
{
    struct dawn *d = &dawn;
    d->is_bound = the_malloc != NULL && the_calloc != NULL && the_realloc != NULL && the_memalign != NULL &&
                  the_usable_size != NULL && the_free != NULL;
    if (!d->is_bound)
        return answer;
    for (int i = 0; i < DAWN_BLOCKS; i++)
        d->plain[i] = filled(the_malloc(DAWN_PLAIN), DAWN_PLAIN);
    unsigned char *zeroed = the_calloc(1, DAWN_ZEROED);
    d->was_zero = zeroed != NULL;
    for (int i = 0; d->was_zero && i < DAWN_ZEROED; i++)
        d->was_zero = zeroed[i] == 0;
    the_free(zeroed);
    unsigned char *small = filled(the_malloc(DAWN_SMALL), DAWN_SMALL);
    d->grown = the_realloc(small, DAWN_GROWN);
    d->was_kept = d->grown != NULL && d->grown[DAWN_SMALL - 1] == (unsigned char)(DAWN_SMALL * 7);
    d->aligned = filled(the_memalign(256, DAWN_ALIGNED), DAWN_ALIGNED);
    d->had_room = the_usable_size(d->aligned) >= DAWN_ALIGNED && the_usable_size(d->plain[1]) >= DAWN_PLAIN;
    return answer;
}

static int picked(void) __attribute__((ifunc("resolve")));
static int (*volatile pick)(void) = picked; /* an IRELATIVE relocation of the library's own */

int dawn_answer(void)
{
    return pick();
}

__attribute__((constructor)) static void constructed(void)
{
    for (int i = 0; i < DAWN_BLOCKS; i++)
        dawn.constructed[i] = filled(malloc(DAWN_CONSTRUCTED), DAWN_CONSTRUCTED);
}
