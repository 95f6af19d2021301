/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * settings: the variables that probe and collector read, each with its option of
 * `heapwake record`. Complains about those that make no sense: the probe takes the
 * default then, and says nothing itself.
 */
#ifndef HW_CMD_SETTINGS_H
#define HW_CMD_SETTINGS_H

#include "cmd/logging.h"

void settings_check(struct logging *log);

enum { SETTINGS_NONE = -1 };

/* An option of `heapwake record` that stands for a variable: the program gets that.  EXIT_DONE, EXIT_USAGE
 * (said), or SETTINGS_NONE: argv[*at] is no such option. */
int settings_take(char **argv, int *at);

#endif
