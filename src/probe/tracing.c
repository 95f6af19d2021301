/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tracing: see tracing.h. Built only where traces are wanted. One line is one write,
 * so that threads do not mix.
 */
#include "probe/tracing.h"

#include "probe/environment.h"
#include "probe/life.h"
#include "probe/sys.h"

#include <stddef.h>

enum { TRACE_LINE = 256 };

static const char *const tracing_names[TRACE_CLASSES] = {
    [TRACE_LIFE] = "life", [TRACE_SHARE] = "share", [TRACE_HOOKS] = "hooks", [TRACE_UNWIND] = "unwind"};

uint8_t tracing_levels[TRACE_CLASSES];

/* Does the text begin with name and a colon? Returns what follows, or NULL. */
static const char *tracing_match(const char *text, const char *name)
{
    while (*name != '\0' && *text == *name) {
        text++;
        name++;
    }
    return *name == '\0' && *text == ':' ? text + 1 : NULL;
}

void tracing_init(void)
{
    const char *text = environment_find("HEAPWAKE_TRACE");
    while (text != NULL && *text != '\0') {
        for (unsigned i = 0; i < TRACE_CLASSES; i++) {
            const char *level = tracing_match(text, tracing_names[i]);
            if (level != NULL && *level >= '0' && *level <= '9')
                tracing_levels[i] = (uint8_t)(*level - '0');
        }
        while (*text != '\0' && *text != ',')
            text++;
        text += *text == ',';
    }
}

struct tracing_line {
    char text[TRACE_LINE];
    size_t length;
};

static void tracing_put(struct tracing_line *l, char c)
{
    if (l->length < TRACE_LINE - 1)
        l->text[l->length++] = c;
}

static void tracing_put_text(struct tracing_line *l, const char *text)
{
    for (; *text != '\0'; text++)
        tracing_put(l, *text);
}

static void tracing_put_number(struct tracing_line *l, uint64_t value, unsigned base)
{
    char digits[20];
    unsigned n = 0;
    do {
        digits[n++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    if (base == 16)
        tracing_put_text(l, "0x");
    while (n > 0)
        tracing_put(l, digits[--n]);
}

void tracing_say(enum tracing_class class, const char *format, uint64_t a, uint64_t b, uint64_t c)
{
    struct tracing_line l = {.length = 0};
    const uint64_t values[] = {a, b, c};
    unsigned next = 0;
    if (life_sandbox)
        return;
    tracing_put_text(&l, "heapwake ");
    tracing_put_number(&l, life.pid, 10);
    tracing_put(&l, ' ');
    tracing_put_text(&l, tracing_names[class]);
    tracing_put_text(&l, ": ");
    for (; *format != '\0'; format++) {
        if (*format != '%' || next == 3) {
            tracing_put(&l, *format);
            continue;
        }
        tracing_put_number(&l, values[next++], *++format == 'x' ? 16 : 10);
    }
    l.text[l.length++] = '\n';
    SYS_CALL(SYS_write, 2, l.text, l.length, 0, 0, 0);
}
