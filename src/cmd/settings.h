/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * settings: complains about environment variables that make no sense. The probe
 * reads the same ones and takes the default then; it says nothing itself.
 */
#ifndef HW_CMD_SETTINGS_H
#define HW_CMD_SETTINGS_H

#include "cmd/logging.h"

void settings_check(struct logging *log);

#endif
