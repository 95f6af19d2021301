/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * logging: see logging.h.
 */
#include "cmd/logging.h"

#include "present/safe.h"
#include "tool/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
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

void logging_say(void *of, enum level level, const char *sentence)
{
    const struct logging *l = of;
    struct strbuf line;
    if (l->fd < 0 || level < l->level)
        return;
    strbuf_init(&line);
    strbuf_add_text(&line, "heapwake: ");
    safe_add_text(&line, sentence);
    strbuf_add_char(&line, '\n');
    ssize_t done = write(l->fd, strbuf_get(&line), line.length);
    (void)done; /* there is nowhere else to say it */
    strbuf_release(&line);
}

bool logging_is_level(const char *text)
{
    return logging_find_level(text) != LEVEL_COUNT;
}

void logging_open(struct logging *l, const char *level, const char *file, int fallback)
{
    struct strbuf text;
    strbuf_init(&text);
    *l = (struct logging){fallback, false, LEVEL_WARN};
    if (file != NULL && file[0] != '\0') {
        int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
        if (fd >= 0) {
            *l = (struct logging){fd, true, LEVEL_WARN};
        } else {
            strbuf_addf(&text, "HEAPWAKE_LOGFILE names '%s', which cannot be written: %s.", file,
                        strerror(errno));
            logging_say(l, LEVEL_WARN, strbuf_get(&text));
        }
    }
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
    if (l->owns)
        close(l->fd);
    l->fd = -1;
    l->owns = false;
}
