/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * closing: see closing.h.
 */
#include "cmd/closing.h"

#include "collect/diagnose.h"
#include "present/units.h"
#include "wire/record.h"

#include <string.h>

static const char *closing_reason(const struct collector_sums *s)
{
    if (s->out_of_memory)
        return "the collector ran out of memory";
    switch (s->stop_reason) {
    case LOST_COLLECTOR:
        return "the collector was not there";
    case LOST_MEMORY:
        return "the system gave the probe no memory";
    case LOST_SANDBOX:
        return "the program's sandbox forbids what the probe needs";
    default:
        break;
    }
    return s->anomalies != 0 ? "records were damaged in the program's memory"
                             : "signal handlers interrupted each other inside the probe";
}

static void closing_files(struct strbuf *out, const struct output *o)
{
    char text[UNITS_MAX];
    if (o->files.count == 1)
        strbuf_addf(out, ", %s %s", o->files.data[0]->name, units_bytes(text, o->bytes));
    else if (o->files.count > 1)
        strbuf_addf(out, ", %s and %zu more %s", o->files.data[0]->name, o->files.count - 1,
                    units_bytes(text, o->bytes));
}

void closing_build(struct strbuf *out, const struct collector *c, const char *program)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    const struct collector_sums *s = &c->sums;
    if (s->processes == 0) {
        struct err why;
        err_set(&why, ERR_SYSTEM, "no program came.");
        if (s->unheard != 0)
            err_set(&why, ERR_MEMORY, "the collector ran out of memory.");
        else if (s->unshared != 0)
            err_set(
                &why, ERR_LIMIT,
                "the program could make no memory to share with the collector; a limit on the size of files "
                "(ulimit -f) or of its memory (ulimit -v) forbids it.");
        else if (program != NULL)
            diagnose_silence(program, &why);
        strbuf_addf(out, "Nothing was recorded: %s", why.text);
        return;
    }
    strbuf_addf(out, "%s event%s, peak %s", units_count(a, s->events), units_plural(s->events),
                units_bytes(b, s->peak_bytes));
    strbuf_addf(out, ", leaked %s in ", units_bytes(a, s->leaked_bytes));
    strbuf_addf(out, "%s block%s", units_count(a, s->leaked_blocks), s->leaked_blocks == 1 ? "" : "s");
    if (s->processes > 1)
        strbuf_addf(out, ", %s processes", units_count(a, s->processes));
    if (s->sample_rate != 0)
        strbuf_addf(out, " (estimates, one block in %s)", units_bytes(a, s->sample_rate));
    closing_files(out, &c->output);
    if (s->unshared != 0)
        strbuf_addf(out, "; %s more process%s could not be recorded for want of memory to share",
                    units_count(a, s->unshared), s->unshared == 1 ? "" : "es");
    if (s->unheard != 0)
        strbuf_addf(out, "; %s more processes are not recorded because the collector ran out of memory",
                    units_count(a, s->unheard));
    if (s->unreached != 0)
        strbuf_addf(out, "; incomplete: %s process%s could not reach the recorder out of a network namespace",
                    units_count(a, s->unreached), s->unreached == 1 ? "" : "es");
    if (s->unfollowed != 0)
        strbuf_addf(out, "; %s more process%s behind a seccomp filter %s not recorded",
                    units_count(a, s->unfollowed), s->unfollowed == 1 ? "" : "es",
                    s->unfollowed == 1 ? "was" : "were");
    if (s->bypassed != 0)
        strbuf_addf(out,
                    "; in %s process%s another malloc stands before heapwake's: what it does not pass on is "
                    "not recorded",
                    units_count(a, s->bypassed), s->bypassed == 1 ? "" : "es");
    if (s->strangers != 0)
        strbuf_addf(out, "; %s process%s went on as %s that cannot be recorded", units_count(a, s->strangers),
                    s->strangers == 1 ? "" : "es", s->strangers == 1 ? "a program" : "programs");
    if (s->lost_events != 0)
        strbuf_addf(out, "; lost %s event%s because %s", units_count(a, s->lost_events),
                    units_plural(s->lost_events), closing_reason(s));
    if (c->output.failure.code != 0) {
        size_t length = strlen(c->output.failure.text);
        bool dot = length > 0 && c->output.failure.text[length - 1] == '.';
        strbuf_addf(out, "; incomplete: %.*s", (int)(dot ? length - 1 : length), c->output.failure.text);
    } else if (s->incomplete) {
        bool left = s->stop_reason == 0 && s->anomalies == 0 && !s->out_of_memory;
        strbuf_addf(out, "; incomplete because %s",
                    left ? "the program was still running" : closing_reason(s));
    }
}
