/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * trace: see trace.h. Built only where traces are wanted. One line is one write,
 * so that threads do not mix.
 */
#include "probe/trace.h"

#include "probe/environment.h"
#include "probe/life.h"
#include "probe/sys.h"

#include <stddef.h>

enum { TRACE_LINE = 256 };

static const char *const trace_names[TRACE_CLASSES] = {
    [TRACE_LIFE] = "life", [TRACE_SHARE] = "share", [TRACE_HOOKS] = "hooks", [TRACE_UNWIND] = "unwind"};

uint8_t trace_levels[TRACE_CLASSES];

/* Does the text begin with name and a colon? Returns what follows, or NULL. */
static const char *trace_match(const char *text, const char *name)
{
    while (*name != '\0' && *text == *name) {
        text++;
        name++;
    }
    return *name == '\0' && *text == ':' ? text + 1 : NULL;
}

void trace_init(void)
{
    const char *text = environment_find("HEAPWAKE_TRACE");
    while (text != NULL && *text != '\0') {
        for (unsigned i = 0; i < TRACE_CLASSES; i++) {
            const char *level = trace_match(text, trace_names[i]);
            if (level != NULL && *level >= '0' && *level <= '9')
                trace_levels[i] = (uint8_t)(*level - '0');
        }
        while (*text != '\0' && *text != ',')
            text++;
        text += *text == ',';
    }
}

struct trace_line {
    char text[TRACE_LINE];
    size_t length;
};

static void trace_put(struct trace_line *l, char c)
{
    if (l->length < TRACE_LINE - 1)
        l->text[l->length++] = c;
}

static void trace_put_text(struct trace_line *l, const char *text)
{
    for (; *text != '\0'; text++)
        trace_put(l, *text);
}

static void trace_put_number(struct trace_line *l, uint64_t value, unsigned base)
{
    char digits[20];
    unsigned n = 0;
    do {
        digits[n++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    if (base == 16)
        trace_put_text(l, "0x");
    while (n > 0)
        trace_put(l, digits[--n]);
}

void trace_say(enum trace_class class, const char *format, uint64_t a, uint64_t b, uint64_t c)
{
    struct trace_line l = {.length = 0};
    const uint64_t values[] = {a, b, c};
    unsigned next = 0;
    if (life_sandbox)
        return;
    trace_put_text(&l, "heapwake ");
    trace_put_number(&l, life.pid, 10);
    trace_put(&l, ' ');
    trace_put_text(&l, trace_names[class]);
    trace_put_text(&l, ": ");
    for (; *format != '\0'; format++) {
        if (*format != '%' || next == 3) {
            trace_put(&l, *format);
            continue;
        }
        trace_put_number(&l, values[next++], *++format == 'x' ? 16 : 10);
    }
    l.text[l.length++] = '\n';
    SYS_CALL(SYS_write, 2, l.text, l.length, 0, 0, 0);
}
