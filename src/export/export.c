/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * export: the table of formats.
 */
#include "export/export.h"

#include <string.h>

const struct export_format export_list[] = {
    {"folded", "folded", "stacks on a line each, for flamegraph.pl and its kin",
     "folded has one number a stack: bytes live at the peak.", 0, 0, 0, export_folded},
    {"heaptrack", "heaptrack", "heaptrack_print and heaptrack_gui",
     "heaptrack's format has no threads, addresses and kinds, and lifetimes only for each size and stack.",
     EXPORT_EVENTS, 0, 0, export_heaptrack},
    {0},
};

const struct export_format *export_find(const char *name)
{
    for (const struct export_format *f = export_list; f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0)
            return f;
    }
    return NULL;
}
