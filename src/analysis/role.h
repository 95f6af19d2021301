/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * role: whose code a frame is (enum frame_role in frame.h).
 */
#ifndef HW_ANALYSIS_ROLE_H
#define HW_ANALYSIS_ROLE_H

#include <stdbool.h>

#include "engine/frame.h"

/* What the names and the module tell. */
enum frame_role role_find(const struct frame *f);
/* Is it called like a well-known wrapper of malloc? The program's own may be. */
bool role_is_wrapper(const struct frame *f);
/* Is it FRAME_OWN, but compiled from a package that the program depends on (a crate, a module of Go)?  Such frames keep
 * their sites: whole frameworks come as packages, and call the program. */
bool role_is_packaged(const struct frame *f);

#endif
