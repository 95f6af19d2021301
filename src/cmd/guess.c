/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * guess: see guess.h.  The options of a command are the words of its help that begin with a dash.
 */
#include "cmd/guess.h"

#include "cmd/command.h"
#include "collect/diagnose.h"
#include "export/export.h"
#include "query/near.h"
#include "tool/file.h"

#include <stdio.h>
#include <string.h>

enum { GUESS_MOST = 3, GUESS_WORD = 40 };

/* The nearest words; more than GUESS_MOST that are equally near help nobody. */
struct guess {
    int distance;
    size_t count;
    char words[GUESS_MOST][GUESS_WORD];
};

static void guess_add(struct guess *g, const char *word, int distance)
{
    if (distance < 0 || (g->count > 0 && distance > g->distance))
        return;
    if (distance < g->distance)
        g->count = 0;
    g->distance = distance;
    for (size_t i = 0; i < g->count && i < GUESS_MOST; i++) {
        if (strcmp(g->words[i], word) == 0)
            return;
    }
    if (g->count < GUESS_MOST)
        snprintf(g->words[g->count], GUESS_WORD, "%s", word);
    g->count++;
}

/* "; did you mean A or B?", or what there is to say instead. */
static void guess_write(const struct guess *g, const char *otherwise, char *text, size_t size)
{
    if (g->count == 0 || g->count > GUESS_MOST) {
        snprintf(text, size, "%s", otherwise);
        return;
    }
    size_t length = (size_t)snprintf(text, size, "; did you mean ");
    for (size_t i = 0; i < g->count; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i == 0 ? "" : " or ", g->words[i]);
    snprintf(text + length, size - length, "?");
}

enum { GUESS_TEXT = (GUESS_WORD + 4) * GUESS_MOST + 60 };

/* ------------------------------------------------------------------- commands */

/* Words for what has another name here; operand: what stands behind it where nothing is given. */
static const struct guess_wish {
    const char *word, *command, *operand;
} guess_wishes[] = {
    {"view", "report", "FILE"},    {"print", "report", "FILE"},   {"show", "report", "FILE"},
    {"analyze", "report", "FILE"}, {"analyse", "report", "FILE"}, {"convert", "export -f FORMAT", "FILE"},
    {"run", "record", "PROGRAM"},
};

static bool guess_is_recording(const char *path)
{
    static const char magic[] = "HEAPWAKE";
    char head[sizeof magic - 1];
    struct err err;
    uint64_t size;
    size_t got = 0, length = strlen(path);
    int fd;
    err_init(&err);
    if (length > 5 && strcmp(path + length - 5, ".wake") == 0)
        return true;
    if (file_open(&fd, &size, path, &err) != 0)
        return false;
    bool fine = file_read_at(fd, head, sizeof head, 0, &got) == 0 && got == sizeof head;
    file_close(fd);
    return fine && memcmp(head, magic, sizeof head) == 0;
}

static const struct guess_wish *guess_find_wish(const char *word)
{
    for (size_t i = 0; i < sizeof guess_wishes / sizeof *guess_wishes; i++) {
        if (strcmp(word, guess_wishes[i].word) == 0)
            return &guess_wishes[i];
    }
    return NULL;
}

int guess_command(const char *word, const char *operand)
{
    struct guess g = {0};
    char text[GUESS_TEXT];
    const struct guess_wish *wish = guess_find_wish(word);
    bool has_recording = operand != NULL && guess_is_recording(operand);
    if (guess_is_recording(word))
        return command_misused("There is no command '%s'; to read it: heapwake report %s", word, word);
    if (wish != NULL)
        return command_misused("There is no command '%s', but there is one for that: heapwake %s %s", word,
                               wish->command, operand != NULL ? operand : wish->operand);
    if (export_find(word) != NULL && (has_recording || !diagnose_has_program(word)))
        return command_misused("There is no command '%s', but a format: heapwake export -f %s %s", word, word,
                               operand != NULL ? operand : "FILE");
    if (diagnose_has_program(word))
        return command_misused("There is no command '%s'; to record it: heapwake record %s", word, word);
    for (const struct command *c = command_list; c->name != NULL; c++) {
        if (!c->internal)
            guess_add(&g, c->name, near_find(word, c->name));
    }
    guess_write(&g, "; 'heapwake help' lists those there are.", text, sizeof text);
    return command_misused("There is no command '%s'%s", word, text);
}

/* -------------------------------------------------------------------- options */

static const char *guess_skip_dashes(const char *word)
{
    return word + strspn(word, "-");
}

/* The next option in a help text; what is behind it, or NULL. */
static const char *guess_next(const char *help, char option[GUESS_WORD])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    for (const char *at = strchr(help, '-'); at != NULL; at = strchr(at + 1, '-')) {
        size_t length = strspn(at, letters);
        bool begins = at > help && strchr(" [\n", at[-1]) != NULL;
        if (begins && length < GUESS_WORD && strspn(at, "-") < length) {
            memcpy(option, at, length);
            option[length] = '\0';
            return at + length;
        }
    }
    return NULL;
}

int guess_option(const char *command, const char *given, struct err *err)
{
    struct guess g = {0};
    char option[GUESS_WORD], asked[GUESS_WORD], text[GUESS_TEXT], otherwise[GUESS_WORD * 2] = ".";
    const struct command *c = command_find(command);
    size_t length = strcspn(given, "=");
    snprintf(asked, sizeof asked, "%.*s", (int)(length < sizeof asked ? length : sizeof asked), given);
    for (const char *at = c->help; (at = guess_next(at, option)) != NULL;) {
        guess_add(&g, option, near_find(guess_skip_dashes(asked), guess_skip_dashes(option)));
        snprintf(otherwise, sizeof otherwise, "; 'heapwake help %s' lists them.", command);
    }
    guess_write(&g, otherwise, text, sizeof text);
    return err_set(err, ERR_USAGE, "'heapwake %s' has no option '%s'%s", command, given, text);
}

int guess_option_say(const char *command, const char *given)
{
    struct err err;
    err_init(&err);
    (void)guess_option(command, given, &err);
    return command_misused("%s", err.text);
}
