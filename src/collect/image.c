/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * image: see image.h.
 */
#include "collect/image.h"

#include "collect/arch.h"
#include "collect/procfs.h"
#include "store/format.h"
#include "tool/memory.h"
#include "wire/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

enum { IMAGE_LAST_ROUNDS = 1000000, IMAGE_REQUESTS_MAX = 1 << 16 };

/* Does the program make its stamps of the clock word? Then it has no other. */
static bool image_is_clocked(const struct image *m)
{
    return m->line.is_sequence ||
           __atomic_load_n(&m->view.head->sequence, __ATOMIC_ACQUIRE) > SEGMENT_SEQUENCE_FIRST;
}

void image_follow_pace(struct image *m)
{
    uint64_t *clock = &m->view.head->clock;
    bool is_clocked = image_is_clocked(m);
    bool is_wanted = !m->failed && (is_clocked || m->drain.lane_count <= 1) && pace_is_flow(&m->pace);
    if (m->ticker == NULL || is_wanted == m->is_ticking)
        return;
    if (is_wanted) {
        m->is_ticking = ticker_add(m->ticker, clock, m->line.is_sequence);
        return;
    }
    ticker_remove(m->ticker, clock);
    m->is_ticking = false;
    if (!is_clocked)
        __atomic_store_n(clock, SEGMENT_CLOCK_RESTS, __ATOMIC_RELAXED);
}

static void image_add_process(struct image *m, uint64_t base_ns, uint32_t parent)
{
    const struct segment_head *h = &m->view.fixed;
    struct wake_process_info info = {
        .pid = m->pid,
        .ppid = h->ppid,
        .parent = parent,
        .forked = h->forked == 1,
        .has_arenas = h->has_arenas == 1,
        .start_ns = m->start_ns > base_ns ? m->start_ns - base_ns : 0,
        .exe = m->view.exe,
        .args = m->view.args,
        .args_length = m->view.args_length,
        .sample_rate = h->sample_rate,
    };
    m->process = wake_writer_add_process(m->writer, &info);
    m->line.base_ns = base_ns;
    m->line.last = info.start_ns;
}

/* A library that was asked for with RTLD_DEEPBIND. Each name once. */
static void image_note_deep(struct image *m, const char *name)
{
    enum { DEEP_MAX = 64 };
    char text[400];
    for (size_t i = 0; i < m->deep_libraries.count; i++)
        if (strcmp(m->deep_libraries.data[i], name) == 0)
            return;
    if (m->deep_libraries.count >= DEEP_MAX || !vec_push(&m->deep_libraries, name))
        return;
    int length = snprintf(
        text, sizeof text,
        "%.256s is loaded with RTLD_DEEPBIND: its own calls of malloc go to libc, past heapwake, and "
        "are not recorded.",
        name);
    wake_writer_add_note(m->writer, text, (size_t)length);
}

/* At the event itself: what a report says is true of this moment. */
static void image_note(void *of, enum record_mark mark, const char *name, uint64_t request)
{
    struct image *m = of;
    struct image_request r = {.mark = mark, .number = request, .name = name};
    if (mark == MARK_DEEP)
        image_note_deep(m, name);
    m->usage.is_due |= mark != MARK_DEEP;
    if (mark != MARK_REPORT && request == 0)
        return;
    if (m->requests.count >= IMAGE_REQUESTS_MAX ||
        (mark == MARK_REPORT && !changes_take(&m->changes, &m->pair.totals, &r.changes)) ||
        !vec_push(&m->requests, r)) {
        vec_release(&r.changes.list);
        image_answer(m, &(struct image_request){.number = request});
    }
}

void image_answer_in(struct segment_head *head, uint64_t request)
{
    uint64_t *slot = &head->answered[request % SEGMENT_ANSWERS];
    if (request > __atomic_load_n(slot, __ATOMIC_RELAXED))
        __atomic_store_n(slot, request, __ATOMIC_RELEASE);
}

void image_answer(struct image *m, struct image_request *request)
{
    vec_release(&request->changes.list);
    image_answer_in(m->view.head, request->number);
}

