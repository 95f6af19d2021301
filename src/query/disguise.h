/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * disguise: a whole recording under a veil (query/veil.h): other names for its
 * programs, threads, marks and modules, and for every place in its code, ready
 * for store/rewrite.h.
 *
 *     disguise_init(&d, r, VEIL_FULL, &err);
 *     wake_rewrite_add(rw, r, &d.mask, &err);
 *     disguise_release(&d);
 *
 * The tokens are those of the exports of the same recording.  Texts live until
 * disguise_release; the reader must stay open until then.
 */
#ifndef HW_QUERY_DISGUISE_H
#define HW_QUERY_DISGUISE_H

#include "query/veil.h"
#include "store/names.h"
#include "store/reader.h"
#include "store/rewrite.h"
#include "tool/err.h"
#include "tool/vec.h"

struct disguise {
    struct rewrite_mask mask;
    struct veil veil;
    struct names *names;
    VEC(const char *) paths; /* new paths, by the image's number in the recording - 1 */
    struct wake_reader *reader;
};

/* level: not VEIL_NONE.  ERR_MEMORY; release it even then. */
int disguise_init(struct disguise *d, struct wake_reader *r, enum veil_level level, struct err *err);
void disguise_release(struct disguise *d);

#endif
