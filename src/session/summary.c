/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * summary: see summary.h.
 */
#include "session/summary.h"

#include "store/names.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static void summary_add(struct summary *f, const struct wake_process *p, size_t index)
{
    const struct wake_process_end *e = &p->end;
    uint64_t threads = e->threads > p->threads.count ? e->threads : p->threads.count;
    f->threads += threads == 0 ? 1 : threads; /* one that never allocated has told of no thread */
    if (e->end_ns > f->runtime_ns)
        f->runtime_ns = e->end_ns;
    f->events += p->events;
    f->allocations += e->allocations;
    f->frees += e->frees;
    f->allocated_bytes += e->allocated_bytes;
    if (index == 0 || e->peak_bytes > f->peak_bytes) {
        f->peak_bytes = e->peak_bytes;
        f->peak_blocks = e->peak_blocks;
        f->peak_time_ns = e->peak_time_ns;
        f->peak_process = index;
    }
    f->leaked_blocks += e->leaked_blocks;
    f->leaked_bytes += e->leaked_bytes;
    for (size_t i = 0; i < p->totals.count; i++) {
        f->temporary_blocks += p->totals.data[i].temporary;
        f->temporary_bytes += p->totals.data[i].temporary_bytes;
    }
    f->lacks_temporaries |= p->derived && !wake_process_knows_order(p);
    f->stacks += p->stacks.count == 0 ? 0 : p->stacks.count - 1;
    f->cut_stacks += e->cut_stacks;
    f->made_up |= e->made_up;
    f->lost_events += e->lost_events + p->missing_events;
    f->unknown_frees += e->unknown_frees;
    f->inherited_frees += e->inherited_frees;
    f->implied_frees += e->implied_frees;
    if (e->peak_rss_bytes > f->peak_rss_bytes)
        f->peak_rss_bytes = e->peak_rss_bytes;
    const struct wake_omissions *o = &p->omitted;
    if (o->threshold_ns > f->cull_threshold_ns)
        f->cull_threshold_ns = o->threshold_ns;
    if (o->sample_rate > f->sample_rate)
        f->sample_rate = o->sample_rate;
    f->samples += o->samples;
    uint64_t off_ns = wake_process_off_time(p);
    f->off_ns = off_ns > f->off_ns ? off_ns : f->off_ns;
    f->lacks_culled |= wake_process_lacks_culled(p);
    f->culled_blocks += o->culled_blocks;
    f->culled_bytes += o->culled_bytes;
    if (o->limit_ns != 0 && (f->limit_ns == 0 || o->limit_ns < f->limit_ns))
        f->limit_ns = o->limit_ns;
    f->limited_events += o->allocations + o->frees + o->others;
    f->complete &= e->complete && p->ended && !p->derived;
}

void summary_gather(struct summary *f, const struct wake_reader *r)
{
    const struct wake_summary *s = wake_reader_summary(r);
    memset(f, 0, sizeof *f);
    f->processes = wake_reader_process_count(r);
    f->complete = s->complete && wake_reader_damage_count(r) == 0;
    for (size_t i = 0; i < f->processes; i++)
        summary_add(f, wake_reader_process(r, i), i);
    f->lost_events += s->not_kept;
    f->unrecorded_processes = s->unrecorded;
    f->is_whole = f->complete && s->unrecorded == 0;
}

void summary_count_names(struct summary_names *f, struct wake_reader *r)
{
    const struct names *n = wake_reader_names(r);
    memset(f, 0, sizeof *f);
    for (uint32_t i = 1; n != NULL && i <= names_image_count(n); i++) {
        f->images += names_get_image(n, i)->source != NAME_SOURCE_NONE;
        f->missing += names_get_image(n, i)->source == NAME_SOURCE_MISSING;
        f->places += names_count_image(n, i);
    }
    f->binaries = wake_reader_binary_count(r);
    for (size_t i = 0; i < f->binaries; i++)
        f->binary_bytes += wake_reader_binary(r, i)->length;
}

const struct wake_process *summary_last_image(const struct wake_reader *r)
{
    const struct wake_process *p = wake_reader_process(r, 0);
    for (size_t i = 1; i < wake_reader_process_count(r); i++) {
        const struct wake_process *next = wake_reader_process(r, i);
        if (p->ended && p->end.execed && next->info.pid == p->info.pid)
            p = next;
    }
    return p;
}

void summary_describe_end(const struct wake_process *p, char *text, size_t size)
{
    int status = p->end.wait_status;
    if (!p->ended)
        snprintf(text, size, "its end is not in the file");
    else if (p->end.goes_on)
        snprintf(text, size, "goes on in the next file");
    else if (p->end.execed)
        snprintf(text, size, "went on as another program");
    else if (status == -1)
        snprintf(text, size, "ended");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "killed by SIG%s",
                 sigabbrev_np(WTERMSIG(status)) == NULL ? "?" : sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(text, size, "exit code %d", WEXITSTATUS(status));
}
