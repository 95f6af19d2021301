/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * writing: the processes of a writer.
 */
#include "store/writing.h"

#include <stdlib.h>

#include "tool/memory.h"

struct writer_process *writer_find(struct wake_writer *w, uint32_t process)
{
    return process < w->processes.count ? w->processes.data[process] : NULL;
}

struct writer_process *writer_new_process(struct wake_writer *w, uint32_t number)
{
    struct writer_process *p = memory_new_zeroed(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->number = number;
    meta_init(&p->meta);
    stream_init(&p->stream, w);
    w->processes.data[number] = p;
    return p;
}

void writer_free_process(struct wake_writer *w, struct writer_process *p)
{
    stream_close(&p->stream);
    w->not_kept += p->stream.lost;
    w->processes.data[p->number] = NULL;
    cull_free(p->stream.cull);
    vec_release(&p->carried);
    strbuf_release(&p->levels);
    meta_release(&p->meta);
    free(p);
}
