/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * is_mmapped: see is_mmapped.h.
 */
#include "engine/is_mmapped.h"

enum { IS_MMAPPED_STRANGE = 2 /* what a visit gives when a block fits neither */ };

static int is_mmapped_events(const struct wake_block *b, void *context)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->event[i] == WAKE_ALLOC &&
            is_mmapped_of(b->address[i], b->size[i], b->usable[i], b->stack[i]) == IS_MMAPPED_UNKNOWN)
            return IS_MMAPPED_STRANGE;
    return watch_advance(context, b->count);
}

int is_mmapped_check(const struct filter *f, struct watch *watch, struct wake_reader *reader,
                     uint32_t process, struct err *err)
{
    if ((f->checks & CHECK_MAPPED) == 0)
        return 0;
    watch->total += f->process->events;
    int code = wake_reader_visit_columns(reader, process, 0, UINT64_MAX,
                                         WAKE_ADDRESS | WAKE_SIZE | WAKE_USABLE | WAKE_STACK,
                                         is_mmapped_events, watch, err);
    if (code != IS_MMAPPED_STRANGE)
        return code;
    if (f->process->carried.count > 0 &&
        f->process->info.has_arenas) /* their usable sizes are in an earlier file */
        return err_set(
            err, ERR_ABSENT,
            "Which blocks of process %u have a mapping of their own is not known of those that were "
            "made in an earlier file of the series: name that too.",
            f->process->info.pid);
    return err_set(err, ERR_ABSENT,
                   "Which blocks of process %u have a mapping of their own is not known: not all of them are "
                   "glibc's.",
                   f->process->info.pid);
}
