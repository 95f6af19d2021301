/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * audit: see audit.h.
 */
#include "session/audit.h"

#include "store/live.h"
#include "store/weight.h"
#include "tool/map.h"
#include "tool/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AUDIT_SAY_MAX = 10 }; /* sentences of one kind about one process */

struct walk {
    struct audit *audit;
    const struct wake_process *process;
    struct wake_live live;
    struct map addresses;             /* live addresses -> allocation number */
    struct wake_stack_totals *totals; /* by stack */
    uint64_t *latest;                 /* by thread: number + 1 of its latest allocation */
    uint32_t latest_count;
    size_t stack_count;
    uint64_t time_ns, allocations, frees, allocated_bytes, unknown, lost;
    uint64_t recorded; /* allocs and frees */
    uint64_t live_blocks, live_bytes, peak_bytes, peak_time_ns, peak_event;
    uint64_t bad_order, bad_time, bad_name;
    bool knows_order; /* wake_process_knows_order */
    bool out_of_memory;
};

static void audit_say(const struct walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void audit_say(const struct walk *w, const char *format, ...)
{
    char text[512];
    int length = snprintf(text, sizeof text, "Process %u: ", w->process->info.pid);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, args);
    va_end(args);
    w->audit->problem(w->audit->problem_of, text);
}

static void walk_alloc(struct walk *w, const struct wake_block *b, uint32_t i)
{
    uint64_t number = b->number[i];
    struct weight weight = weight_of(&w->process->rule, number, b->size[i]);
    if (map_find(&w->addresses, b->address[i]) != NULL && w->bad_order++ < AUDIT_SAY_MAX)
        audit_say(w, "allocation %llu has address 0x%llx, which is live.", (unsigned long long)number,
                  (unsigned long long)b->address[i]);
    if (!map_set(&w->addresses, b->address[i], number) || !wake_live_add(&w->live, b, i))
        w->out_of_memory = true;
    if (b->stack[i] < w->stack_count) {
        w->totals[b->stack[i]].allocations += weight.blocks;
        w->totals[b->stack[i]].allocated_bytes += weight.bytes;
    } else if (w->bad_name++ < AUDIT_SAY_MAX) {
        audit_say(w, "allocation %llu names stack %u, which is not there.", (unsigned long long)number,
                  b->stack[i]);
    }
    w->recorded++;
    w->allocations += weight.blocks;
    w->allocated_bytes += weight.bytes;
    w->live_blocks += weight.blocks;
    w->live_bytes += weight.bytes;
    if (b->thread[i] < w->latest_count)
        w->latest[b->thread[i]] = number + 1;
    if (w->live_bytes > w->peak_bytes) {
        w->peak_bytes = w->live_bytes;
        w->peak_time_ns = b->time_ns[i];
        w->peak_event = b->first_event + i;
    }
}

static void walk_free(struct walk *w, const struct wake_block *b, uint32_t i)
{
    struct wake_live_block was;
    if (!wake_live_take(&w->live, b->number[i], &was)) {
        if (w->bad_order++ < AUDIT_SAY_MAX)
            audit_say(w, "a free at %llu ns is of allocation %llu, which is not live.",
                      (unsigned long long)b->time_ns[i], (unsigned long long)b->number[i]);
        return;
    }
    struct weight weight = weight_of(&w->process->rule, b->number[i], was.size);
    map_remove(&w->addresses, was.address, NULL);
    w->recorded++;
    w->frees += weight.blocks;
    w->live_blocks -= weight.blocks;
    w->live_bytes -= weight.bytes;
    if (was.stack < w->stack_count) {
        w->totals[was.stack].freed += weight.blocks;
        w->totals[was.stack].freed_bytes += weight.bytes;
        if (w->knows_order && b->thread[i] < w->latest_count && w->latest[b->thread[i]] == b->number[i] + 1) {
            w->totals[was.stack].temporary++;
            w->totals[was.stack].temporary_bytes += was.size;
        }
    }
}

