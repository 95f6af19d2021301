/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * flame_svg: see flame_svg.h.
 */
#include "present/flame_svg.h"

#include "present/frames.h"
#include "present/markup.h"
#include "present/units.h"
#include "present/width.h"

#include <stdio.h>

enum { FLAME_SVG_LINE = 18, FLAME_SVG_HEAD = 40, FLAME_SVG_LETTER = 7 };

static const char *flame_svg_amount(char *text, enum measure measure, uint64_t amount)
{
    return measure_is_by_blocks(measure) ? units_count(text, amount) : units_bytes(text, amount);
}

static const char *flame_svg_change(char *text, enum measure measure, uint64_t before, uint64_t after)
{
    int64_t change = (int64_t)(after - before);
    return measure_is_by_blocks(measure) ? units_change_count(text, change)
                                         : units_change_bytes(text, change);
}

/* From grey to full colour, by how much of the box is change. */
static void flame_svg_colour(char *text, size_t size, uint64_t before, uint64_t after)
{
    double share = ((double)after - (double)before) / ((double)before + (double)after);
    unsigned faint = (unsigned)(225 - 175 * (share < 0 ? -share : share));
    if (after > before)
        snprintf(text, size, "#%02x%02x%02x", 235u, faint, faint);
    else if (after < before)
        snprintf(text, size, "#%02x%02x%02x", faint, 200u, faint);
    else
        snprintf(text, size, "#dddddd");
}

static void flame_svg_box(struct strbuf *out, const struct traces *c, const struct flame *f,
                          enum measure measure, const struct flame_box *b)
{
    char colour[16], x[UNITS_MAX], y[UNITS_MAX], z[UNITS_MAX];
    struct strbuf name;
    double left = b->x * FLAME_SVG_WIDTH, width = b->width * FLAME_SVG_WIDTH;
    unsigned top = FLAME_SVG_HEAD + (f->levels - 1 - b->level) * FLAME_SVG_LINE;
    strbuf_init(&name);
    if (b->frame == 0)
        strbuf_add_text(&name, "(no stack)");
    else
        frames_add_name(&name, &c->frames.data[b->frame - 1]);
    flame_svg_colour(colour, sizeof colour, b->before, b->after);
    strbuf_add_text(out, "<g><title>");
    markup_add_xml(out, strbuf_get(&name));
    strbuf_addf(out, ": %s (%s, then %s)</title>", flame_svg_change(x, measure, b->before, b->after),
                flame_svg_amount(y, measure, b->before), flame_svg_amount(z, measure, b->after));
    strbuf_addf(out, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>", left, top, width,
                FLAME_SVG_LINE - 1, colour);
    size_t letters = width > 6 ? (size_t)((width - 6) / FLAME_SVG_LETTER) : 0;
    if (letters >= 3) {
        struct strbuf label;
        strbuf_init(&label);
        width_add_name(&label, strbuf_get(&name), letters, true);
        strbuf_addf(out, "<text x=\"%.2f\" y=\"%u\">", left + 3, top + FLAME_SVG_LINE - 5);
        markup_add_xml(out, strbuf_get(&label));
        strbuf_add_text(out, "</text>");
        strbuf_release(&label);
    }
    strbuf_add_text(out, "</g>\n");
    strbuf_release(&name);
}

void flame_svg_add(struct strbuf *out, const struct traces *c, const struct flame *f, enum measure measure)
{
    char x[UNITS_MAX], y[UNITS_MAX], z[UNITS_MAX];
    unsigned height = FLAME_SVG_HEAD + f->levels * FLAME_SVG_LINE + 6;
    strbuf_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
                "font-family=\"monospace\" font-size=\"11\">\n",
                FLAME_SVG_WIDTH, height, FLAME_SVG_WIDTH, height);
    strbuf_addf(out, "<rect width=\"%d\" height=\"%u\" fill=\"white\"/>\n", FLAME_SVG_WIDTH, height);
    strbuf_addf(out, "<text x=\"4\" y=\"16\" font-size=\"13\">%s: %s (%s, then %s)</text>\n",
                measure_title(measure), flame_svg_change(x, measure, f->before, f->after),
                flame_svg_amount(y, measure, f->before), flame_svg_amount(z, measure, f->after));
    strbuf_add_text(out,
                    "<text x=\"4\" y=\"32\">red: more than before; green: less; grey: the same</text>\n");
    for (size_t i = 0; i < f->boxes.count; i++)
        flame_svg_box(out, c, f, measure, &f->boxes.data[i]);
    strbuf_add_text(out, "</svg>\n");
}
