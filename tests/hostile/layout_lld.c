/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * layout_lld: the same, laid out by another linker: the first segment does not begin at 0
 * although the program can lie anywhere, segments share pages of the file, and there is no
 * table to search the unwind data with.
 *
 * build: -O3 -fomit-frame-pointer -fuse-ld=lld -Wl,--no-eh-frame-hdr -Wl,-z,relro -Wl,--image-base=0x10000
 */
#include "layout.c"
