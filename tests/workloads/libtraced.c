/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libtraced: switches glibc's mtrace on for a program that it is preloaded into,
 * behind libc_malloc_debug.so.0.
 */
#include <mcheck.h>

__attribute__((constructor)) static void traced_begin(void)
{
    mtrace();
}
