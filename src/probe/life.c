/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * life: see life.h.
 */
#include "probe/life.h"

#include "probe/arch.h"
#include "probe/environment.h"
#include "probe/event.h"
#include "probe/handover.h"
#include "probe/hook.h"
#include "probe/lane.h"
#include "probe/leave.h"
#include "probe/module.h"
#include "probe/real.h"
#include "probe/rebind.h"
#include "probe/sampling.h"
#include "probe/share.h"
#include "probe/signals.h"
#include "probe/stack.h"
#include "probe/sys.h"
#include "probe/tracing.h"

#include <errno.h>

enum {
    LIFE_NAP_NS = 100000,
    LIFE_FIND_NAPS = 100,    /* 10 ms */
    LIFE_OPEN_NAPS = 100000, /* 10 s: birth itself waits for 3 at most */
};

struct life life;
uint32_t life_sandbox;
__thread uint32_t tls_caged __attribute__((tls_model("initial-exec")));

/* The thread that is at it, by its thread pointer. */
static uintptr_t life_mother;

/* Holds our own load address once the loader has relocated us, and the address
 * at link time before: hooks can run before our relocation, when nothing that
 * goes through the GOT, TLS included, may be touched. */
static const void *const volatile life_anchor = &life;

static bool life_is_relocated(void)
{
    const void *here = &life;
    return life_anchor == here;
}

/* HEAPWAKE_CHILDREN=no, told to a process that is not the first. */
static bool life_is_wanted(bool forked)
{
    return !(forked && environment_is("HEAPWAKE_CHILDREN", "no"));
}

static bool life_open(void)
{
    sampling_init();
    environment_place_exe();
    handover_parse(&handover, environment_find("HEAPWAKE_SOCKET"));
    uint32_t depth = (uint32_t)environment_number("HEAPWAKE_DEPTH", 1, 1u << 17, 0);
    share.first_control = environment_number("HEAPWAKE_ENABLED", 0, 1, 1) == 1 ? SEGMENT_ON : SEGMENT_OFF;
    if (environment_number("HEAPWAKE_PRECISE_TIMESTAMPS", 0, 1, 0) == 1)
        life.is_precise = life.many = 1;
    if (environment_number("HEAPWAKE_FREE_STACKS", 0, 1, 0) == 1)
        share.first_control |= SEGMENT_FREE_STACKS;
    if (sampling_rate != 0)
        share.first_control |= SEGMENT_SAMPLED;
    return lane_init() && rulebook_init() && module_init() && stack_init(depth) && share_open(false);
}

static void life_birth(void)
{
    int saved = errno;
    __atomic_store_n(&life_mother, arch_thread_pointer(), __ATOMIC_RELAXED);
    real_find();
    __atomic_store_n(&life.state, LIFE_OPEN, __ATOMIC_RELEASE);
    environment_keep();
    life.pid = (uint32_t)sys_getpid();
    if ((uint32_t)sys_gettid() == life.pid)
        life.first_thread = arch_thread_pointer();
    tracing_init();
    bool is_on = real.stack_end != NULL && environment_is_trusted() && real.dl_find_object != NULL &&
                 !real.is_second && life_open();
    TRACE(TRACE_LIFE, 1, "born, recording %u, sampling %u, first %u", is_on, sampling_rate, real.is_first);
    __atomic_store_n(&life.state, is_on ? LIFE_ON : LIFE_OFF, __ATOMIC_RELEASE);
    hook_thread_publish();
    signals_open(is_on);
    bool is_zeroed = is_on && environment_number("HEAPWAKE_ZERO_MEMORY", 0, 1, 0) == 1;
    real_choose(is_zeroed);
    real_publish();
    share_begin();
    real_publish_malloc();
    sampling_begin();
    if (is_on)
        rebind_open(is_zeroed);
    errno = saved;
}

static bool life_is_mother(void)
{
    return __atomic_load_n(&life_mother, __ATOMIC_RELAXED) == arch_thread_pointer();
}

