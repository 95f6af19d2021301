/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * liblazy: thread-local data that is made on first touch, by malloc.
 *
 * build: -ftls-model=global-dynamic
 */
static __thread char room[65536];

char *lazy_room(void)
{
    return room;
}
