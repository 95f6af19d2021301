/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * create: makes the segment of a process, and leaves it (share_open, share_close, share_abandon).
 *
 * The file is sparse: its size costs nothing, only chunks that are written do.
 * It is made smaller where the program's own limit on file sizes asks for it
 * (to exceed that limit would kill the program), and not at all where less
 * than a few chunks would remain.
 */
#include "probe/create.h"

#include "probe/cluster.h"
#include "probe/environment.h"
#include "probe/handover.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/real.h"
#include "probe/sampling.h"
#include "probe/share.h"
#include "probe/tracing.h"

#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/resource.h>

_Static_assert(CREATE_CHUNKS_AT % 4096 == 0, "chunks begin on a page");

static uint64_t create_ns(int clock)
{
    int64_t time[2] = {0, 0};
    sys_clock_gettime(clock, time);
    return (uint64_t)time[0] * 1000000000u + (uint64_t)time[1];
}

/* How many chunks the file may hold under the program's own limits.  share.pool: how many of them are used as long as
 * threads do not need more. */
uint32_t create_chunks(void)
{
    uint64_t limit[2];
    uint64_t chunks = (uint64_t)SHARE_WINDOWS_MAX * SHARE_WINDOW_CHUNKS;
    uint64_t wished = environment_size("HEAPWAKE_POOL", CREATE_POOL_MIN, CREATE_POOL_MAX, 0);
    share.pool = (uint32_t)(wished / SEGMENT_CHUNK_SIZE);
    if (sys_failed(sys_getrlimit(RLIMIT_FSIZE, limit)))
        return (uint32_t)chunks;
    uint64_t most = limit[0] < CREATE_CHUNKS_AT ? 0 : (limit[0] - CREATE_CHUNKS_AT) / SEGMENT_CHUNK_SIZE;
    return (uint32_t)(most < chunks ? most : chunks);
}

/* A look at the counter may be forbidden (PR_SET_TSC), which forks pass on.
 * HEAPWAKE_TEST_STAMPS=sequence, for tests alone: as on a CPU whose counter is of no use. */
static uint32_t create_stamp_kind(void)
{
    int permit = 0;
    bool may_look = sys_failed(sys_prctl(PR_GET_TSC, &permit)) || permit != PR_TSC_SIGSEGV;
    bool is_tsc =
        may_look && arch_counter_is_invariant() && !environment_is("HEAPWAKE_TEST_STAMPS", "sequence");
    return is_tsc ? SEGMENT_STAMP_TSC : SEGMENT_STAMP_SEQUENCE;
}

static void create_fill_head(struct segment_head *head, uint32_t chunks, bool forked)
{
    head->version = SEGMENT_VERSION;
    head->stamp_kind = create_stamp_kind();
    head->size = CREATE_CHUNKS_AT + (uint64_t)chunks * SEGMENT_CHUNK_SIZE;
    head->lane_offset = CREATE_LANES_AT;
    head->lane_max = SHARE_LANES_MAX;
    head->next_offset = CREATE_NEXT_AT;
    head->chunk_offset = CREATE_CHUNKS_AT;
    head->chunk_max = chunks;
    head->chunk_limit = chunks < SHARE_WINDOW_CHUNKS ? chunks : SHARE_WINDOW_CHUNKS;
    uint32_t pool = share.pool != 0 ? share.pool : SHARE_POOL_FIRST;
    if (pool < head->chunk_limit)
        head->chunk_limit = pool;
    head->pool = share.pool;
    head->pid = (uint32_t)sys_getpid();
    head->ppid = (uint32_t)sys_getppid();
    head->forked = forked;
    head->start_ns = create_ns(1 /* CLOCK_MONOTONIC */);
    head->start_stamp = head->stamp_kind == SEGMENT_STAMP_TSC ? arch_counter() : head->start_ns;
    head->clock = head->stamp_kind == SEGMENT_STAMP_TSC ? SEGMENT_CLOCK_RESTS : head->start_stamp;
    head->sequence = SEGMENT_SEQUENCE_FIRST;
    head->wall_ns = create_ns(0 /* CLOCK_REALTIME */);
    head->pass_offset = CREATE_PASS_AT;
    head->is_bypassed = !real.is_first;
    head->has_arenas = real.is_glibc;
    head->is_traced = TRACING_IS_BUILT;
    head->is_precise = environment_number("HEAPWAKE_PRECISE_TIMESTAMPS", 0, 1, 0) == 1;
    head->control = share.first_control;
    head->unhooked = share.unhooked;
    head->has_gaps =
        (share.first_control & SEGMENT_STATE_MASK) != SEGMENT_ON || sampling_rate != 0 || share.unhooked != 0;
    head->depth = (uint32_t)environment_number("HEAPWAKE_DEPTH", 1, 1u << 17, 0);
    char *text = (char *)head + SEGMENT_HEAD_SIZE;
    const char *exe = environment_exe();
    size_t length = memory_string_length(exe);
    if (length > SEGMENT_TEXT_SIZE / 2)
        length = SEGMENT_TEXT_SIZE / 2;
    memory_copy(text, exe, length);
    int is_cut;
    head->exe_length = (uint32_t)length;
    head->args_length = (uint32_t)environment_arguments(text + length, SEGMENT_TEXT_SIZE - length, &is_cut);
    head->args_cut = (uint32_t)is_cut;
    cluster_fill_head(head);
    head->sample_rate = sampling_rate;
    head->filter_offset = sampling_rate == 0 ? 0 : CREATE_FILTER_AT;
    __atomic_store_n(&head->magic, SEGMENT_MAGIC, __ATOMIC_RELEASE);
}

