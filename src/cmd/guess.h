/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * guess: what somebody may have meant by a word that is no command, or by an option that the command
 * does not have.
 */
#ifndef HW_CMD_GUESS_H
#define HW_CMD_GUESS_H

#include "tool/err.h"

struct command;

/* There is no such command: says so, with what comes near, or with the command for the recording or the
 * program that it names.  operand: the word behind it, or NULL.  EXIT_USAGE. */
int guess_command(const char *word, const char *operand);

/* The command has no such option: a sentence about it, with what comes near.  ERR_USAGE. */
int guess_option(const struct command *c, const char *given, struct err *err);

#endif
