/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fake_world: for tests: a segment with lanes that the test writes to, and the
 * image that drains it, in front of the fake store.
 *
 *     struct world w;
 *     world_open(&w, 16, 1);
 *     fake_put_alloc(&w.lane[0], 0x7000, 24, 0, world_now());
 *     image_drain(w.image);
 *     world_close(&w, NULL);
 */
#ifndef HW_COLLECT_FAKE_WORLD_H
#define HW_COLLECT_FAKE_WORLD_H

#include "collect/arch.h"
#include "collect/fake_segment.h"
#include "collect/fake_store.h"
#include "collect/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WORLD_LANES = 8 };

struct world {
    struct fake_segment segment;
    struct fake_lane lane[WORLD_LANES];
    struct timebase time;
    struct image *image;
};

/* lanes: at most WORLD_LANES. */
static inline void world_open(struct world *w, uint32_t chunks, int lanes)
{
    struct view view;
    memset(w, 0, sizeof *w);
    fake_reset();
    assert_true(fake_segment_open(&w->segment, chunks));
    for (int i = 0; i < lanes; i++)
        fake_lane_open(&w->lane[i], &w->segment);
    timebase_init(&w->time);
    assert_int_equal(view_open(&view, w->segment.fd, NULL), 0);
    w->image = image_new(&view, NULL, &w->time, view.fixed.start_ns, 1, 0, 0);
    assert_non_null(w->image);
}

/* end: may be NULL. */
static inline void world_close(struct world *w, struct image_end *end)
{
    struct image_end ignored;
    image_end(w->image, 0, false, true, false, 0, 0, end == NULL ? &ignored : end);
    fake_segment_close(&w->segment);
}

static inline uint64_t world_now(void)
{
    return arch_counter();
}

#endif
