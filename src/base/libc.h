/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libc: what stands for the source file of functions of the C library that are linked into a program.
 */
#ifndef HW_BASE_LIBC_H
#define HW_BASE_LIBC_H

#define LIBC_ARCHIVE "libc.a"

#endif
