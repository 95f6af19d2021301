/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * leaver: see leaver.h.
 */
#include "collect/leaver.h"

#include "collect/collector.h"
#include "collect/procfs.h"
#include "collect/tracee.h"

#include <sys/mman.h>

bool leaver_is_needed(const struct collector *c)
{
    return (c->launch == NULL || c->launch->pid == 0) && procfs_is_contained();
}

static bool leaver_is_everybody(const struct collector *c)
{
    for (size_t i = 0; i < c->tracees.count; i++) {
        if (!c->tracees.data[i]->is_leaving)
            return false;
    }
    return c->tracees.count != 0;
}

bool leaver_settle(struct collector *c)
{
    bool is_everybody = c->is_contained && leaver_is_everybody(c);
    if (is_everybody) { /* a child may have said hello since */
        tracee_accept(c);
        tracee_hear(c);
        is_everybody = leaver_is_everybody(c);
    }
    for (size_t i = 0; i < c->tracees.count && !is_everybody; i++) {
        struct tracee *t = c->tracees.data[i];
        if (t->leave_request != 0)
            image_answer_in(t->image->view.head, t->leave_request);
        t->leave_request = 0;
    }
    /* Else those who wait do so until it is known, or until they have waited long enough. */
    return is_everybody && !tracee_await(c) && c->visitors.count == 0;
}

void leaver_take(struct collector *c)
{
    while (c->tracees.count != 0) {
        struct tracee *t = c->tracees.data[c->tracees.count - 1];
        void *head = mremap(t->image->view.head, 0, SEGMENT_HEAD_SIZE, MREMAP_MAYMOVE); /* once more */
        if (head != MAP_FAILED && !vec_push(&c->leavers, ((struct leaver){head, t->leave_request})))
            munmap(head, SEGMENT_HEAD_SIZE);
        image_silence(t->image); /* its other threads are cut off where they are */
        tracee_end(c, t, false, true);
    }
}

void leaver_answer(struct collector *c)
{
    for (size_t i = 0; i < c->leavers.count; i++) {
        const struct leaver *l = &c->leavers.data[i];
        __atomic_store_n(&l->head->collector, SEGMENT_CLOSED, __ATOMIC_RELEASE);
        image_answer_in(l->head, l->request);
        munmap(l->head, SEGMENT_HEAD_SIZE);
    }
    vec_release(&c->leavers);
}
