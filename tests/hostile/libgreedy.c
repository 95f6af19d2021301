/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libgreedy: thread-local data that must lie in the static block, of which little
 * is left when a program runs.
 *
 * build: -ftls-model=initial-exec
 */
static __thread char room[1024];

char *greedy_room(void)
{
    return room;
}
