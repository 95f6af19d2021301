/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libplugin_a: a plugin that is loaded, called and unloaded again and again; its
 * sibling has other frames at the same offsets.
 */
#include "shadow.h"

#define ROOM 72

static NOINLINE void plugin_inner(void (*back)(const char *))
{
    ENTER();
    char room[ROOM];
    room[0] = 1;
    truth_keep(room);
    back("plugin a");
    truth_keep(room);
    LEAVE();
}

void plugin_call(void (*back)(const char *));
void plugin_call(void (*back)(const char *))
{
    ENTER();
    plugin_inner(back);
    LEAVE();
}
