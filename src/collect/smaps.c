/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * smaps: see smaps.h.
 */
#include "collect/smaps.h"

#include "tool/mapline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SMAPS_BUFFER = 64 << 10 };

#define SMAPS_KERNEL (UINT64_C(1) << 63) /* addresses from here on are not the program's */

struct smaps {
    smaps_visit_fn *visit;
    void *of;
    struct wake_usage range; /* that lines are about */
    bool has_range;
    uint64_t last; /* end of the range before */
    char name[SMAPS_NAME_MAX + 1];
};

static void smaps_init(struct smaps *s, smaps_visit_fn *visit, void *of)
{
    s->visit = visit;
    s->of = of;
    s->has_range = false;
    s->last = 0;
}

static uint64_t smaps_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* After the last line. */
static bool smaps_finish(struct smaps *s)
{
    struct wake_usage *u = &s->range;
    if (!s->has_range)
        return true;
    s->has_range = false;
    if (u->start < s->last || u->start >= u->end || u->end > SMAPS_KERNEL)
        return true;
    s->last = u->end;
    uint64_t room = (u->end - u->start) & ~UINT64_C(1023);
    u->rss_bytes = smaps_least(u->rss_bytes, room);
    u->anonymous_bytes = smaps_least(u->anonymous_bytes, u->rss_bytes);
    u->swap_bytes = smaps_least(u->swap_bytes, room);
    return s->visit(s->of, u);
}

static bool smaps_begin(struct smaps *s, const char *line, size_t length)
{
    struct mapline m;
    if (!smaps_finish(s) || !mapline_parse(&m, line, length))
        return false;
    size_t name = m.path_length < SMAPS_NAME_MAX ? m.path_length : SMAPS_NAME_MAX;
    memcpy(s->name, m.path, name);
    s->name[name] = '\0';
    mapline_undo_escapes(s->name);
    s->range =
        (struct wake_usage){.start = m.start, .end = m.end, .rights = (uint8_t)m.rights, .name = s->name};
    s->has_range = true;
    return true;
}

/* "Rss:                  72 kB": the bytes, if the line begins with that word. */
static bool smaps_figure(const char *line, size_t length, const char *word, uint64_t *bytes)
{
    size_t at = strlen(word);
    uint64_t kib = 0;
    if (length <= at || memcmp(line, word, at) != 0)
        return false;
    while (at < length && line[at] == ' ')
        at++;
    for (; at < length && line[at] >= '0' && line[at] <= '9' && kib < UINT64_C(1) << 50; at++)
        kib = kib * 10 + (uint64_t)(line[at] - '0');
    *bytes = kib * 1024;
    return true;
}

/* A line without its end.  False: it is none of smaps, or no more are wanted. */
static bool smaps_add_line(struct smaps *s, const char *line, size_t length)
{
    if (!mapline_is_detail(line, length))
        return smaps_begin(s, line, length);
    if (!s->has_range)
        return length == 0;
    if (!smaps_figure(line, length, "Rss:", &s->range.rss_bytes) &&
        !smaps_figure(line, length, "Anonymous:", &s->range.anonymous_bytes))
        (void)smaps_figure(line, length, "Swap:", &s->range.swap_bytes);
    return true;
}

/* The whole lines of a text; *used: where the rest begins. */
static bool smaps_add_lines(struct smaps *s, const char *text, size_t length, size_t *used)
{
    const char *newline;
    size_t at = 0;
    bool fine = true;
    while (fine && (newline = memchr(text + at, '\n', length - at)) != NULL) {
        size_t size = (size_t)(newline - text) - at;
        fine = smaps_add_line(s, text + at, size);
        at += size + 1;
    }
    *used = at;
    return fine;
}

bool smaps_parse(const char *text, size_t length, smaps_visit_fn *visit, void *of)
{
    struct smaps s;
    size_t used;
    smaps_init(&s, visit, of);
    return smaps_add_lines(&s, text, length, &used) &&
           (used == length || smaps_add_line(&s, text + used, length - used)) && smaps_finish(&s);
}

bool smaps_read(uint32_t pid, smaps_visit_fn *visit, void *of)
{
    static char buffer[SMAPS_BUFFER];
    static struct smaps s;
    size_t filled = 0;
    ssize_t got;
    bool fine = true;
    snprintf(buffer, sizeof buffer, "/proc/%u/smaps", pid);
    int fd = open(buffer, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    smaps_init(&s, visit, of);
    do {
        got = read(fd, buffer + filled, sizeof buffer - filled);
        if (got <= 0)
            continue;
        size_t used;
        filled += (size_t)got;
        fine = smaps_add_lines(&s, buffer, filled, &used) && (used != 0 || filled < sizeof buffer);
        filled -= used;
        memmove(buffer, buffer + used, filled);
    } while (fine && (got > 0 || (got < 0 && errno == EINTR)));
    close(fd);
    return fine && got == 0 && filled == 0 && smaps_finish(&s);
}
