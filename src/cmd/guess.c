/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * guess: see guess.h.
 */
#include "cmd/guess.h"

#include "cmd/command.h"
#include "collect/diagnose.h"
#include "engine/near.h"
#include "export/export.h"
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
    for (const struct command *const *c = command_list; *c != NULL; c++) {
        if (!(*c)->is_internal)
            guess_add(&g, (*c)->name, near_find(word, (*c)->name));
    }
    guess_write(&g, "; 'heapwake help' lists those there are.", text, sizeof text);
    return command_misused("There is no command '%s'%s", word, text);
}

/* -------------------------------------------------------------------- options */

static const char *guess_skip_dashes(const char *word)
{
    return word + strspn(word, "-");
}

/* Options of a table against what was given. */
struct guess_search {
    struct guess guess;
    char asked[GUESS_WORD];
    bool has_options;
};

static bool guess_add_names(void *of, const struct option *o)
{
    struct guess_search *g = of;
    char name[GUESS_WORD];
    for (const char *names = o->names; names != NULL && options_next_name(&names, name, sizeof name);) {
        guess_add(&g->guess, name, near_find(guess_skip_dashes(g->asked), guess_skip_dashes(name)));
        g->has_options = true;
    }
    return false;
}

int guess_option(const struct command *c, const char *given, struct err *err)
{
    struct guess_search g = {0};
    char text[GUESS_TEXT], otherwise[GUESS_WORD * 2] = ".";
    size_t length = strcspn(given, "=");
    snprintf(g.asked, sizeof g.asked, "%.*s", (int)(length < sizeof g.asked ? length : sizeof g.asked),
             given);
    (void)options_visit(c->options, guess_add_names, &g);
    if (g.has_options)
        snprintf(otherwise, sizeof otherwise, "; 'heapwake help %s' lists them.", c->name);
    guess_write(&g.guess, otherwise, text, sizeof text);
    return err_set(err, ERR_USAGE, "'heapwake %s' has no option '%s'%s", c->name, given, text);
}
