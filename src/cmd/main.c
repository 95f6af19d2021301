/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * main: finds the command and runs it.  The list of commands is in command.h.
 */
#include "cmd/command.h"
#include "cmd/guess.h"
#include "tool/memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A process may come without its standard descriptors.  What we open must not
 * take their numbers, or our messages would land in it.  Nor must an answer
 * that nobody gets look like one that was given: what stands in for them cannot be
 * written to.  Close-on-exec: a program that we run still finds them closed. */
static void keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

/* An answer that was made with too little memory is none, whatever the command thinks of it.  The
 * status of `record` is the program's, and what a collector lacks is said in the recording. */
static int settle(const struct command *c, int status)
{
    if (c == &command_record || c == &command_collect || status != EXIT_DONE || !memory_has_failed())
        return status;
    command_say(ERR_NO_MEMORY);
    return c == &command_check ? EXIT_USAGE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    keep_standard_descriptors();
    if (argc < 2)
        return command_misused("No command given; 'heapwake help' lists them.");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const struct command *command = command_find(name);
    if (command == NULL)
        return guess_command(name, argv[2]);
    bool wants_help = argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
    if (wants_help) {
        char *help[] = {argv[0], argv[1], NULL};
        return command_help.run(&command_help, 2, help);
    }
    return settle(command, command->run(command, argc - 1, argv + 1));
}
