/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * wrapper_check: see wrapper_check.h.
 */
#include "cmd/wrapper_check.h"

#include "analysis/called.h"
#include "cmd/command.h"

static bool wrapper_check_is_there(const struct traces *traces, const char *name)
{
    for (size_t i = 0; i < traces->frames.count; i++) {
        if (called_matches(&traces->frames.data[i], name))
            return true;
    }
    return false;
}

void wrapper_check_warn(const struct traces *traces)
{
    for (size_t i = 0; i < traces->wrapper_count; i++) {
        if (!wrapper_check_is_there(traces, traces->wrappers[i]))
            command_say("--wrapper changes nothing: no function in these stacks is called '%s'.",
                        traces->wrappers[i]);
    }
}
