/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * flame_svg: a comparison as a picture: red where there is more than before,
 * green where there is less, grey where nothing has changed.
 *
 * The file stands alone: no script, nothing to load.  Browsers show the figures of a
 * box when the pointer is over it.
 */
#ifndef HW_PRESENT_FLAME_SVG_H
#define HW_PRESENT_FLAME_SVG_H

#include "analysis/flame.h"
#include "analysis/trace.h"
#include "engine/measure.h"
#include "tool/strbuf.h"

enum { FLAME_SVG_WIDTH = 1200 };

void flame_svg_add(struct strbuf *out, const struct traces *c, const struct flame *f, enum measure measure);

#endif
