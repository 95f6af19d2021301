/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * gzip: bytes that reach an `out` compressed.
 */
#ifndef HW_EXPORT_GZIP_H
#define HW_EXPORT_GZIP_H

#include <stddef.h>

#include "export/out.h"
#include "tool/err.h"

struct gzip;

/* NULL: no memory. */
struct gzip *gzip_new(struct out *out);
void gzip_free(struct gzip *g);
void gzip_add(struct gzip *g, const void *bytes, size_t length);
/* Writes what is left and the end of the file.  ERR_MEMORY: zlib gave up on the way. */
int gzip_finish(struct gzip *g, struct err *err);

#endif
