/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * near: see near.h.
 */
#include "engine/near.h"

#include <stddef.h>
#include <string.h>

enum { NEAR_LENGTH = 24 };

/* How many letters have to be changed, added or left out to make b of a. */
static unsigned near_distance(const char *a, const char *b)
{
    unsigned row[NEAR_LENGTH + 1];
    size_t n = strnlen(a, NEAR_LENGTH), m = strnlen(b, NEAR_LENGTH);
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned swap = diagonal + (a[i - 1] != b[j - 1]);
            unsigned less = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = swap < less ? swap : less;
        }
    }
    return row[m];
}

bool near_is(const char *asked, const char *word)
{
    size_t length = strlen(asked);
    bool begins = length >= 3 && strncmp(word, asked, length) == 0;
    return length > 0 && (begins || near_distance(asked, word) <= 2);
}

int near_find(const char *asked, const char *word)
{
    size_t length = strlen(asked);
    unsigned most = length > 3 ? 2 : length > 1 ? 1 : 0, distance = near_distance(asked, word);
    if (length >= 3 && strncmp(word, asked, length) == 0)
        return 0;
    return length > 0 && distance <= most ? (int)distance : -1;
}
