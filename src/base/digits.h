/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * digits: numbers as text, for those who write millions of them.  Where there are
 * few, printf reads better.
 *
 * A number is written to a pointer, and the byte after it is given back: the caller has
 * made room for DIGITS_MAX bytes.  No zero byte is put behind.
 *
 * No allocation, no libc.
 */
#ifndef HW_BASE_DIGITS_H
#define HW_BASE_DIGITS_H

#include <stdint.h>

enum {
    DIGITS_MAX = 20 /* bytes that a number may take */
};

/* How many digits a number has in decimal. */
static inline unsigned digits_count(uint64_t number)
{
    unsigned count = 1;
    for (; number >= 10000; number /= 10000)
        count += 4;
    return count + (number >= 10) + (number >= 100) + (number >= 1000);
}

/* In decimal, two digits at a time. */
static inline char *digits_put(char *to, uint64_t number)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char *end = to + digits_count(number), *at = end;
    while (number >= 100) {
        const char *pair = pairs + number % 100 * 2;
        number /= 100;
        *--at = pair[1];
        *--at = pair[0];
    }
    *--at = pairs[number * 2 + 1];
    if (number >= 10)
        *--at = pairs[number * 2];
    return end;
}

/* In hexadecimal, without a prefix. */
static inline char *digits_put_hex(char *to, uint64_t number)
{
    unsigned count = (67 - (unsigned)__builtin_clzll(number | 1)) / 4;
    for (unsigned i = count; i-- > 0; number >>= 4)
        to[i] = "0123456789abcdef"[number & 15];
    return to + count;
}

#endif