static int walk_block(const struct wake_block *b, void *context)
{
    struct walk *w = context;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->time_ns[i] < w->time_ns && w->bad_time++ < AUDIT_SAY_MAX)
            audit_say(w, "time goes back at event %llu.", (unsigned long long)b->first_event + i);
        w->time_ns = b->time_ns[i];
        switch (b->event[i]) {
        case WAKE_ALLOC:
            walk_alloc(w, b, i);
            break;
        case WAKE_FREE:
            walk_free(w, b, i);
            break;
        case WAKE_FREE_UNKNOWN:
            w->unknown++;
            break;
        case WAKE_LOST:
            w->lost += b->size[i];
            break;
        default:
            break;
        }
    }
    w->audit->events += b->count;
    return w->out_of_memory;
}

static void walk_compare(const struct walk *w, const char *what, uint64_t written, uint64_t found)
{
    if (written != found)
        audit_say(w, "the recorder wrote %llu %s, the events make %llu.", (unsigned long long)written, what,
                  (unsigned long long)found);
}

/* Are the totals t of a stack those of its events o and of the culled blocks c? */
static bool walk_is_same(const struct wake_process *p, const struct wake_stack_totals *t,
                         const struct wake_stack_totals *o, const struct wake_culled_stack *c)
{
    uint64_t blocks = c->blocks, bytes = c->bytes;
    if (p->omitted.sample_rate != 0 && blocks != 0) {
        /* What culled samples stand for is in the totals alone; but all were made and freed. */
        if (t->allocations - o->allocations < blocks || t->allocated_bytes - o->allocated_bytes < bytes)
            return false;
        blocks = t->allocations - o->allocations;
        bytes = t->allocated_bytes - o->allocated_bytes;
    }
    bool has_temporaries = t->temporary == o->temporary && t->temporary_bytes == o->temporary_bytes;
    /* Whether a block was temporary shows only where its neighbours are recorded too. */
    return t->allocations == o->allocations + blocks && t->allocated_bytes == o->allocated_bytes + bytes &&
           t->freed == o->freed + blocks && t->freed_bytes == o->freed_bytes + bytes &&
           (p->omitted.is_culled || has_temporaries);
}

static void walk_compare_totals(const struct walk *w)
{
    const struct wake_process *p = w->process;
    uint64_t wrong = 0;
    for (size_t i = 0; i < w->stack_count; i++) {
        static const struct wake_stack_totals none;
        const struct wake_stack_totals *t = i < p->totals.count ? &p->totals.data[i] : &none;
        static const struct wake_culled_stack nothing;
        const struct wake_culled_stack *c = i < p->culled.count ? &p->culled.data[i] : &nothing;
        if (!walk_is_same(p, t, &w->totals[i], c) && wrong++ < AUDIT_SAY_MAX)
            audit_say(w, "the totals of stack %zu are not those of its events.", i);
    }
    uint64_t peak = 0;
    for (size_t i = 0; i < p->totals.count; i++)
        peak += p->totals.data[i].peak_bytes;
    walk_compare(w, "peak bytes in all stacks", peak, p->end.peak_bytes);
}

/* The peak, where all events are there; else it can only have been higher than they make it. */
static void walk_compare_peak(const struct walk *w)
{
    const struct wake_process_end *e = &w->process->end;
    if (w->process->omitted.is_culled) {
        if (e->peak_bytes < w->peak_bytes)
            walk_compare(w, "peak bytes", e->peak_bytes, w->peak_bytes);
        return;
    }
    walk_compare(w, "peak bytes", e->peak_bytes, w->peak_bytes);
    walk_compare(w, "ns as time of the peak", e->peak_time_ns, w->peak_time_ns);
    walk_compare(w, "as event of the peak", e->peak_event, w->peak_event);
}

