/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * inner: how a variable is declared that several files of the probe use.
 *
 * Hidden already where it is declared, so that no code asks the GOT for its
 * address: hooks can run before the loader has relocated us (life.c), and the GOT
 * then holds the addresses of link time. scripts/check-symbols finds what
 * was forgotten.
 */
#ifndef HW_PROBE_INNER_H
#define HW_PROBE_INNER_H

#define INNER extern __attribute__((visibility("hidden")))

#endif
