/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * quantity: see quantity.h.
 *
 * Numbers are read by hand: strtod would follow the locale and take "inf",
 * "nan" and hexadecimal fractions.
 */
#include "engine/quantity.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <time.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit sizes[] = {
    {"", 1},
    {"B", 1},
    {"K", UINT64_C(1) << 10},
    {"KiB", UINT64_C(1) << 10},
    {"KB", 1000},
    {"M", UINT64_C(1) << 20},
    {"MiB", UINT64_C(1) << 20},
    {"MB", 1000000},
    {"G", UINT64_C(1) << 30},
    {"GiB", UINT64_C(1) << 30},
    {"GB", 1000000000},
    {"T", UINT64_C(1) << 40},
    {"TiB", UINT64_C(1) << 40},
    {"TB", UINT64_C(1000000000000)},
    {NULL, 0},
};

static const struct unit durations[] = {
    {"", 1000000000},
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"min", UINT64_C(60) * 1000000000},
    {"h", UINT64_C(3600) * 1000000000},
    {"d", UINT64_C(86400) * 1000000000},
    {NULL, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "12.5" as whole 12, fraction 5 over scale 10.  The character behind, or NULL. */
static const char *quantity_number(const char *text, uint64_t *number, uint64_t *fraction, uint64_t *scale)
{
    const char *at = text;
    *number = *fraction = 0;
    *scale = 1;
    if (!is_digit(*at))
        return NULL;
    for (; is_digit(*at); at++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*at - '0'), number))
            return NULL;
    if (*at != '.')
        return at;
    if (!is_digit(*++at))
        return NULL;
    /* Nine digits are more than anybody means. */
    for (; is_digit(*at); at++) {
        if (*scale >= 1000000000)
            continue;
        *fraction = *fraction * 10 + (uint64_t)(*at - '0');
        *scale *= 10;
    }
    return at;
}

static bool quantity_read(const char *text, const struct unit *units, uint64_t *value)
{
    uint64_t number, fraction, scale;
    const char *behind = quantity_number(text, &number, &fraction, &scale);
    if (behind == NULL)
        return false;
    while (*behind == ' ')
        behind++;
    for (; units->name != NULL; units++) {
        if (strcasecmp(units->name, behind) != 0)
            continue;
        if (units->factor == 1 && fraction != 0)
            return false; /* there is nothing smaller */
        uint64_t part = units->factor / scale * fraction + units->factor % scale * fraction / scale;
        return !__builtin_mul_overflow(number, units->factor, value) &&
               !__builtin_add_overflow(*value, part, value);
    }
    return false;
}

bool quantity_size(const char *text, uint64_t *bytes)
{
    return quantity_read(text, sizes, bytes);
}

/* "4h3m2s": whole numbers of units that become smaller.  Between others "m" can only be minutes. */
static bool quantity_parts(const char *text, uint64_t *ns)
{
    static const struct unit minutes = {"m", UINT64_C(60) * 1000000000};
    uint64_t factor = UINT64_MAX, number, fraction, scale, part;
    unsigned parts = 0;
    for (*ns = 0; *text != '\0'; parts++) {
        const char *behind = quantity_number(text, &number, &fraction, &scale);
        const struct unit *unit = &durations[1], *found = NULL;
        if (behind == NULL || scale != 1)
            return false;
        for (text = behind; *text != '\0' && !is_digit(*text); text++)
            continue;
        size_t length = (size_t)(text - behind);
        for (; unit->name != NULL && found == NULL; unit++)
            if (strlen(unit->name) == length && strncasecmp(unit->name, behind, length) == 0)
                found = unit;
        if (found == NULL && length == 1 && (*behind == 'm' || *behind == 'M'))
            found = &minutes;
        if (found == NULL || found->factor >= factor ||
            __builtin_mul_overflow(number, found->factor, &part) || __builtin_add_overflow(*ns, part, ns))
            return false;
        factor = found->factor;
    }
    return parts > 1;
}

