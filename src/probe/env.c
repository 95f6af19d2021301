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

/* Is `path` one of the entries of a list separated by colons or spaces? */
static bool env_has_entry(const char *list, const char *path)
{
    while (*list != '\0') {
        const char *want = path;
        while (*want != '\0' && *list == *want) {
            list++;
            want++;
        }
        if (*want == '\0' && (*list == '\0' || *list == ':' || *list == ' '))
            return true;
        while (*list != '\0' && *list != ':' && *list != ' ')
            list++;
        while (*list == ':' || *list == ' ')
            list++;
    }
    return false;
}

struct env_plan env_plan(char *const *from)
{
    struct env_plan plan = {.from = from};
    const char *library = env_library();
    const char *children = environment_find("HEAPWAKE_CHILDREN");
    if (life.state != LIFE_ON || from == NULL || library == NULL || library[0] != '/' ||
        (children != NULL && children[0] == 'n'))
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
    plan.add_preload = !env_has_entry(list, library);
    plan.add_socket = handover.is_set && plan.socket == plan.count;
    plan.is_needed = plan.add_preload || plan.add_socket;
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

char *const *env_fill(const struct env_plan *plan, void *room)
{
    char **list = room;
    char *text = (char *)(list + plan->count + 3);
    size_t n = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (!plan->add_preload || i != plan->preload)
            list[n++] = plan->from[i];
    }
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
