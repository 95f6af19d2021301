/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * gzip: see gzip.h.
 */
#include "export/gzip.h"

#include "tool/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    GZIP_WINDOW = 15 + 16, /* the largest, with gzip's frame around it */
    GZIP_MEMORY = 8,       /* zlib's default */
    GZIP_ROOM = 1 << 15,
};

struct gzip {
    struct out *out;
    z_stream stream;
    int state; /* Z_OK until something fails */
    unsigned char room[GZIP_ROOM];
};

struct gzip *gzip_new(struct out *out)
{
    struct gzip *g = memory_new_zeroed(1, sizeof *g);
    if (g == NULL)
        return NULL;
    g->out = out;
    if (deflateInit2(&g->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(g);
        return NULL;
    }
    return g;
}

void gzip_free(struct gzip *g)
{
    if (g != NULL)
        deflateEnd(&g->stream);
    free(g);
}

static void gzip_deflate(struct gzip *g, int flush)
{
    do {
        g->stream.next_out = g->room;
        g->stream.avail_out = sizeof g->room;
        g->state = deflate(&g->stream, flush);
        out_add(g->out, g->room, sizeof g->room - g->stream.avail_out);
    } while (g->state == Z_OK && g->stream.avail_out == 0);
    if (g->state == Z_BUF_ERROR) /* nothing was left to do */
        g->state = Z_OK;
}

void gzip_add(struct gzip *g, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    while (length > 0 && g->state == Z_OK) {
        unsigned part = length > UINT_MAX ? UINT_MAX : (unsigned)length;
        g->stream.next_in = (unsigned char *)(uintptr_t)at; /* zlib only reads it */
        g->stream.avail_in = part;
        gzip_deflate(g, Z_NO_FLUSH);
        at += part;
        length -= part;
    }
}

int gzip_finish(struct gzip *g, struct err *err)
{
    if (g->state == Z_OK) {
        g->stream.avail_in = 0;
        gzip_deflate(g, Z_FINISH);
    }
    return g->state == Z_STREAM_END ? 0 : err_no_memory(err);
}
