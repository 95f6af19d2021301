/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chunk_decoder_arenas: the arena column of an events chunk (store/heaps.h), for replay alone.
 */
#ifndef HW_STORE_CHUNK_DECODER_ARENAS_H
#define HW_STORE_CHUNK_DECODER_ARENAS_H

#include "store/chunk_decoder.h"

/* A chunk begins: its columns, if they are wanted, and its prelude are there. */
void chunk_decoder_arenas_begin(struct chunk_decoder *r);
/* The arenas of the latest block, whose addresses are there.  May set r->bad. */
void chunk_decoder_arenas_decode(struct chunk_decoder *r);

#endif