/* What the samples in the list of live blocks stand for: also where events are in other files, or behind the limit. */
static void walk_compare_live(const struct walk *w)
{
    const struct wake_process *p = w->process;
    struct weight sum = {0};
    if (p->omitted.sample_rate == 0 || (p->omitted.is_culled && !p->omitted.has_gaps))
        return;
    for (size_t i = 0; i < p->live.count; i++) {
        struct weight weight = weight_of(&p->rule, p->live.data[i].allocation, p->live.data[i].size);
        sum.blocks += weight.blocks;
        sum.bytes += weight.bytes;
    }
    if (sum.blocks != p->end.leaked_blocks || sum.bytes != p->end.leaked_bytes)
        audit_say(w,
                  "the recorder wrote %llu leaked blocks of %llu bytes, its list of live blocks makes %llu "
                  "of %llu.",
                  (unsigned long long)p->end.leaked_blocks, (unsigned long long)p->end.leaked_bytes,
                  (unsigned long long)sum.blocks, (unsigned long long)sum.bytes);
}

static void walk_compare_end(const struct walk *w)
{
    const struct wake_process *p = w->process;
    const struct wake_process_end *e = &p->end;
    const struct wake_omissions *o = &p->omitted;
    walk_compare_live(w);
    if (o->elsewhere_allocations != 0 || o->elsewhere_frees != 0) {
        /* Nothing is compared of a process that had ended before, nor while events wait to be culled. */
        if (w->recorded != 0 && !(p->end.goes_on && o->is_culled))
            walk_compare(w, "live blocks at the end", p->live.count, wake_live_count(&w->live));
        return; /* the sums are those of the whole series */
    }
    if (o->sample_rate == 0) {
        walk_compare(w, "allocations", e->allocations, w->allocations + o->culled_blocks + o->allocations);
        walk_compare(w, "frees", e->frees, w->frees + o->culled_blocks + o->frees);
    } else {
        walk_compare(w, "samples", o->samples + o->freed_samples,
                     w->recorded + 2 * o->culled_blocks + o->allocations + o->frees);
    }
    bool is_culled_sample = o->is_culled && o->sample_rate != 0;
    if (o->is_limited || (is_culled_sample && !o->has_gaps))
        return; /* how large the later ones were is in the totals alone, as is how many samples stand for */
    if (!is_culled_sample) /* what culled ones stand for is in the totals alone */
        walk_compare(w, "allocated bytes", e->allocated_bytes, w->allocated_bytes + o->culled_bytes);
    walk_compare_peak(w);
    walk_compare(w, "leaked bytes", e->leaked_bytes, w->live_bytes);
    walk_compare(w, "leaked blocks", e->leaked_blocks, w->live_blocks);
    walk_compare(w, "frees of unknown blocks", e->unknown_frees + e->inherited_frees, w->unknown);
    walk_compare(w, "live blocks at the end", p->live.count, wake_live_count(&w->live));
    if (w->lost > e->lost_events)
        audit_say(w, "the events tell of %llu lost ones, the end of %llu.", (unsigned long long)w->lost,
                  (unsigned long long)e->lost_events);
    for (size_t i = 0; i < p->live.count; i++) {
        struct map addresses = w->addresses;
        const uint64_t *number = map_find(&addresses, p->live.data[i].address);
        if (number == NULL || *number != p->live.data[i].allocation) {
            audit_say(w, "the list of live blocks has 0x%llx, which is not live.",
                      (unsigned long long)p->live.data[i].address);
            break;
        }
    }
    walk_compare_totals(w);
}

static bool walk_init(struct walk *w, struct audit *a, size_t process)
{
    memset(w, 0, sizeof *w);
    w->audit = a;
    w->process = wake_reader_process(a->reader, process);
    w->knows_order = wake_process_knows_order(w->process);
    wake_live_init(&w->live);
    map_init(&w->addresses);
    w->stack_count = w->process->stacks.count == 0 ? 1 : w->process->stacks.count;
    w->totals = memory_new_zeroed(w->stack_count, sizeof *w->totals);
    for (size_t i = 0; i < w->process->threads.count; i++) {
        if (w->process->threads.data[i].number >= w->latest_count)
            w->latest_count = w->process->threads.data[i].number + 1;
    }
    if (w->latest_count == 0)
        w->latest_count = 1;
    w->latest = memory_new_zeroed(w->latest_count, sizeof *w->latest);
    return w->totals != NULL && w->latest != NULL;
}

