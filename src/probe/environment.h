/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * environment: what the user has set, read from the program's initial stack.
 *
 * getenv is of no use: before libc's start-up it finds nothing, and later it
 * may race with the program's setenv. The kernel's copy is always there:
 *
 *     stack_end -> argc, argv[0..argc), 0, environment..., 0, auxiliary vector
 *
 * It is the program's all the same: unsetenv moves what is behind a variable down by one. So what is ours is noted at
 * birth, and what is behind the list looked for behind all its zeroes.
 *
 * Where the kernel sets AT_SECURE (set-user-ID, set-group-ID, file capabilities, a change of security label) the
 * variables are those of a caller with fewer rights than the process: no variable is read, every one counts as absent.
 */
#ifndef HW_PROBE_ENVIRONMENT_H
#define HW_PROBE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: AT_SECURE is set. Nothing may be recorded then. */
bool environment_is_trusted(void);

/* The value of NAME, or NULL. */
const char *environment_find(const char *name);

/* Is NAME set to exactly this? */
bool environment_is(const char *name, const char *value);

/* A whole number within [low, high], or `otherwise` when absent or senseless
 * (the collector says so: it checks the same variables). */
uint64_t environment_number(const char *name, uint64_t low, uint64_t high, uint64_t otherwise);

/* The same for a size: a number, or one with K, M or G behind it. */
uint64_t environment_size(const char *name, uint64_t low, uint64_t high, uint64_t otherwise);

/* Copies the arguments, NUL after each; the bytes used. *is_cut: not all fitted. */
size_t environment_arguments(char *to, size_t room, int *is_cut);

/* An entry of the auxiliary vector, or 0. */
uint64_t environment_auxiliary(uint64_t type);

/* At birth: our own variables are what they are now, whatever the program does to its list. */
void environment_keep(void);

/* The path the program was started by, or "". */
const char *environment_exe(void);
/* At birth: makes that a whole path. "./app" means nothing in another folder, and the program may go to one. */
void environment_place_exe(void);

#endif
