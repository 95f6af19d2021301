/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * summary: see summary.h.
 */
#include "session/summary.h"

#include "engine/when.h"
#include "store/names.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static uint64_t summary_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void summary_add_omissions(struct summary *s, const struct wake_process *p)
{
    const struct wake_omissions *o = &p->omitted;
    s->cull_threshold_ns = summary_larger(s->cull_threshold_ns, o->threshold_ns);
    s->lacks_culled |= wake_process_lacks_culled(p);
    s->culled_blocks += o->culled_blocks;
    s->culled_bytes += o->culled_bytes;
    s->sample_rate = summary_larger(s->sample_rate, o->sample_rate);
    s->samples += o->samples;
    s->off_ns = summary_larger(s->off_ns, wake_process_off_time(p));
    if (o->limit_ns != 0 && (s->limit_ns == 0 || o->limit_ns < s->limit_ns))
        s->limit_ns = o->limit_ns;
    s->limited_events += o->allocations + o->frees + o->others;
}

static void summary_add_process(struct summary *s, const struct wake_process *p)
{
    const struct wake_process_end *e = &p->end;
    uint64_t threads = summary_larger(e->threads, p->threads.count);
    s->threads += threads == 0 ? 1 : threads; /* one that never allocated has told of no thread */
    s->runtime_ns = summary_larger(s->runtime_ns, e->end_ns);
    s->events += p->events;
    s->allocations += e->allocations;
    s->frees += e->frees;
    s->allocated_bytes += e->allocated_bytes;
    if (s->processes++ == 0 || e->peak_bytes > s->peak_bytes) {
        s->peak_bytes = e->peak_bytes;
        s->peak_blocks = e->peak_blocks;
        s->peak_time_ns = e->peak_time_ns;
        s->peak_pid = p->info.pid;
    }
    s->leaked_blocks += e->leaked_blocks;
    s->leaked_bytes += e->leaked_bytes;
    for (size_t i = 0; i < p->totals.count; i++) {
        s->temporary_blocks += p->totals.data[i].temporary;
        s->temporary_bytes += p->totals.data[i].temporary_bytes;
    }
    s->lacks_temporaries |= p->derived && !wake_process_knows_order(p);
    s->stacks += p->stacks.count == 0 ? 0 : p->stacks.count - 1;
    s->cut_stacks += e->cut_stacks;
    s->made_up |= e->made_up;
    s->lost_events += e->lost_events + p->missing_events;
    s->unknown_frees += e->unknown_frees;
    s->inherited_frees += e->inherited_frees;
    s->implied_frees += e->implied_frees;
    s->peak_rss_bytes = summary_larger(s->peak_rss_bytes, e->peak_rss_bytes);
    s->complete &= e->complete && p->ended && !p->derived;
    summary_add_omissions(s, p);
}

/* q: only the processes that it chooses; NULL: all. */
static void summary_add_figures(struct summary *s, const struct wake_reader *r, const struct query *q)
{
    const struct wake_summary *file = wake_reader_summary(r);
    size_t count = wake_reader_process_count(r);
    s->complete = (s->files++ == 0 || s->complete) && file->complete && wake_reader_damage_count(r) == 0;
    if (s->args == NULL && count > 0) {
        const struct wake_process *first = wake_reader_process(r, 0);
        s->args = first->info.args;
        s->args_length = first->info.args_length;
        summary_describe_end(summary_last_image(r), s->end, sizeof s->end);
    }
    for (size_t i = 0; i < count; i++) {
        if (q == NULL || when_chooses(q, wake_reader_process(r, i)))
            summary_add_process(s, wake_reader_process(r, i));
    }
    s->lost_events += file->not_kept;
    s->unrecorded_processes += file->unrecorded;
}

/* Each once: of a job's ranks all may say the same. */
static int summary_add_notes(struct summary *s, const struct wake_reader *r, struct err *err)
{
    enum { NOTES_MAX = 100 }; /* no one reads more */
    for (size_t i = 0; i < wake_reader_note_count(r) && s->notes.count < NOTES_MAX; i++) {
        const char *note = wake_reader_note(r, i);
        size_t at = 0;
        while (at < s->notes.count && strcmp(s->notes.data[at], note) != 0)
            at++;
        if (at == s->notes.count && !vec_push(&s->notes, note))
            return err_no_memory(err);
    }
    return 0;
}

void summary_init(struct summary *s)
{
    memset(s, 0, sizeof *s);
    strcpy(s->end, "ended");
}

void summary_release(struct summary *s)
{
    vec_release(&s->notes);
}

int summary_add(struct summary *s, const struct wake_reader *r, struct err *err)
{
    summary_add_figures(s, r, NULL);
    return summary_add_notes(s, r, err);
}

void summary_gather(struct summary *s, const struct wake_reader *r)
{
    summary_gather_chosen(s, r, NULL);
}

void summary_gather_chosen(struct summary *s, const struct wake_reader *r, const struct query *q)
{
    summary_init(s);
    summary_add_figures(s, r, q);
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
