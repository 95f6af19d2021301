/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * env: see env.h.
 */
#include "probe/env.h"

#include "probe/environment.h"
#include "probe/handover.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/module.h"
#include "probe/real.h"
#include "probe/sys.h"
#include "probe/target.h"

#include <link.h>

enum { ENV_SOCKET_MAX = HANDOVER_NAME_MAX + 2 * HANDOVER_TOKEN + 2, ENV_PAGE = 4096, ENV_LAID_IN = 65536 };

static const char env_preload[] = "LD_PRELOAD=";
static const char env_socket[] = "HEAPWAKE_SOCKET=";

static bool env_begins_with(const char *text, const char *prefix)
{
    for (; *prefix != '\0'; prefix++, text++) {
        if (*text != *prefix)
            return false;
    }
    return true;
}

/* The path of our own library, as the loader knows it. */
static const char *env_library(void)
{
    struct module_object o;
    if (real.dl_find_object == NULL || real.dl_find_object((void *)(uintptr_t)&env_library, &o) != 0)
        return NULL;
    return ((const struct link_map *)o.link_map)->l_name;
}

static bool env_is_separator(char c)
{
    return c == ':' || c == ' ';
}

/* Where `path` stands as an entry of a list separated by colons or spaces, or NULL. */
static const char *env_find_entry(const char *list, const char *path)
{
    while (*list != '\0') {
        const char *entry = list, *want = path;
        while (*want != '\0' && *list == *want) {
            list++;
            want++;
        }
        if (*want == '\0' && (*list == '\0' || env_is_separator(*list)))
            return entry;
        while (*list != '\0' && !env_is_separator(*list))
            list++;
        while (env_is_separator(*list))
            list++;
    }
    return NULL;
}

/* What is known to be readable: the page that was asked for last. */
struct env_page {
    uintptr_t at;
};

/* Can the bytes at `from` be read? A program may pass anything, and the kernel then says EFAULT, not we. */
static bool env_can_read(struct env_page *known, const void *from, size_t length)
{
    const uintptr_t size = ENV_PAGE;
    uintptr_t page = (uintptr_t)from & ~(size - 1), last = ((uintptr_t)from + length - 1) & ~(size - 1);
    for (; !life_is_caged(); page += size) {
        if (page != known->at &&
            (page == 0 || !sys_is_readable(page))) /* nobody asks the kernel about NULL */
            return false;
        known->at = page;
        if (page == last)
            break;
    }
    return true;
}

/* The same of a string, as far as it goes. */
static bool env_can_read_string(struct env_page *known, const char *text)
{
    do {
        if (((uintptr_t)text & ~(uintptr_t)(ENV_PAGE - 1)) != known->at && !env_can_read(known, text, 1))
            return false;
    } while (*text++ != '\0');
    return true;
}

/* Counts the variables; false: not all of them can be read. */
static bool env_count(struct env_plan *plan)
{
    struct env_page list = {UINTPTR_MAX}, texts = {UINTPTR_MAX};
    while (env_can_read(&list, &plan->from[plan->count], sizeof *plan->from)) {
        if (plan->from[plan->count] == NULL)
            return true;
        if (!env_can_read_string(&texts, plan->from[plan->count]))
            break;
        plan->count++;
    }
    return false;
}