bool quantity_duration(const char *text, uint64_t *ns)
{
    return quantity_read(text, durations, ns) || quantity_parts(text, ns);
}

/* So many digits and what stands behind them (one of these, or the end).  What follows, or NULL. */
static const char *quantity_field(const char *text, unsigned digits, const char *ends, int *value)
{
    *value = 0;
    for (; digits > 0; digits--, text++) {
        if (!is_digit(*text))
            return NULL;
        *value = *value * 10 + (*text - '0');
    }
    if (*text == '\0' || strchr(ends, *text) == NULL)
        return NULL;
    return text + 1;
}

bool quantity_date(const char *text, uint64_t *ns)
{
    struct tm tm = {.tm_isdst = -1};
    char copy[40];
    uint64_t second = 0, fraction = 0, scale = 1;
    size_t length = strlen(text);
    bool is_utc = length > 0 && (text[length - 1] == 'Z' || text[length - 1] == 'z');
    if (length < 12 || length >= sizeof copy - 1)
        return false;
    memcpy(copy, text, length + 1);
    copy[length - is_utc] = '.'; /* something behind the last field */
    copy[length - is_utc + 1] = '\0';
    const char *at = quantity_field(copy, 4, "-", &tm.tm_year);
    at = at == NULL ? NULL : quantity_field(at, 2, "-", &tm.tm_mon);
    at = at == NULL ? NULL : quantity_field(at, 2, " Tt", &tm.tm_mday);
    at = at == NULL ? NULL : quantity_field(at, 2, ":", &tm.tm_hour);
    at = at == NULL ? NULL : quantity_field(at, 2, ":.", &tm.tm_min);
    if (at == NULL)
        return false;
    if (at[-1] == ':') { /* seconds, up to the end that was put there */
        copy[strlen(copy) - 1] = '\0';
        const char *behind = quantity_number(at, &second, &fraction, &scale);
        if (behind == NULL || *behind != '\0' || !is_digit(at[1]) || second > 59)
            return false;
    } else if (*at != '\0') {
        return false;
    }
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    tm.tm_sec = (int)second;
    const struct tm asked = tm;
    time_t seconds = is_utc ? timegm(&tm) : mktime(&tm);
    if (seconds < 0 || tm.tm_mday != asked.tm_mday || tm.tm_mon != asked.tm_mon || tm.tm_min != asked.tm_min)
        return false; /* there is no such day, or hour */
    return !__builtin_mul_overflow((uint64_t)seconds, UINT64_C(1000000000), ns) &&
           !__builtin_add_overflow(*ns, UINT64_C(1000000000) / scale * fraction, ns);
}

bool quantity_share(const char *text, double *percent)
{
    uint64_t number, fraction, scale;
    const char *behind = quantity_number(text, &number, &fraction, &scale);
    if (behind == NULL || strcmp(behind, behind[0] == '%' ? "%" : "") != 0 || number > 1000000)
        return false;
    *percent = (double)number + (double)fraction / (double)scale;
    return true;
}

bool quantity_percent(const char *text, double *percent)
{
    return strchr(text, '%') != NULL && quantity_share(text, percent);
}

bool quantity_count(const char *text, uint64_t *count)
{
    uint64_t fraction, scale;
    const char *behind = quantity_number(text, count, &fraction, &scale);
    return behind != NULL && *behind == '\0' && scale == 1;
}

bool quantity_address(const char *text, uint64_t *address)
{
    *address = 0;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        text += 2;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        char c = *text;
        unsigned digit = is_digit(c)              ? (unsigned)(c - '0')
                         : (c >= 'a' && c <= 'f') ? (unsigned)(c - 'a') + 10
                         : (c >= 'A' && c <= 'F') ? (unsigned)(c - 'A') + 10
                                                  : 16;
        if (digit > 15 || *address >> 60 != 0)
            return false;
        *address = *address << 4 | digit;
    }
    return true;
}
