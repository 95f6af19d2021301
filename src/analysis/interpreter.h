/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * interpreter: is what was recorded a script?  Its stacks are those of the interpreter: native frames, in
 * which the functions of the script have no names.
 */
#ifndef HW_ANALYSIS_INTERPRETER_H
#define HW_ANALYSIS_INTERPRETER_H

#include "analysis/trace.h"
#include "engine/result.h"
#include "tool/err.h"

/* *sentence: what a reader should know of the interpreter, or virtual machine, that is in more than half of the stacks
 * of the process with the highest peak (others may be those of scripts that started it), and what would help; static.  NULL: there is none.  ERR_MEMORY. */
int interpreter_find(struct traces *c, const struct query_result *answer, const char **sentence,
                     struct err *err);

#endif
