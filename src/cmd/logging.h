/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * logging: where the collector's sentences go: HEAPWAKE_LOG (how much) and
 * HEAPWAKE_LOGFILE (where).
 *
 * The name of the file may have the placeholders of a recording's (collect/name.h), which are filled in when the first
 * process is there: until then the lines are kept.
 */
#ifndef HW_CMD_LOGGING_H
#define HW_CMD_LOGGING_H

#include "collect/name.h"
#include "tool/level.h"
#include "tool/strbuf.h"

#include <stdbool.h>

struct logging {
    int fd; /* -1: nowhere */
    bool owns;
    enum level level;    /* the least that is said */
    const char *program; /* for the name, where no process comes; NULL: not known */
    const char *pattern; /* of the name that is not known yet; NULL: it is, or there is no file */
    struct strbuf early; /* lines for that file */
};

/* Is it one of those that HEAPWAKE_LOG takes? */
bool logging_is_level(const char *text);

/* level, file: the values of the variables, NULL = not set.  fallback: the
 * descriptor where there is no file, -1 = none. */
void logging_open(struct logging *l, const char *level, const char *file, int fallback);
void logging_close(struct logging *l);
/* Has the user asked the probe for traces (HEAPWAKE_TRACE)? */
bool logging_wants_traces(void);
/* A process has come. */
void logging_meet(void *of, const struct name_facts *facts);
/* A level_say_fn. */
void logging_say(void *of, enum level level, const char *sentence);

#endif
