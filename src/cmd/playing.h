/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * playing: runs heapwake-player, with an allocator preloaded, on a score.
 */
#ifndef HW_CMD_PLAYING_H
#define HW_CMD_PLAYING_H

#include "analysis/replay_script.h"
#include "store/reader.h"
#include "tool/err.h"
#include "wire/score.h"

#include <stdint.h>

/* Makes the score of a composition in a file without a name, and its descriptor. */
int playing_write_score(int *fd, struct replay_script *c, struct wake_reader *r, struct err *err);

/* Plays it once.  file: of the allocator, as the loader takes it; NULL = libc's.
 * ERR_ABSENT: the player itself is missing; ERR_SYSTEM: it could not be run, or
 * died.  Else 0, and the outcome is in *result; SCORE_NOT_LOADED is one. */
int playing_run(int score, enum score_touch touch, enum score_lead lead, const char *file,
                struct score_result *result, struct err *err);

/* Why a play has failed, in words. */
const char *playing_describe(const struct score_result *result);

/* Bytes that the system has to spare; UINT64_MAX: not known. */
uint64_t playing_available(void);

#endif
