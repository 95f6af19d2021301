/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * progress: see progress.h.
 */
#include "cmd/progress.h"

#include "present/safe.h"
#include "present/units.h"
#include "tool/file.h"
#include "tool/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_PATIENCE_NS UINT64_C(1000000000)
#define PROGRESS_STEP_NS UINT64_C(100000000)

enum { PROGRESS_WIDTH = 24 };

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

static void progress_draw(const char *what, uint64_t done, uint64_t total)
{
    struct strbuf line;
    char a[UNITS_MAX];
    strbuf_init(&line);
    strbuf_add_text(&line, "\r\033[K");
    safe_add(&line, what, strnlen(what, 60));
    if (total != 0) {
        double share = (double)(done < total ? done : total) / (double)total;
        unsigned filled = (unsigned)(share * PROGRESS_WIDTH);
        strbuf_add_text(&line, " [");
        for (unsigned i = 0; i < PROGRESS_WIDTH; i++)
            strbuf_add_char(&line, i < filled ? '#' : '.');
        strbuf_addf(&line, "] %3u %%", (unsigned)(share * 100));
    } else if (done != 0) {
        strbuf_addf(&line, " %s", units_count(a, done));
    }
    (void)file_write_all(STDERR_FILENO, strbuf_get(&line), line.length, NULL);
    strbuf_release(&line);
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
