/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * replay_arenas: the arena column of an events chunk (store/heaps.h), for replay alone.
 */
#ifndef HW_STORE_REPLAY_ARENAS_H
#define HW_STORE_REPLAY_ARENAS_H

#include "store/replay.h"

/* A chunk begins: its columns, if they are wanted, and its prelude are there. */
void replay_arenas_begin(struct replay *r);
/* The arenas of the latest block, whose addresses are there.  May set r->bad. */
void replay_arenas_decode(struct replay *r);

#endif
