/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * still_static: a program without a dynamic linker.
 *
 * build: -static
 */
#include "hostile.h"

int main(void)
{
    work(10069, 10);
    tell();
    return 4;
}
