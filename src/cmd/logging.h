/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * logging: where the collector's sentences go: HEAPWAKE_LOG (how much) and
 * HEAPWAKE_LOGFILE (where).
 */
#ifndef HW_CMD_LOGGING_H
#define HW_CMD_LOGGING_H

#include "tool/level.h"

#include <stdbool.h>

struct logging {
    int fd; /* -1: nowhere */
    bool owns;
    enum level level; /* the least that is said */
};

/* Is it one of those that HEAPWAKE_LOG takes? */
bool logging_is_level(const char *text);

/* level, file: the values of the variables, NULL = not set.  fallback: the
 * descriptor where there is no file, -1 = none. */
void logging_open(struct logging *l, const char *level, const char *file, int fallback);
void logging_close(struct logging *l);
/* A level_say_fn. */
void logging_say(void *of, enum level level, const char *sentence);

#endif
