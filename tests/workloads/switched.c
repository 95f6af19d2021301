/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * switched ROUNDS: switches recording on and off again in each round.  While it is on, makes a block of 1000
 * bytes; while it is off, 64 of 1001.  The last of each of them stay until the next round frees them, the
 * recorded one while recording is off and the other while it is on.  Prints how many were made.
 * build: -I{root}/include
 */
#include <heapwake.h>

#include "truth.h"

enum { OTHERS = 64 };

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    void *recorded = NULL, *others[OTHERS] = {NULL};
    heapwake_disable();
    for (long i = 0; i < rounds; i++) {
        heapwake_enable();
        for (int k = 0; k < OTHERS; k++)
            free(others[k]);
        void *before = recorded;
        recorded = truth_keep(malloc(1000));
        heapwake_disable();
        free(before);
        for (int k = 0; k < OTHERS; k++)
            others[k] = truth_keep(malloc(1001));
    }
    truth_add("{\"recorded\": %ld, \"others\": %ld}\n", rounds, rounds * OTHERS);
    truth_tell(1);
    return 0;
}
