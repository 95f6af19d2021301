/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * logging: see logging.h.
 */
#include "cmd/logging.h"

#include "present/safe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The level of that name; LEVEL_COUNT: there is none. */
static enum level logging_find_level(const char *name)
{
    static const char *const names[LEVEL_COUNT] = {"trace", "debug", "info", "warn", "error"};
    unsigned i = 0;
    while (i < LEVEL_COUNT && strcmp(name, names[i]) != 0)
        i++;
    return (enum level)i;
}

static void logging_write(const struct logging *l, const struct strbuf *lines)
{
    ssize_t done = l->fd < 0 ? 0 : write(l->fd, strbuf_get(lines), lines->length);
    (void)done; /* there is nowhere else to say it */
}

void logging_say(void *of, enum level level, const char *sentence)
{
    struct logging *l = of;
    struct strbuf line;
    if ((l->fd < 0 && l->pattern == NULL) || level < l->level)
        return;
    strbuf_init(&line);
    strbuf_add_text(&line, "heapwake: ");
    safe_add_text(&line, sentence);
    strbuf_add_char(&line, '\n');
    if (l->pattern != NULL)
        strbuf_add(&l->early, strbuf_get(&line), line.length);
    else
        logging_write(l, &line);
    strbuf_release(&line);
}

bool logging_is_level(const char *text)
{
    return logging_find_level(text) != LEVEL_COUNT;
}

bool logging_wants_traces(void)
{
    const char *text = getenv("HEAPWAKE_TRACE");
    return text != NULL && text[0] != '\0';
}

static void logging_open_file(struct logging *l, const char *file)
{
    struct strbuf text;
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd >= 0) {
        l->fd = fd;
        l->owns = true;
        return;
    }
    strbuf_init(&text);
    strbuf_addf(&text, "HEAPWAKE_LOGFILE names '%s', which cannot be written: %s.", file, strerror(errno));
    logging_say(l, LEVEL_WARN, strbuf_get(&text));
    strbuf_release(&text);
}

void logging_meet(void *of, const struct name_facts *facts)
{
    struct logging *l = of;
    struct strbuf name;
    if (l->pattern == NULL)
        return;
    strbuf_init(&name);
    const char *pattern = l->pattern;
    l->pattern = NULL;
    if (name_expand(&name, pattern, facts, NULL) == 0)
        logging_open_file(l, strbuf_get(&name));
    logging_write(l, &l->early);
    strbuf_clear(&l->early);
    strbuf_release(&name);
}

/* Waits for the first process, if the name does. */
static void logging_name(struct logging *l, const char *file)
{
    struct strbuf text;
    struct err err;
    err_init(&err);
    if (strchr(file, '%') == NULL) {
        logging_open_file(l, file);
    } else if (name_check(file, &err) == 0) {
        l->pattern = file;
    } else {
        strbuf_init(&text);
        strbuf_addf(&text, "HEAPWAKE_LOGFILE: %s", err.text);
        logging_say(l, LEVEL_WARN, strbuf_get(&text));
        strbuf_release(&text);
    }
}

void logging_open(struct logging *l, const char *level, const char *file, int fallback)
{
    struct strbuf text;
    strbuf_init(&text);
    *l = (struct logging){.fd = fallback, .level = LEVEL_WARN};
    strbuf_init(&l->early);
    if (file != NULL && file[0] != '\0')
        logging_name(l, file);
    if (level != NULL && logging_is_level(level)) {
        l->level = logging_find_level(level);
    } else if (level != NULL) {
        strbuf_clear(&text);
        strbuf_addf(&text,
                    "HEAPWAKE_LOG is '%s', which is none of trace, debug, info, warn, error; warn is used.",
                    level);
        logging_say(l, LEVEL_WARN, strbuf_get(&text));
    }
    strbuf_release(&text);
}

void logging_close(struct logging *l)
{
    const struct name_facts nobody = {.exe = l->program == NULL ? "" : l->program,
                                      .pid = (uint32_t)getpid(),
                                      .seconds = (uint64_t)time(NULL)};
    logging_meet(l, &nobody);
    strbuf_release(&l->early);
    if (l->owns)
        close(l->fd);
    l->fd = -1;
    l->owns = false;
}