static void walk_release(struct walk *w)
{
    wake_live_release(&w->live);
    map_release(&w->addresses);
    free(w->totals);
    free(w->latest);
}

void audit_init(struct audit *a, struct wake_reader *r, audit_fn *problem, void *of)
{
    *a = (struct audit){.reader = r, .problem = problem, .problem_of = of};
}

int audit_process(struct audit *a, size_t process, struct err *err)
{
    struct walk w;
    int code = 0;
    const struct wake_summary *s = wake_reader_summary(a->reader);
    if (!walk_init(&w, a, process))
        w.out_of_memory = true;
    if (!w.out_of_memory)
        code = wake_reader_visit(a->reader, process, 0, UINT64_MAX, walk_block, &w, err);
    if (w.out_of_memory)
        code = err_no_memory(err);
    if (code == 0) {
        if (!w.process->known)
            audit_say(&w, "what it was called and when it began is not in the file.");
        if (wake_process_lacks_culled(w.process))
            audit_say(&w, "its end is not in the file. Culling has held back its last %llu ms.",
                      (unsigned long long)(w.process->omitted.threshold_ns / 1000000));
        else if (!w.process->ended)
            audit_say(&w, "its end is not in the file.");
        else if (!w.process->derived && w.process->missing_events == 0 && s->write_error == 0)
            walk_compare_end(&w);
        if (w.process->missing_events != 0)
            audit_say(&w, "%llu events are missing from the file.",
                      (unsigned long long)w.process->missing_events);
        if (w.process->ended && !w.process->end.complete)
            audit_say(&w, "not everything that it published was read.");
    }
    a->lost += w.process->end.lost_events;
    const struct wake_omissions *o = &w.process->omitted;
    a->made += o->sample_rate != 0 ? o->samples + o->freed_samples
                                   : w.process->end.allocations + w.process->end.frees +
                                         w.process->end.unknown_frees + w.process->end.inherited_frees;
    /* Blocks of earlier files are visited as if they were made here. */
    a->events -= w.process->carried.count;
    a->recorded += w.recorded + w.unknown - w.process->carried.count;
    a->culled += 2 * o->culled_blocks;
    a->limited += o->allocations + o->frees + o->others;
    a->elsewhere += o->elsewhere_allocations + o->elsewhere_frees;
    walk_release(&w);
    return code;
}

void audit_recording(struct audit *a)
{
    char text[256];
    const struct wake_summary *s = wake_reader_summary(a->reader);
    a->lost += s->not_kept;
    if (s->write_error != 0) {
        snprintf(text, sizeof text, "Writing stopped (%s); %llu events were not kept.",
                 strerror(s->write_error), (unsigned long long)s->not_kept);
        a->problem(a->problem_of, text);
    }
    if (!s->closed)
        a->problem(a->problem_of, "The recorder did not close the file.");
    if (s->events != a->events) {
        snprintf(text, sizeof text, "The file claims %llu events and holds %llu.",
                 (unsigned long long)s->events, (unsigned long long)a->events);
        a->problem(a->problem_of, text);
    }
    /* What the writer could not keep includes events that are neither made nor released blocks. */
    if (s->closed && a->elsewhere == 0 && a->made > a->recorded + a->culled + a->limited + s->not_kept) {
        snprintf(
            text, sizeof text,
            "%llu events were made, %llu are recorded, %llu culled, %llu beyond the size of the file and "
            "%llu counted as not kept.",
            (unsigned long long)a->made, (unsigned long long)a->recorded, (unsigned long long)a->culled,
            (unsigned long long)a->limited, (unsigned long long)s->not_kept);
        a->problem(a->problem_of, text);
    }
}
