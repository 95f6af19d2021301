/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * jit: code that lies in no module, but whose unwind tables the program has
 * announced (__register_frame and its kin, hook_jit.c). What is announced is copied,
 * so that a walk reads our own memory only, whatever becomes of the program's.
 *
 * Announcing and withdrawing: any thread, no lock. Finding: any context.
 */
#ifndef HW_PROBE_JIT_H
#define HW_PROBE_JIT_H

#include "probe/unwind/cfi.h"

#include <stdbool.h>
#include <stdint.h>

/* jit_read.c: learns all FDEs of a sequence of CIEs and FDEs that ends with a length of
 * zero. Its end is not known otherwise: where it is missing, reading ends at what makes
 * no sense, cannot be read, or is too long. `owner` names the announcement; one of the
 * same name before it is withdrawn. */
void jit_announce(const void *owner, const void *sequence);

/* The same of a list of sequences that NULL ends, and which names the announcement. */
void jit_announce_list(const void *list);

/* The announcement is withdrawn: its code may go, and other code come. */
void jit_withdraw(const void *owner);

/* The unwind data that was announced for pc. The section holds as long as the module
 * generation of before this call does; after that its bytes may be others, but can
 * always be read. */
bool jit_find(uint64_t pc, struct cfi_section *section);

/* For jit_read.c: a place where the copy of an FDE and its CIE is looked at. */
struct jit_copy {
    uint8_t *bytes; /* the CIE, the FDE, a terminator */
    uint64_t length;
    uint32_t room;
    uint32_t fde;         /* where the FDE begins in them */
    uint64_t fde_address; /* and where it lies in the program */
    uint32_t shelf, slot;
};

/* A place for so many bytes; false: they are too many, or there is none. */
bool jit_claim(struct jit_copy *copy, uint64_t length);
void jit_unclaim(const struct jit_copy *copy);
/* What the copy says, as a section. */
void jit_section(const struct jit_copy *copy, struct cfi_section *section);
/* The same bytes can be found from now on, and what lay there before cannot. False: there is
 * no room. */
bool jit_publish(const struct jit_copy *copy, const void *owner, uint64_t start, uint64_t end);

#endif
