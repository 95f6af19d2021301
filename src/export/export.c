/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * export: the table of formats.
 */
#include "export/export.h"

#include <string.h>

const struct export_format export_list[] = {
    {"folded", "folded", "stacks on a line each, for flamegraph.pl and its kin",
     "folded has one number a stack: no times, threads and lifetimes.", EXPORT_MEASURE, 0, 0, export_folded},
    {"heaptrack", "heaptrack", "heaptrack_print and heaptrack_gui",
     "heaptrack's format has no threads, addresses and kinds, and lifetimes only for each size and stack.",
     EXPORT_EVENTS, 0, 0, export_heaptrack},
    {"flamegraph", "svg", "any browser: one picture with zoom and search",
     "flamegraph shows one measure: no times, threads and lifetimes.", EXPORT_MEASURE, 0, 0,
     export_flamegraph},
    {"speedscope", "speedscope.json", "speedscope.app; a profile for each measure",
     "speedscope has sums for each stack: no times, threads and lifetimes.", 0, 0, 0, export_speedscope},
    {"massif", "massif", "ms_print and massif-visualizer",
     "massif has snapshots of what is live: no counts, threads and lifetimes.", EXPORT_EVENTS, 0, 0,
     export_massif},
    {"dhat", "dhat.json", "dh_view.html of Valgrind, the Firefox Profiler",
     "dhat has sums for each stack, and no threads; accesses to blocks are not recorded.", EXPORT_EVENTS, 0,
     0, export_dhat},
    {"callgrind", "callgrind", "callgrind_annotate and KCachegrind",
     "callgrind has sums for each function and call: no times, threads and lifetimes.", 0, 0, 0,
     export_callgrind},
    {"json", "json", "programs of your own: everything; docs/json.md", NULL, EXPORT_EVENTS, 0, 0,
     export_json},
    {"csv", "csv", "spreadsheets and data frames: a row for each block",
     "csv has blocks with one line of their stacks; json has all of it.", EXPORT_EVENTS, 0, 0, export_csv},
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
