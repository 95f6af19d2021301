/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * units: see units.h.
 */
#include "present/units.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool units_are_exact;

void units_show_bytes(void)
{
    units_are_exact = true;
}

const char *units_count(char *text, uint64_t value)
{
    char digits[UNITS_MAX];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

const char *units_bytes(char *text, uint64_t bytes)
{
    char count[UNITS_MAX];
    if (!units_are_exact)
        return units_rounded_bytes(text, bytes);
    snprintf(text, UNITS_MAX, "%.30s byte%s", units_count(count, bytes), units_plural(bytes));
    return text;
}

const char *units_rounded_bytes(char *text, uint64_t bytes)
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        snprintf(text, UNITS_MAX, bytes == 1 ? "%u byte" : "%u bytes", (unsigned)bytes);
        return text;
    }
    double value = (double)bytes / 1024;
    size_t i = 0;
    while (value >= 1023.95 && i + 1 < sizeof names / sizeof *names) {
        value /= 1024;
        i++;
    }
    snprintf(text, UNITS_MAX, "%.1f %s", value, names[i]);
    return text;
}

static uint64_t units_sign(char *text, int64_t change)
{
    text[0] = change < 0 ? '-' : '+';
    return change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
}

const char *units_change_bytes(char *text, int64_t change)
{
    char size[UNITS_MAX];
    snprintf(text + 1, UNITS_MAX - 1, "%.38s", units_bytes(size, units_sign(text, change)));
    return text;
}

const char *units_change_count(char *text, int64_t change)
{
    char count[UNITS_MAX];
    snprintf(text + 1, UNITS_MAX - 1, "%.30s", units_count(count, units_sign(text, change)));
    return text;
}

const char *units_time(char *text, uint64_t ns)
{
    uint64_t s = ns / 1000000000;
    if (ns < 1000)
        snprintf(text, UNITS_MAX, "%u ns", (unsigned)ns);
    else if (ns < 1000000)
        snprintf(text, UNITS_MAX, "%.3g us", (double)ns / 1e3);
    else if (ns < 1000000000)
        snprintf(text, UNITS_MAX, "%.3g ms", (double)ns / 1e6);
    else if (s < 60)
        snprintf(text, UNITS_MAX, "%.2f s", (double)ns / 1e9);
    else if (s < 3600)
        snprintf(text, UNITS_MAX, "%u min %u s", (unsigned)(s / 60), (unsigned)(s % 60));
    else
        snprintf(text, UNITS_MAX, "%llu h %u min", (unsigned long long)(s / 3600), (unsigned)(s / 60 % 60));
    return text;
}

const char *units_plural(uint64_t value)
{
    return value == 1 ? "" : "s";
}
