/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * still: a statically linked program, which no probe can enter. Sleeps a little,
 * exits with 4.
 *
 * build: -static
 */
#include <unistd.h>

int main(void)
{
    usleep(300000);
    return 4;
}
