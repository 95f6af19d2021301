/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * labels: the words for the numbers of a recording.  Stable: scripts read them.
 */
#ifndef HW_PRESENT_LABELS_H
#define HW_PRESENT_LABELS_H

/* alloc, free, mmap, munmap, brk, tag, lost; a free of an unknown block is a free. */
const char *labels_event(unsigned event);
/* What made or released a block, or why events were lost; "-" for other events. */
const char *labels_detail(unsigned event, unsigned detail);
/* What made a block: malloc, new[]. */
const char *labels_kind(unsigned kind);
/* Why a stack is not complete; "" when it is. */
const char *labels_cut(unsigned cut);

#endif
