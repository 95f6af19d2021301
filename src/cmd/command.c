/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * command: see command.h.
 */
#include "cmd/command.h"

#include "present/safe.h"
#include "tool/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMAND_LIST(name) &command_##name,
const struct command *const command_list[] = {COMMANDS(COMMAND_LIST) NULL};

const struct command *command_find(const char *name)
{
    for (const struct command *const *c = command_list; *c != NULL; c++) {
        if (strcmp((*c)->name, name) == 0)
            return *c;
    }
    return NULL;
}

static void command_write(const char *text, size_t length)
{
    ssize_t done = write(STDERR_FILENO, text, length);
    (void)done; /* there is nowhere else to say it */
}

/* Where there is no memory: what is not plain is a question mark, and what is long is cut. */
static void command_write_poor(const char *format, va_list args)
{
    static const char name[] = "heapwake: ";
    char line[1024];
    size_t at = sizeof name - 1;
    memcpy(line, name, at);
    (void)vsnprintf(line + at, sizeof line - at - 1, format, args);
    for (; line[at] != '\0'; at++)
        line[at] = line[at] < ' ' || line[at] > '~' ? '?' : line[at];
    line[at++] = '\n';
    command_write(line, at);
}

static void command_write_error(const char *format, va_list args)
{
    struct strbuf sentence, safe;
    va_list again;
    va_copy(again, args);
    strbuf_init(&sentence);
    strbuf_init(&safe);
    strbuf_vaddf(&sentence, format, args);
    strbuf_add_text(&safe, "heapwake: ");
    safe_add(&safe, strbuf_get(&sentence), sentence.length);
    strbuf_add_char(&safe, '\n');
    if (sentence.failed || safe.failed)
        command_write_poor(format, again);
    else
        command_write(strbuf_get(&safe), safe.length);
    va_end(again);
    strbuf_release(&sentence);
    strbuf_release(&safe);
}

void command_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    command_write_error(format, args);
    va_end(args);
}

int command_spare(const char *input, const char *output, struct err *err)
{
    struct stat in, out;
    if (input == NULL || output == NULL || stat(input, &in) != 0 || stat(output, &out) != 0 ||
        !S_ISREG(in.st_mode) || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
        return 0;
    return err_set(err, ERR_USAGE,
                   "'%s' is the file that is read; what is made of it needs a name of its own.", output);
}

int command_take_recording(const struct command *c, const char **file, char *word, struct err *err)
{
    if (*file != NULL)
        return err_set(err, ERR_USAGE,
                       "'heapwake %s' takes one recording; a series of files is a pattern in quotes.",
                       c->name);
    *file = word;
    return 0;
}

int command_needs_recording(const struct command *c, const char *file, struct err *err)
{
    return file != NULL ? 0
                        : err_set(err, ERR_USAGE, "No recording given: heapwake %s %s", c->name, c->usage);
}

void command_bear_limits(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGXFSZ, &ignore, NULL);
}

int command_misused(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    command_write_error(format, args);
    va_end(args);
    return EXIT_USAGE;
}

bool command_print(struct strbuf *text)
{
    const char *at = strbuf_get(text);
    size_t left = text->length;
    bool failed = text->failed || memory_has_failed();
    if (failed)
        command_say(ERR_NO_MEMORY);
    while (left > 0 && !failed) {
        ssize_t done = write(STDOUT_FILENO, at, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            failed = true;
            if (errno != EPIPE)
                command_say("The output cannot be written: %s.", strerror(errno));
            break;
        }
        at += done;
        left -= (size_t)done;
    }
    strbuf_clear(text);
    return !failed;
}
