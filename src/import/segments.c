/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * segments: see segments.h.
 */
#include "import/segments.h"

#include <stddef.h>

#include "symbol/symbolizer.h"

void segments_init(struct segments *s, const char *sysroot)
{
    *s = (struct segments){.sysroot = sysroot};
}

void segments_release(struct segments *s)
{
    if (s->symbolizer != NULL)
        symbolizer_free(s->symbolizer);
    s->symbolizer = NULL;
}

bool segments_find(struct segments *s, const char *path, uint64_t offset, uint64_t *address)
{
    struct binary *b;
    if (s->symbolizer == NULL)
        s->symbolizer = symbolizer_new(&(struct symbolizer_options){.sysroot = s->sysroot});
    return s->symbolizer != NULL && symbolizer_open(s->symbolizer, &b, path, NULL, 0, NULL) == 0 &&
           binary_find_address(b, offset, address);
}
