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

static bool logging_is_level(const char *level)
{
    static const char *const levels[] = {"trace", "debug", "info", "warn", "error"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(level, levels[i]) == 0)
            return true;
    }
    return false;
}

void logging_say(void *of, const char *sentence)
{
    const struct logging *l = of;
    struct strbuf line;
    if (l->fd < 0)
        return;
    strbuf_init(&line);
    strbuf_add_text(&line, "heapwake: ");
    safe_add_text(&line, sentence);
    strbuf_add_char(&line, '\n');
    ssize_t done = write(l->fd, strbuf_get(&line), line.length);
    (void)done; /* there is nowhere else to say it */
    strbuf_release(&line);
}

void logging_open(struct logging *l, const char *level, const char *file, int fallback)
{
    struct strbuf text;
    strbuf_init(&text);
    *l = (struct logging){fallback, false};
    if (file != NULL && file[0] != '\0') {
        int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
        if (fd >= 0) {
            *l = (struct logging){fd, true};
        } else {
            strbuf_addf(&text, "HEAPWAKE_LOGFILE names '%s', which cannot be written: %s.", file,
                        strerror(errno));
            logging_say(l, strbuf_get(&text));
        }
    }
    if (level != NULL && !logging_is_level(level)) {
        strbuf_clear(&text);
        strbuf_addf(&text,
                    "HEAPWAKE_LOG is '%s', which is none of trace, debug, info, warn, error; warn is used.",
                    level);
        logging_say(l, strbuf_get(&text));
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
