/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * quantity: numbers with units, as people write them.
 *
 *     size        4096   4K   1.5MiB   2GB      K and KiB are 1024, KB is 1000; whole bytes
 *     duration    250ns   10us   5ms   1.5s   2min   1h   3        (seconds)
 *                 1d2h3m4s5ms6us                               (in falling order)
 *     percent     30%   99.5%
 *     address     7f0012ab   0x7f0012ab
 *     date        2026-11-15 23:40   2026-11-15T23:40:05.125   ...Z     (local time, or UTC)
 *
 * Each gives false when the text is anything else, or too large.
 */
#ifndef HW_ENGINE_QUANTITY_H
#define HW_ENGINE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

bool quantity_size(const char *text, uint64_t *bytes);
bool quantity_duration(const char *text, uint64_t *ns);
bool quantity_percent(const char *text, double *percent);
/* A percentage, of which the sign may be left out. */
bool quantity_share(const char *text, double *percent);
bool quantity_address(const char *text, uint64_t *address);
/* Nanoseconds since 1970. */
bool quantity_date(const char *text, uint64_t *ns);
/* Decimal digits only. */
bool quantity_count(const char *text, uint64_t *count);

#endif
