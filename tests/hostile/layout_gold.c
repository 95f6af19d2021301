/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * layout_gold: the same, laid out by another linker: the first segment begins elsewhere,
 * and there is no table to search the unwind data with.
 *
 * build: -O3 -fomit-frame-pointer -fuse-ld=gold -Wl,--no-eh-frame-hdr -Wl,-z,relro
 */
#include "layout.c"