/* Until the other thread is done, or has taken longer than it may. */
static void life_wait(void)
{
    const int64_t nap[2] = {0, LIFE_NAP_NS};
    for (unsigned naps = 0; __atomic_load_n(&real.malloc, __ATOMIC_ACQUIRE) == NULL; naps++) {
        bool is_finding = __atomic_load_n(&life.state, __ATOMIC_ACQUIRE) == LIFE_FIND;
        if (naps >= (is_finding ? LIFE_FIND_NAPS : LIFE_OPEN_NAPS))
            break;
        sys_nanosleep(nap);
    }
}

bool life_begin(void)
{
    if (!life_is_relocated())
        return false;
    uint32_t unborn = LIFE_UNBORN;
    if (__atomic_compare_exchange_n(&life.state, &unborn, LIFE_FIND, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        life_birth();
    else if (!life_is_mother())
        life_wait();
    return __atomic_load_n(&real.malloc, __ATOMIC_ACQUIRE) != NULL;
}

const struct real *life_real(void)
{
    if (__atomic_load_n(&real.malloc, __ATOMIC_ACQUIRE) != NULL || life_begin())
        return &real;
    return life_is_relocated() ? real_look() : NULL;
}

/* Has a handler forked in the middle of our own code? Then that has the parent's segment still in its hands. */
static bool life_is_interrupted(void)
{
    return !life_sandbox && (lane_is_busy() || complete_find(0) != COMPLETE_ABSENT);
}

/* Leaves the parent's segment and makes one. False: there is none, and what is left of the parent's stays where it
 * is: our own code may be in the middle of it. */
static bool life_reopen(bool is_interrupted)
{
    uint32_t lanes = share.head->lane_count;
    struct segment_head *parent = share_keep_head();
    /* As the parent was. Its blocks are none of ours: nothing is to pass. */
    share.first_control &= ~(uint32_t)SEGMENT_STATE_MASK;
    share.first_control |= share_state() == SEGMENT_ON ? SEGMENT_ON : SEGMENT_OFF;
    if (is_interrupted)
        share_abandon();
    else
        share_close();
    const struct share left = share;
    life.pid = (uint32_t)sys_getpid();
    life.many = life.is_precise;
    tls_lane = NULL;
    stack_renew();
    module_renew();
    lane_renew(lanes);
    bool is_open = share_open(true), is_apart = !is_open || share.head->collector == SEGMENT_SPOOL;
    share_drop_head(parent, is_apart && handover_is_cut_off(&handover));
    if (!is_open)
        share = left;
    return is_open;
}

static bool life_renew_now(void)
{
    uint32_t on = LIFE_ON;
    if (!__atomic_compare_exchange_n(&life.state, &on, LIFE_RENEW, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return false;
    bool is_wanted = !life_sandbox && life_is_wanted(true), is_interrupted = life_is_interrupted();
    life.epoch++;
    if (!is_wanted && is_interrupted)
        share_abandon();
    bool is_on = is_wanted && life_reopen(is_interrupted);
    if (is_on) {
        share_begin();
        sampling_renew();
        sampling_begin();
    } else {
        sampling_end();
        share_leave();
    }
    TRACE(TRACE_LIFE, 1, "renewed after a fork, recording %u", is_on, 0, 0);
    __atomic_store_n(&life.state, is_on ? LIFE_ON : LIFE_OFF, __ATOMIC_RELEASE);
    return is_on;
}

/* What a handler allocated meanwhile could be told to nobody: it has to wait. */
bool life_renew(void)
{
    if (life_sandbox)
        return life_renew_now();
    uint64_t mask = sys_block_signals();
    bool is_on = *lane_fork_word != 0 ? life.state == LIFE_ON : life_renew_now();
    sys_unblock_signals(mask);
    return is_on;
}

void life_forked(void)
{
    uint32_t state = __atomic_load_n(&life.state, __ATOMIC_ACQUIRE);
    lane_forked();
    if (state == LIFE_ON && *lane_fork_word == 0)
        (void)life_renew();
    else if ((state == LIFE_FIND || state == LIFE_OPEN) && !life_is_mother())
        __atomic_store_n(&life.state, LIFE_UNBORN, __ATOMIC_RELEASE); /* she is not here */
}

/* For programs that allocate late or never: they too are part of the tree. */
__attribute__((constructor)) static void life_constructor(void)
{
    if (life_begin() && life.state == LIFE_ON)
        leave_open();
}
