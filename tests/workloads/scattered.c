/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * scattered: keeps blocks of all ages: of those that are live at any moment some were made long ago, and most
 * of what was made with them is gone.  It pauses, so that a recorder begins other files meanwhile.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLOTS = 30000, STEPS = 2000000 };

static void *kept[SLOTS];

int main(void)
{
    uint32_t state = 1;
    for (int i = 0; i < STEPS; i++) {
        if (i % (STEPS / 8) == STEPS / 8 - 1)
            usleep(50000);
        state = state * 1103515245u + 12345u;
        void **slot = &kept[(state >> 8) % SLOTS];
        if (*slot != NULL) {
            free(*slot);
            *slot = NULL;
        } else {
            *slot = malloc(16 + (state >> 20) % 300);
        }
    }
    return 0;
}
