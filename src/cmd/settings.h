/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * settings: the variables that probe and collector read, each with its option of
 * `heapwake record`. Complains about those that make no sense: the probe takes the
 * default then, and says nothing itself.
 */
#ifndef HW_CMD_SETTINGS_H
#define HW_CMD_SETTINGS_H

#include "cmd/logging.h"
#include "cmd/options.h"

void settings_check(struct logging *log);

/* Sets the variable that an option of `heapwake record` stands for (--cull-ms: HEAPWAKE_CULL_MS), for the program and
 * the collector.  An option_set, which needs no structure. */
int settings_set(void *to, const struct option *o, const char *value, struct err *err);

#endif