/* Maps the first window of fd and fills in the head. */
bool create_map(int fd, uint32_t chunks, bool forked)
{
    uint32_t first = chunks < SHARE_WINDOW_CHUNKS ? chunks : SHARE_WINDOW_CHUNKS;
    size_t length = CREATE_CHUNKS_AT + (size_t)first * SEGMENT_CHUNK_SIZE;
    long at = sys_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (sys_failed(at) && share.pool != 0 && share.pool < first) { /* there is no room for more */
        chunks = first = share.pool;
        length = CREATE_CHUNKS_AT + (size_t)first * SEGMENT_CHUNK_SIZE;
        at = sys_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (sys_failed(at))
        return false;
    /* A core is the program's, and its making would fill all holes. */
    (void)sys_madvise((void *)at, length, MADV_DONTDUMP);
    uint8_t *base = (uint8_t *)at;
    struct segment_head *head = (void *)base;
    create_fill_head(head, chunks, forked);
    share.lanes = (void *)(base + CREATE_LANES_AT);
    share.next = (void *)(base + CREATE_NEXT_AT);
    share.filter = (void *)(base + CREATE_FILTER_AT);
    share.window[0] = base + CREATE_CHUNKS_AT;
    share.first_length = length;
    share.stamp_kind = head->stamp_kind;
    share.growing = 0;
    share.spun_ns = 0;
    share.pass = (void *)(base + CREATE_PASS_AT);
    share.head = head;
    TRACE(TRACE_SHARE, 1, "segment at %x, %u chunks of which %u are mapped", (uintptr_t)base, chunks, first);
    return true;
}

/* We belong to a recording that is over, and are none by ourselves. */
static bool create_is_late(void)
{
    return handover.is_set && handover_is_over(&handover);
}

/* To the collector we know of, or to one started now (never by a child of ours:
 * its parent's will do). */
static bool create_hand_over(int fd, bool forked)
{
    if (handover.is_set && handover_send(&handover, fd))
        return true;
    return !forked && !create_is_late() && spawn_collector(&handover) && handover_send(&handover, fd);
}

/* *is_made: there was a segment, whoever took it. */
static bool create_share(uint32_t chunks, bool forked, bool *is_made)
{
    uint64_t size = CREATE_CHUNKS_AT + (uint64_t)chunks * SEGMENT_CHUNK_SIZE;
    long fd = sys_memfd_create("heapwake", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool is_open = false;
    if (sys_failed(fd))
        return false;
    if (!sys_failed(sys_ftruncate((int)fd, size)) && create_map((int)fd, chunks, forked)) {
        *is_made = true;
        is_open = create_hand_over((int)fd, forked);
        if (!is_open)
            share_close();
    }
    sys_close((int)fd);
    return is_open;
}

bool share_open(bool forked)
{
    uint32_t chunks = create_chunks();
    bool is_made = false;
    if (chunks >= CREATE_CHUNKS_MIN &&
        (create_share(chunks, forked, &is_made) || (!create_is_late() && spool_open(forked))))
        return true;
    if (!is_made && handover.is_set)
        (void)handover_send(&handover, -1); /* so that we are missed, at least */
    return false;
}

/* All windows but the first; `leave` gets each with the page that it was stretched from. */
static void create_leave_windows(bool (*leave)(void *at, size_t length))
{
    for (uint32_t i = 1; i < SHARE_WINDOWS_MAX && share.window[i] != NULL; i++) {
        (void)leave(share.window[i] - SEGMENT_CHUNK_SIZE,
                    (size_t)(SHARE_WINDOW_CHUNKS + 1) * SEGMENT_CHUNK_SIZE);
        share.window[i] = NULL;
    }
}

static bool create_unmap(void *at, size_t length)
{
    return !sys_failed(sys_munmap(at, length));
}

/* Puts memory that is nobody else's in the place of what is mapped there. */
static bool create_cover(void *at, size_t length)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    return !sys_failed(sys_mmap(at, length, PROT_READ | PROT_WRITE, flags, -1, 0));
}

void share_close(void)
{
    if (share.head == NULL)
        return;
    create_leave_windows(create_unmap);
    struct segment_head *head = share.head;
    sampling_end();
    share.head = NULL;
    share.filter = NULL;
    share_begin();
    (void)create_unmap(head, share.first_length);
}

void share_abandon(void)
{
    sampling_end();
    share_leave();
    create_leave_windows(create_cover);
    if (create_cover(share.head, share.first_length)) {
        share.head->control = SEGMENT_FADING;
        share.head->stopped = 1; /* nobody waits here for a chunk */
    } else {
        share.head = NULL; /* no memory: that code has to do with the parent's */
    }
}
