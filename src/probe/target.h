/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * target: can our library be loaded into the program that is about to be run?
 *
 * A 32-bit loader complains on the program's stderr about a 64-bit library,
 * and musl's refuses to start the program at all. The runtime of a sanitizer, where it
 * is a library, refuses to start behind another library, or crashes. Such programs are
 * run without us; the collector names them as not recorded.
 */
#ifndef HW_PROBE_TARGET_H
#define HW_PROBE_TARGET_H

#include <stdbool.h>

enum { TARGET_PATH_MAX = 512 };

/* Where exec will find a program by the PATH of this process: a name with a slash
 * is its own path. `room` holds the answer if one has to be put together. NULL:
 * not found, too long a path, or nobody may look (life_sandbox). */
const char *target_find(const char *file, char room[TARGET_PATH_MAX]);

/* The path of what fexecve runs. NULL: there is no such descriptor. */
const char *target_of_descriptor(int fd, char room[TARGET_PATH_MAX]);

/* True: the file exists and its loader or runtime would choke on us. Scripts are judged by
 * their interpreter. In a sandbox nobody looks: false. */
bool target_is_foreign(const char *path);

/* Whether there is, among these, the runtime of a sanitizer that has an allocator. */
bool target_names_runtime(const char *libraries);

#endif
