/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook_jit: programs that make code at run time announce its unwind tables to
 * libgcc, so that exceptions find their way through it. We listen, and pass on.
 *
 * The real functions are those that the caller would have got: libgcc_s in the
 * program's order, or in that of the plugin that calls. libgcc_s may be loaded late
 * or not at all, and then a program whose reference is weak would not have called;
 * with us it does. What is announced while there is no real function ends here. It
 * is remembered, since its withdrawal must end here too: libgcc aborts when it is
 * told to forget what it never knew.
 *
 * A copy of libgcc inside the program (-static-libgcc) is called past us.
 */
#include "probe/cxx.h"
#include "probe/hook.h"
#include "probe/jit.h"
#include "probe/life.h"
#include "probe/real.h"

#include <stddef.h>

enum { KEPT_MAX = 1024 }; /* announcements that were not passed on; further ones are forgotten */

/* libgcc's names. `object` is memory of the caller's, for libgcc to keep its books in. */
void __register_frame(void *begin);
void __register_frame_table(void *begin);
void __register_frame_info(const void *begin, void *object);
void __register_frame_info_table(void *begin, void *object);
void __register_frame_info_bases(const void *begin, void *object, void *text, void *data);
void __register_frame_info_table_bases(void *begin, void *object, void *text, void *data);
void __deregister_frame(void *begin);
void *__deregister_frame_info(const void *begin);
void *__deregister_frame_info_bases(const void *begin);

typedef void hook_register(const void *begin, void *object, void *text, void *data);
typedef void *hook_deregister(const void *begin);

/* One of libgcc's functions, as it was found; the global one stays. */
struct hook_callee {
    const char *name;
    void *found;
};

struct hook_kept {
    const void *begin;
    void *object;
};

static struct hook_kept hook_kept[KEPT_MAX];

static void hook_keep(const void *begin, void *object)
{
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        const void *none = NULL;
        if (__atomic_compare_exchange_n(&hook_kept[i].begin, &none, begin, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            hook_kept[i].object = object;
            return;
        }
    }
}

static bool hook_give_back(const void *begin, void **object)
{
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        if (__atomic_load_n(&hook_kept[i].begin, __ATOMIC_ACQUIRE) != begin)
            continue;
        *object = hook_kept[i].object;
        __atomic_store_n(&hook_kept[i].begin, NULL, __ATOMIC_RELEASE);
        return true;
    }
    return false;
}

/* The real function; NULL: there is none. Once found it is not looked for again, since that
 * takes the loader's lock, which the program's own call does not need. */
static void *hook_find(struct hook_callee *callee, void *pc)
{
    void *found = __atomic_load_n(&callee->found, __ATOMIC_ACQUIRE);
    if (found == NULL && life_real() != NULL) {
        found = real_find_name(callee->name);
        __atomic_store_n(&callee->found, found, __ATOMIC_RELEASE);
    }
    if (found != NULL || life_real() == NULL)
        return found;
    found = cxx_operator(callee->name, pc);
    return real_is_ours((uint64_t)(uintptr_t)found) ? NULL
                                                    : found; /* the program's own order begins with us */
}

/* Passed on, with more arguments than some of the functions have, which does no harm on this
 * CPU. False: libgcc calls itself, and we know already. */
static bool hook_announce(struct hook_callee *callee, void *pc, const void *begin, void *object, void *text,
                          void *data)
{
    hook_register *real_register = (hook_register *)(uintptr_t)hook_find(callee, pc);
    if (real_register != NULL)
        real_register(begin, object, text, data);
    else if (begin != NULL)
        hook_keep(begin, object);
    return real_register == NULL || !real_same_module(pc, (void *)(uintptr_t)real_register);
}

static void *hook_withdraw(struct hook_callee *callee, void *pc, const void *begin)
{
    void *object = NULL;
    hook_deregister *real_deregister = (hook_deregister *)(uintptr_t)hook_find(callee, pc);
    jit_withdraw(begin);
    if (hook_give_back(begin, &object) || real_deregister == NULL)
        return object;
    return real_deregister(begin);
}

#define HOOK_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

HOOK void __register_frame(void *begin)
{
    static struct hook_callee callee = {"__register_frame", NULL};
    if (hook_announce(&callee, HOOK_CALLER, begin, NULL, NULL, NULL))
        jit_announce(begin, begin);
}

HOOK void __register_frame_info(const void *begin, void *object)
{
    static struct hook_callee callee = {"__register_frame_info", NULL};
    if (hook_announce(&callee, HOOK_CALLER, begin, object, NULL, NULL))
        jit_announce(begin, begin);
}

HOOK void __register_frame_info_bases(const void *begin, void *object, void *text, void *data)
{
    static struct hook_callee callee = {"__register_frame_info_bases", NULL};
    if (hook_announce(&callee, HOOK_CALLER, begin, object, text, data))
        jit_announce(begin, begin);
}

HOOK void __register_frame_table(void *begin)
{
    static struct hook_callee callee = {"__register_frame_table", NULL};
    if (hook_announce(&callee, HOOK_CALLER, begin, NULL, NULL, NULL))
        jit_announce_list(begin);
}

HOOK void __register_frame_info_table(void *begin, void *object)
{
    static struct hook_callee callee = {"__register_frame_info_table", NULL};
    if (hook_announce(&callee, HOOK_CALLER, begin, object, NULL, NULL))
        jit_announce_list(begin);
}

HOOK void __register_frame_info_table_bases(void *begin, void *object, void *text, void *data)
{
    static struct hook_callee callee = {"__register_frame_info_table_bases", NULL};
    if (hook_announce(&callee, HOOK_CALLER, begin, object, text, data))
        jit_announce_list(begin);
}

HOOK void __deregister_frame(void *begin)
{
    static struct hook_callee callee = {"__deregister_frame", NULL};
    (void)hook_withdraw(&callee, HOOK_CALLER, begin);
}

HOOK void *__deregister_frame_info(const void *begin)
{
    static struct hook_callee callee = {"__deregister_frame_info", NULL};
    return hook_withdraw(&callee, HOOK_CALLER, begin);
}

HOOK void *__deregister_frame_info_bases(const void *begin)
{
    static struct hook_callee callee = {"__deregister_frame_info_bases", NULL};
    return hook_withdraw(&callee, HOOK_CALLER, begin);
}