struct env_plan env_plan(char *const *from, const char *path)
{
    static char *const none[] = {NULL}; /* which is what NULL means to the kernel */
    from = from == NULL ? none : from;
    struct env_plan plan = {.from = from};
    const char *library = env_library();
    if (life.state != LIFE_ON || library == NULL || library[0] != '/' ||
        environment_is("HEAPWAKE_CHILDREN", "no") || !env_count(&plan))
        return plan;
    plan.preload = plan.socket = plan.count;
    for (size_t i = 0; i < plan.count; i++) {
        if (env_begins_with(from[i], env_preload))
            plan.preload = i;
        else if (env_begins_with(from[i], env_socket))
            plan.socket = i;
    }
    const char *list = plan.preload < plan.count ? from[plan.preload] + sizeof env_preload - 1 : "";
    /* What a filter allows is not known: the new image is not to make our system calls. */
    bool is_foreign = life_is_caged() || target_names_runtime(list) || target_is_foreign(path);
    bool has_us = env_find_entry(list, library) != NULL;
    /* Children of who is shut in are followed by nobody, and counted by nobody. */
    plan.becomes = life_is_caged() ? FORK_CHILD : is_foreign ? FORK_FOREIGN : FORK_PROGRAM;
    plan.is_apart = plan.becomes == FORK_PROGRAM && handover_is_cut_off(&handover);
    plan.drop_preload = is_foreign && has_us;
    plan.add_preload = !is_foreign && !has_us;
    plan.add_socket = !is_foreign && handover.is_set && plan.socket == plan.count;
    plan.is_needed = plan.drop_preload || plan.add_preload || plan.add_socket;
    plan.room = (plan.count + 3) * sizeof(char *) + sizeof env_preload + sizeof env_socket + ENV_SOCKET_MAX +
                memory_string_length(library) + memory_string_length(list) + 2;
    return plan;
}

static char *env_put(char *at, const char *text)
{
    size_t length = memory_string_length(text);
    memory_copy(at, text, length + 1);
    return at + length;
}

/* LD_PRELOAD without our library; false when nothing is left of it. */
static bool env_put_without(char *text, const char *entry)
{
    const char *library = env_library(), *list = entry + sizeof env_preload - 1;
    const char *at = env_find_entry(list, library);
    const char *rest = at + memory_string_length(library);
    while (env_is_separator(*rest))
        rest++;
    text = env_put(text, env_preload);
    memory_copy(text, list, (size_t)(at - list));
    text[at - list] = '\0';
    (void)env_put(text + (at - list), rest);
    return *text != '\0';
}

static char *const *env_fill(const struct env_plan *plan, void *room)
{
    char **list = room;
    char *text = (char *)(list + plan->count + 3);
    size_t n = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (i != plan->preload || (!plan->add_preload && !plan->drop_preload))
            list[n++] = plan->from[i];
    }
    if (plan->drop_preload && env_put_without(text, plan->from[plan->preload]))
        list[n++] = text;
    if (plan->add_preload) {
        list[n++] = text;
        text = env_put(env_put(text, env_preload), env_library());
        if (plan->preload < plan->count && plan->from[plan->preload][sizeof env_preload - 1] != '\0')
            text = env_put(env_put(text, ":"), plan->from[plan->preload] + sizeof env_preload - 1);
        text++;
    }
    if (plan->add_socket) {
        list[n++] = text;
        handover_print(&handover, env_put(text, env_socket));
    }
    list[n] = NULL;
    return list;
}

/* In the child of a vfork nobody can give the room back, since its exec does not return: one for each thread, whose
 * next such child uses it again. */
static __thread struct {
    void *room;
    size_t length;
} env_kept __attribute__((tls_model("initial-exec")));

static void *env_room_of_thread(size_t length)
{
    if (env_kept.length < length) {
        void *room = tls_caged != 0 ? NULL : memory_pages(length);
        if (room == NULL)
            return NULL;
        void *old = env_kept.room;
        size_t old_length = env_kept.length;
        env_kept.length = 0; /* a handler that comes now takes room of its own */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        env_kept.room = room;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        env_kept.length = length;
        if (old_length != 0 && life_sandbox == 0)
            sys_munmap(old, old_length);
    }
    return env_kept.room;
}

void env_lay_in(void)
{
    (void)env_room_of_thread(ENV_LAID_IN);
}

char *const *env_copy(struct env_plan *plan, void *room)
{
    plan->was_caged = tls_caged != 0;
    if (!plan->is_needed)
        return plan->from;
    bool is_vforked =
        tls_caged != 0 || (life_sandbox == 0 && *lane_fork_word != 0 && (uint32_t)sys_getpid() != life.pid);
    if (room == NULL && is_vforked)
        room = env_room_of_thread(plan->room);
    else if (room == NULL)
        room = plan->mapped = memory_pages(plan->room);
    return room == NULL ? plan->from : env_fill(plan, room);
}

void env_done(const struct env_plan *plan)
{
    if (plan->mapped != NULL && !life_sandbox)
        sys_munmap(plan->mapped, plan->room);
}
