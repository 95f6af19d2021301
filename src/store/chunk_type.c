/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chunk_type: see chunk_type.h.
 */
#include "store/chunk_type.h"

#include "store/format.h"
#include "store/level_table.h"
#include "store/recording.h"

static const struct chunk_type chunk_types[FORMAT_TYPE_COUNT] = {
    [FORMAT_PROCESS] = {.name = "process",
                        .is_of_process = true,
                        .decode = meta_decoder_add_process,
                        .is_kept_late = true},
    [FORMAT_THREADS] = {.name = "threads", .is_of_process = true, .decode = meta_decoder_add_threads},
    [FORMAT_MODULES] = {.name = "modules", .is_of_process = true, .decode = meta_decoder_add_modules},
    [FORMAT_STACKS] = {.name = "stacks",
                       .is_of_process = true,
                       .decode = meta_decoder_add_stacks,
                       .is_copied = true},
    [FORMAT_EVENTS] = {.name = "events",
                       .is_of_process = true,
                       .note = reader_note_events,
                       .verify = reader_verify_events},
    [FORMAT_SAMPLES] = {.name = "samples", .is_of_process = true, .decode = meta_decoder_add_samples},
    [FORMAT_MARKS] = {.name = "marks", .is_of_process = true, .decode = meta_decoder_add_marks},
    [FORMAT_PROCESS_END] = {.name = "process-end",
                            .is_of_process = true,
                            .decode = meta_decoder_add_end,
                            .is_state = true,
                            .is_kept_late = true},
    [FORMAT_TOTALS] = {.name = "totals",
                       .is_of_process = true,
                       .decode = meta_decoder_add_totals,
                       .is_state = true,
                       .is_kept_late = true},
    [FORMAT_LIVE] = {.name = "live-blocks",
                     .is_of_process = true,
                     .decode = meta_decoder_add_live,
                     .is_state = true},
    [FORMAT_INDEX] = {.name = "index", .is_added = true, .is_replaced = true},
    [FORMAT_END] = {.name = "end", .is_replaced = true},
    [FORMAT_SYMBOLS] = {.name = "symbols",
                        .verify = lookup_verify_names,
                        .is_common = true,
                        .is_added = true,
                        .is_replaced = true},
    [FORMAT_BINARY] = {.name = "binary",
                       .verify = lookup_verify_binaries,
                       .is_common = true,
                       .is_added = true},
    [FORMAT_POOLS] = {.name = "pools", .is_of_process = true, .decode = meta_decoder_add_pools},
    [FORMAT_OMISSIONS] = {.name = "omissions",
                          .is_of_process = true,
                          .decode = meta_decoder_add_omissions,
                          .is_state = true,
                          .is_kept_late = true},
    [FORMAT_CARRIED] = {.name = "carried-blocks", .is_of_process = true, .decode = meta_decoder_add_carried},
    [FORMAT_NOTES] = {.name = "notes", .decode = reader_add_notes, .is_added = true},
    [FORMAT_USAGE] = {.name = "usage", .is_of_process = true, .decode = meta_decoder_add_usage},
    [FORMAT_LEVELS] = {.name = "levels",
                       .is_of_process = true,
                       .note = reader_note_levels,
                       .verify = level_table_verify,
                       .is_state = true},
    [FORMAT_GAPS] = {.name = "gaps", .is_of_process = true, .decode = meta_decoder_add_gaps},
};

const struct chunk_type *chunk_type_get(unsigned type)
{
    static const struct chunk_type unknown = {.name = "unknown"};
    return type < FORMAT_TYPE_COUNT && chunk_types[type].name != NULL ? &chunk_types[type] : &unknown;
}