struct image *image_new(struct view *view, struct wake_writer *writer, const struct timebase *time,
                        uint64_t base_ns, uint32_t pid, uint32_t parent, uint64_t usage_ns)
{
    struct image *m = memory_new_zeroed(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->view = *view;
    m->writer = writer;
    m->pid = pid;
    uint64_t now = timebase_now();
    m->start_ns = view->fixed.start_ns;
    if (m->start_ns > now && !view->is_spool)
        m->start_ns = now;
    resident_init(&m->resident, m->start_ns);
    m->line.time = time;
    m->line.is_sequence = view->fixed.stamp_kind == SEGMENT_STAMP_SEQUENCE;
    m->line.clock_ns = m->start_ns;
    m->line.is_precise = view->fixed.is_precise == 1;
    usage_init(&m->usage, pid, view->is_spool ? 0 : usage_ns);
    image_add_process(m, base_ns, parent);
    if (m->process == UINT32_MAX) {
        free(m);
        return NULL;
    }
    definitions_init(&m->book, writer, m->process);
    m->book.pid = view->is_spool ? 0 : pid;
    m->book.exe = m->view.exe;
    if (!drain_init(&m->drain, &m->view, &m->book, &m->line) ||
        !pair_init(&m->pair, &m->book, wake_writer_stream(writer, m->process), &m->line) ||
        !order_init(&m->order, &m->drain, &m->pair))
        m->failed = true; /* the section is there, and will say that it is not complete */
    m->drain.blocks = &m->pair.blocks;
    m->pair.has_gaps = &m->view.head->has_gaps;
    m->pair.on_mark = image_note;
    m->pair.on_mark_of = m;
    m->pair.usage = &m->usage;
    m->pair.sample_rate = m->view.fixed.sample_rate;
    m->pair.filter = m->drain.filter = m->view.filter;
    if (!m->failed && (view->fixed.control & SEGMENT_STATE_MASK) == SEGMENT_OFF)
        image_mark(m, FORMAT_MARK_OFF); /* HEAPWAKE_ENABLED=0 */
    return m;
}

/* Where we cannot go on, the probe must know: it would wait for chunks that
 * never come back. */
static void image_check(struct image *m)
{
    if (m->drain.out_of_memory || m->pair.out_of_memory || m->book.out_of_memory)
        m->failed = true;
    if ((m->failed || m->drain.closed_lanes != 0) && !m->view.is_spool)
        __atomic_store_n(&m->view.head->collector, SEGMENT_CLOSED, __ATOMIC_RELEASE);
}

uint64_t image_drain(struct image *m)
{
    m->seen_asked = __atomic_load_n(&m->view.head->asked, __ATOMIC_ACQUIRE);
    uint64_t taken = m->failed ? 0 : order_round(&m->order, false);
    image_check(m);
    pace_note(&m->pace, timebase_now(), taken);
    image_follow_pace(m);
    return taken;
}

bool image_is_due(struct image *m, uint64_t now_ns)
{
    enum { EVENT_BYTES = 16 };
    const struct segment_head *head = m->view.head;
    uint64_t room = (uint64_t)m->view.fixed.pool * SEGMENT_CHUNK_SIZE / EVENT_BYTES;
    return pace_is_due(&m->pace, now_ns, room) || image_is_tight(m, now_ns) || image_is_wished(m) ||
           __atomic_load_n(&head->asked, __ATOMIC_ACQUIRE) != m->seen_asked ||
           m->usage.period_ns != 0; /* samples have their place between events */
}

bool image_is_tight(struct image *m, uint64_t now_ns)
{
    uint64_t waits = __atomic_load_n(&m->view.head->waits, __ATOMIC_RELAXED);
    if (waits != m->seen_waits)
        m->tight_until_ns = now_ns + 100 * MS;
    m->seen_waits = waits;
    return now_ns < m->tight_until_ns;
}

static void image_tell_resident(struct image *m, const struct resident_look *looks, unsigned count)
{
    uint64_t base = m->line.base_ns;
    for (unsigned i = 0; i < count; i++)
        wake_writer_sample_rss(m->writer, m->process, looks[i].time_ns > base ? looks[i].time_ns - base : 0,
                               looks[i].bytes);
}

static void image_sample(struct image *m, uint64_t now_ns)
{
    struct resident_look told[RESIDENT_TOLD_MAX];
    uint64_t rss = procfs_rss(m->pid);
    if (rss == 0)
        return;
    if (rss > m->peak_rss)
        m->peak_rss = rss;
    unsigned count = resident_note(&m->resident, now_ns, rss, told);
    image_tell_resident(m, told, count);
}

/* The file ends here for this process, or another one begins. */
static void image_finish_samples(struct image *m)
{
    struct resident_look told[RESIDENT_TOLD_MAX];
    unsigned count = resident_finish(&m->resident, told);
    image_tell_resident(m, told, count);
}

void image_sample_usage(struct image *m, uint64_t now_ns, bool is_still)
{
    if (m->usage.period_ns == 0 || m->failed ||
        __atomic_load_n(&m->view.head->exec_ns, __ATOMIC_ACQUIRE) != 0)
        return;
    m->usage.next_ns = now_ns + m->usage.period_ns;
    usage_take(&m->usage, m->writer, m->process, &m->line, is_still);
    timeline_divide(&m->line); /* events that are taken from here on are behind it */
}

void image_tick(struct image *m, uint64_t now_ns)
{
    struct segment_head *head = m->view.head;
    if (image_is_clocked(m) && !m->is_ticking)
        __atomic_store_n(&head->clock, m->line.is_sequence ? now_ns : arch_counter(), __ATOMIC_RELAXED);
    if (m->line.is_sequence)
        m->line.clock_ns = now_ns;
    if (__atomic_load_n(&head->exec_ns, __ATOMIC_ACQUIRE) != 0)
        return; /* what the process uses from here on is not this image's */
    uint64_t rest_ns = resident_rest_ns(&m->resident, now_ns, m->pair.events);
    if (now_ns >= m->next_status_ns || m->next_status_ns - now_ns > rest_ns) {
        struct procfs_status status;
        procfs_read_status(m->pid, &status);
        /* Filters that were there from the start (a container's) let the probe begin, so
         * they let it sleep; a new one may not. */
        if (!m->has_filters)
            m->first_filters = status.filters;
        m->has_filters = true;
        __atomic_store_n(&head->may_wait, status.filters >= 0 && status.filters == m->first_filters,
                         __ATOMIC_RELAXED);
        if (status.peak_rss > m->peak_rss)
            m->peak_rss = status.peak_rss;
        m->next_status_ns = now_ns + rest_ns;
    }
    if (resident_is_due(&m->resident, now_ns, m->pair.events))
        image_sample(m, now_ns);
    if (now_ns >= m->usage.next_ns)
        image_sample_usage(m, now_ns, false);
}

static void image_fill_end(const struct image *m, bool gone, struct image_end *end)
{
    const struct segment_head *head = m->view.head;
    const struct totals *t = &m->pair.totals;
    struct wake_process_end *e = &end->process;
    uint64_t lost = __atomic_load_n(&head->lost_events, __ATOMIC_ACQUIRE);
    if (lost < m->pair.noted_losses)
        lost = m->pair.noted_losses;
    if (m->failed)
        lost += drain_count_rest(&m->drain);
    bool forked = m->view.fixed.forked == 1;
    end->events = m->pair.events;
    end->undefined_stacks = m->pair.undefined_stacks;
    end->anomalies = m->drain.anomalies + m->book.anomalies + m->pair.undefined_stacks;
    /* Wherever it was: what was not told us we cannot miss. */
    end->out_of_memory = m->failed || memory_has_failed();
    end->stop_reason = head->stopped == 1 ? head->stop_reason : 0;
    end->unhooked = __atomic_load_n(&head->unhooked, __ATOMIC_ACQUIRE);
    e->complete = gone && end->anomalies == 0 && !end->out_of_memory && end->stop_reason == 0;
    e->allocations = t->allocations;
    e->frees = t->frees;
    e->allocated_bytes = t->allocated_bytes;
    e->peak_bytes = t->peak_bytes;
    e->peak_blocks = t->peak_blocks;
    e->peak_time_ns = t->peak_time_ns;
    e->peak_event = t->peak_event;
    e->leaked_blocks = t->live_blocks;
    e->leaked_bytes = t->live_bytes;
    e->unknown_frees = forked ? 0 : m->pair.unknown_frees;
    e->inherited_frees = forked ? m->pair.unknown_frees : 0;
    e->implied_frees = m->pair.implied_frees;
    e->lost_events = lost + m->pair.dropped;
    e->cut_stacks = m->book.stacks.cut_stacks;
    e->peak_rss_bytes = m->peak_rss;
    e->threads = m->book.tids.count;
}

void image_pause(struct image *m, uint64_t now_ns)
{
    struct image_end end = {0};
    size_t live_count = 0;
    image_finish_samples(m);
    m->usage.is_fresh = true; /* the next file begins without samples */
    struct wake_live_block *live = m->pair.blocks.slots == NULL ? NULL : pair_live(&m->pair, &live_count);
    struct wake_stack_totals *totals = totals_copy(&m->pair.totals);
    if ((live == NULL && live_count != 0) || totals == NULL)
        m->failed = true;
    image_fill_end(m, true, &end);
    uint64_t base = m->line.base_ns;
    end.process.end_ns = now_ns > base && now_ns - base > m->line.last ? now_ns - base : m->line.last;
    end.process.wait_status = -1;
    totals_put_levels(&m->pair.totals, m->writer, m->process, &end.process);
    wake_writer_pause_process(m->writer, m->process, &end.process, totals,
                              totals == NULL ? 0 : (uint32_t)m->pair.totals.count - 1, live,
                              live == NULL ? 0 : live_count);
    free(live);
    free(totals);
}

/* Sums that were made with too little memory may be wrong.  They stay out of the file, and
 * readers make their own from the events that are in it, and know that there were more. */
static void image_leave_open(struct image *m, const struct wake_process_end *e)
{
    struct wake_stream *stream = wake_writer_stream(m->writer, m->process);
    if (e->lost_events > m->pair.noted_losses)
        wake_stream_lost(stream, e->end_ns, LOST_MEMORY, e->lost_events - m->pair.noted_losses);
}

static void image_free(struct image *m)
{
    for (size_t i = 0; i < m->requests.count; i++)
        vec_release(&m->requests.data[i].changes.list);
    vec_release(&m->requests);
    vec_release(&m->deep_libraries);
    if (m->is_ticking)
        ticker_remove(m->ticker, &m->view.head->clock);
    changes_release(&m->changes);
    usage_release(&m->usage);
    tracked_frees_close(&m->pass);
    order_release(&m->order);
    pair_release(&m->pair);
    drain_release(&m->drain);
    definitions_release(&m->book);
    view_close(&m->view);
    free(m);
}

void image_end(struct image *m, int wait_status, bool execed, bool gone, bool stopped, uint64_t peak_rss,
               uint64_t end_ns, struct image_end *end)
{
    memset(end, 0, sizeof *end);
    if (!gone)
        image_sample_usage(m, end_ns, false);
    if (!gone)
        __atomic_store_n(&m->view.head->collector, SEGMENT_CLOSED, __ATOMIC_RELEASE);
    int quiet = 0;
    for (int i = 0; !m->failed && quiet < 2 && i < (gone ? IMAGE_LAST_ROUNDS : 2); i++) {
        quiet = order_round(&m->order, true) == 0 ? quiet + 1 : 0;
        image_check(m);
    }
    if (!m->failed)
        pair_finish(&m->pair);
    image_finish_samples(m);
    if (peak_rss > m->peak_rss && m->view.head->exec_ns == 0)
        m->peak_rss = peak_rss;
    size_t live_count = 0;
    struct wake_live_block *live = m->pair.blocks.slots == NULL ? NULL : pair_live(&m->pair, &live_count);
    struct wake_stack_totals *totals = totals_copy(&m->pair.totals);
    if ((live == NULL && live_count != 0) || totals == NULL)
        m->failed = true;
    image_fill_end(m, gone || stopped, end);
    uint64_t exec_ns = __atomic_load_n(&m->view.head->exec_ns, __ATOMIC_ACQUIRE);
    if (exec_ns != 0 && gone) { /* into an image that nobody can record */
        execed = true;
        wait_status = -1;
        if (exec_ns < end_ns)
            end_ns = exec_ns;
    }
    uint64_t base = m->line.base_ns;
    end->process.end_ns = end_ns > base ? end_ns - base : 0;
    if (end->process.end_ns < m->line.last)
        end->process.end_ns = m->line.last;
    end->process.wait_status = wait_status;
    end->process.execed = execed;
    uint32_t stacks = totals == NULL ? 0 : (uint32_t)m->pair.totals.count - 1;
    if (end->out_of_memory) {
        image_leave_open(m, &end->process);
    } else {
        totals_put_levels(&m->pair.totals, m->writer, m->process, &end->process);
        wake_writer_end_process(m->writer, m->process, &end->process, totals, stacks, live,
                                live == NULL ? 0 : live_count);
    }
    free(live);
    free(totals);
    image_free(m);
}
