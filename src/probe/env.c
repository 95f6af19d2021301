/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * env: see env.h.
 */
#include "probe/env.h"

#include "probe/environment.h"
#include "probe/handover.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/module.h"
#include "probe/real.h"
#include "probe/target.h"

#include <link.h>

enum { ENV_SOCKET_MAX = HANDOVER_NAME_MAX + 2 * HANDOVER_TOKEN + 2 };

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

struct env_plan env_plan(char *const *from, const char *path)
{
    struct env_plan plan = {.from = from};
    const char *library = env_library();
    if (life.state != LIFE_ON || from == NULL || library == NULL || library[0] != '/' ||
        environment_is("HEAPWAKE_CHILDREN", "no"))
        return plan;
    while (from[plan.count] != NULL)
        plan.count++;
    plan.preload = plan.socket = plan.count;
    for (size_t i = 0; i < plan.count; i++) {
        if (env_begins_with(from[i], env_preload))
            plan.preload = i;
        else if (env_begins_with(from[i], env_socket))
            plan.socket = i;
    }
    const char *list = plan.preload < plan.count ? from[plan.preload] + sizeof env_preload - 1 : "";
    /* What a filter allows is not known: the new image is not to make our system calls. */
    bool is_foreign = life_sandbox || target_names_runtime(list) || target_is_foreign(path);
    bool has_us = env_find_entry(list, library) != NULL;
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

char *const *env_fill(const struct env_plan *plan, void *room)
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
