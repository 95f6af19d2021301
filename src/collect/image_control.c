/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * image_control: the collector's part in switching a process off and on
 * (wire/segment.h), and in wishes that come by signal.
 *
 *     ON --somebody's wish--> FADING --a second later--> OFF --somebody's wish--> ON
 *
 * Fading lasts so long because a thread may be about to publish an allocation
 * that it made while recording was on, and be preempted there; and longer where so much
 * was published that it has not all been read.  In the end the pass list is filled with
 * all blocks that are live; what is published later still is entered as it comes.
 */
#include "collect/image.h"

#include "collect/arch.h"
#include "store/format.h"

#include <string.h>

#define IMAGE_FADING_NS UINT64_C(1000000000)

bool image_is_on(const struct image *m)
{
    uint32_t control = __atomic_load_n(&m->view.head->control, __ATOMIC_ACQUIRE);
    return (control & SEGMENT_STATE_MASK) == SEGMENT_ON;
}

void image_switch(struct image *m, bool on)
{
    struct segment_head *head = m->view.head;
    uint32_t old = __atomic_load_n(&head->control, __ATOMIC_ACQUIRE);
    if (!on)
        __atomic_store_n(&head->has_gaps, 1, __ATOMIC_RELEASE);
    for (int tries = 0; tries < 1000; tries++) {
        bool is_on = (old & SEGMENT_STATE_MASK) == SEGMENT_ON;
        uint32_t changed = segment_change(old, on ? SEGMENT_ON : SEGMENT_FADING);
        if (is_on == on)
            return;
        if (!__atomic_compare_exchange_n(&head->control, &old, changed, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            continue;
        image_mark(m, on ? FORMAT_MARK_ON : FORMAT_MARK_OFF);
        return;
    }
}

void image_mark(struct image *m, const char *name)
{
    uint64_t stamp = m->line.is_sequence ? UINT64_MAX : arch_counter();
    uint64_t time = timeline_mark(&m->line, stamp);
    wake_stream_mark(m->pair.stream, time, 0, name, strlen(name));
    m->pair.events++;
}

static void image_forget_list(struct image *m)
{
    m->pair.pass = NULL;
    tracked_frees_close(&m->pass);
}

/* False: no memory for it; all releases are told then. */
static bool image_fill_list(struct image *m)
{
    image_forget_list(m);
    if (!tracked_frees_open(&m->pass, m->view.pass, &m->pair.blocks))
        return false;
    m->pair.pass = &m->pass;
    return true;
}

void image_follow(struct image *m, uint64_t now_ns)
{
    uint32_t *word = &m->view.head->control;
    uint32_t control = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (m->failed)
        return;
    if (control != m->control) {
        m->control = control;
        m->fading_until_ns = now_ns + IMAGE_FADING_NS;
        m->fading_stamp = order_now(&m->order);
        image_forget_list(m);
        if ((control & SEGMENT_STATE_MASK) == SEGMENT_OFF) /* it began so: no bit is set */
            (void)image_fill_list(m);
        return;
    }
    if ((control & SEGMENT_STATE_MASK) != SEGMENT_FADING || now_ns < m->fading_until_ns ||
        !order_has_passed(&m->order, m->fading_stamp))
        return;
    m->fading_until_ns = now_ns + IMAGE_FADING_NS;
    uint32_t off = segment_change(control, SEGMENT_OFF);
    if (image_fill_list(m) &&
        __atomic_compare_exchange_n(word, &control, off, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        m->control = off;
}

void image_silence(struct image *m)
{
    image_forget_list(m);
    memset(m->view.pass, 0, SEGMENT_PASS_SIZE);
    __atomic_store_n(&m->view.head->control, SEGMENT_OFF, __ATOMIC_RELEASE);
}

bool image_is_wished(const struct image *m)
{
    const struct segment_head *head = m->view.head;
    bool is_uttered = __atomic_load_n(&head->control, __ATOMIC_ACQUIRE) != m->control ||
                      (m->control & SEGMENT_STATE_MASK) == SEGMENT_FADING;
    for (unsigned i = 0; i < SEGMENT_WISHES; i++)
        is_uttered |= __atomic_load_n(&head->wishes[i], __ATOMIC_ACQUIRE) != m->wishes[i];
    return is_uttered;
}

uint32_t image_hear(struct image *m, enum segment_wish wish)
{
    uint32_t uttered = __atomic_load_n(&m->view.head->wishes[wish], __ATOMIC_ACQUIRE);
    uint32_t more = uttered - m->wishes[wish];
    m->wishes[wish] = uttered;
    return more;
}
