/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sanitizer: tells programs that were built with a sanitizer.  Most of those have
 * an allocator of their own, and do not start when something is preloaded before it.
 */
#ifndef HW_COLLECT_SANITIZER_H
#define HW_COLLECT_SANITIZER_H

/* "AddressSanitizer" and so on; NULL: none, or the file cannot be read.  fd stays the caller's. */
const char *sanitizer_find(int fd);

#endif
