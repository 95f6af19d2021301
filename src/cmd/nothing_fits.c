/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * nothing_fits: see nothing_fits.h.
 */
#include "cmd/nothing_fits.h"

#include "cmd/command.h"
#include "engine/measure.h"
#include "present/units.h"

static void nothing_fits_write(uint64_t count, const char *what)
{
    char text[UNITS_MAX];
    if (count == 1)
        command_say("The only %s does not meet the conditions that were given.", what);
    else if (count != 0)
        command_say("None of the %s %ss meets the conditions that were given.", units_count(text, count),
                    what);
}

void nothing_fits_say(const struct metrics *total, uint64_t allocations)
{
    for (unsigned i = 0; i < MEASURE_COUNT; i++) {
        if (measure_blocks(total, (enum measure)i) != 0)
            return;
    }
    nothing_fits_write(allocations, "allocation");
}

void nothing_fits_say_mappings(uint64_t chosen, uint64_t mappings)
{
    if (chosen == 0)
        nothing_fits_write(mappings, "mapping");
}
