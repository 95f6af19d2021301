/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * progress: see progress.h.
 */
#include "cmd/progress.h"

#include "present/safe.h"
#include "present/units.h"
#include "present/width.h"
#include "tool/file.h"
#include "tool/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_PATIENCE_NS UINT64_C(1000000000)
#define PROGRESS_STEP_NS UINT64_C(100000000)

enum {
    PROGRESS_COLUMNS = 80, /* of a terminal that does not say how many it has */
    PROGRESS_TEXT_MAX = 60,
    PROGRESS_WIDTH = 24, /* of the bar */
    PROGRESS_WIDTH_MIN = 4,
    PROGRESS_FRAME = 3, /* around it */
};

static uint64_t progress_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void progress_begin(struct progress *p)
{
    const char *terminal = getenv("TERM");
    *p = (struct progress){.start_ns = progress_now()};
    p->is_wanted = isatty(STDERR_FILENO) == 1 && (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

static size_t progress_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : PROGRESS_COLUMNS;
}

static void progress_add_bar(struct strbuf *line, size_t width, double share)
{
    size_t filled = (size_t)(share * (double)width);
    strbuf_add_text(line, " [");
    for (size_t i = 0; i < width; i++)
        strbuf_add_char(line, i < filled ? '#' : '.');
    strbuf_add_char(line, ']');
}

/* Never as wide as the terminal: what has gone on in the next row could not be taken away. Where there is little
 * room the bar becomes shorter, then it goes, then what is done is cut. */
static void progress_draw(const char *what, uint64_t done, uint64_t total)
{
    struct strbuf line, text;
    char a[UNITS_MAX], figure[UNITS_MAX + 1] = "";
    double share = total == 0 ? 0 : (double)(done < total ? done : total) / (double)total;
    strbuf_init(&line);
    strbuf_init(&text);
    safe_add(&text, what, strnlen(what, PROGRESS_TEXT_MAX));
    if (total != 0)
        snprintf(figure, sizeof figure, " %3u %%", (unsigned)(share * 100));
    else if (done != 0)
        snprintf(figure, sizeof figure, " %s", units_count(a, done));
    size_t room = progress_columns() - 1;
    if (room < strlen(figure))
        figure[0] = '\0';
    room -= strlen(figure);
    strbuf_add_text(&line, "\r\033[K");
    size_t taken = width_add(&line, strbuf_get(&text), room, false);
    room = room > taken + PROGRESS_FRAME ? room - taken - PROGRESS_FRAME : 0;
    if (total != 0 && room >= PROGRESS_WIDTH_MIN)
        progress_add_bar(&line, room < PROGRESS_WIDTH ? room : PROGRESS_WIDTH, share);
    strbuf_add_text(&line, figure);
    (void)file_write_all(STDERR_FILENO, strbuf_get(&line), line.length, NULL);
    strbuf_release(&line);
    strbuf_release(&text);
}

void progress_update(struct progress *p, const char *what, uint64_t done, uint64_t total)
{
    if (!p->is_wanted)
        return;
    uint64_t now = progress_now();
    if (now - p->start_ns < PROGRESS_PATIENCE_NS || now - p->shown_ns < PROGRESS_STEP_NS)
        return;
    p->shown_ns = now;
    p->is_shown = true;
    progress_draw(what, done, total);
}

static void progress_read(void *of, uint64_t bytes)
{
    struct progress *p = of;
    progress_update(p, p->what, bytes, p->total);
}

void progress_watch(struct progress *p, struct wake_reader *r, const char *what, unsigned times)
{
    p->what = what;
    p->total = times * wake_reader_summary(r)->file_size;
    wake_reader_watch(r, progress_read, p);
}

void progress_clear(struct progress *p)
{
    if (p->is_shown)
        (void)file_write_all(STDERR_FILENO, "\r\033[K", 4, NULL);
    p->is_shown = false;
}

void progress_end(struct progress *p)
{
    progress_clear(p);
    p->is_wanted = false;
}
