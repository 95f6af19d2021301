/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * drift_moved: drift after an edit that moved its lines.
 */
#define DRIFT_MOVED
#include "drift.c"
