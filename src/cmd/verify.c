/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * verify: checks a recording against itself.
 *
 *  1. Every byte: checksums, chunks without gaps, events that can be decoded.
 *  2. For each address alloc and free alternate; a free names a live block.
 *  3. Times never go back; stacks and threads that events name are there.
 *  4. Totals, peak and live blocks, made anew from the events, equal those that
 *     the recorder wrote.
 *  5. Made = recorded + culled + beyond the size of the file + lost: what is missing has been counted.
 */
#include "cmd/command.h"
#include "cmd/progress.h"
#include "cmd/recording_file.h"
#include "present/caveat_text.h"
#include "present/safe.h"
#include "present/units.h"
#include "session/audit.h"
#include "session/caveats.h"

#include <stdio.h>
#include <string.h>

enum { VERIFY_READINGS = 3 }; /* bytes, events, accounts */

/* What is off with the file is said first, then what follows from it for its accounts. */
struct verify {
    uint64_t problems;
    struct progress progress;
    struct strbuf of_recording, of_processes; /* sentences, a NUL behind each */
    struct strbuf *at;                        /* where what the audit finds goes */
};

static void verify_problem(struct verify *v, const char *sentence)
{
    v->problems++;
    command_say("%s", sentence);
}

static void verify_note(void *of, const char *sentence)
{
    struct verify *v = of;
    strbuf_add(v->at, sentence, strlen(sentence) + 1);
    if (v->at->failed) { /* better in any order than not at all */
        progress_clear(&v->progress);
        verify_problem(v, sentence);
    }
}

static void verify_say(struct verify *v, const struct wake_reader *r)
{
    for (size_t i = 0; i < wake_reader_damage_count(r); i++)
        verify_problem(v, wake_reader_damage(r, i)->text);
    const struct strbuf *both[] = {&v->of_recording, &v->of_processes};
    for (size_t i = 0; i < 2; i++) {
        const char *text = strbuf_get(both[i]);
        for (size_t at = 0; at < both[i]->length; at += strlen(text + at) + 1)
            verify_problem(v, text + at);
    }
}

/* What the recording says of itself: whoever checks it wants to know what it lacks. */
static void verify_add_notes(struct strbuf *out, const struct wake_reader *r)
{
    for (size_t i = 0; i < wake_reader_note_count(r); i++) {
        strbuf_add_text(out, "note: ");
        safe_add_text(out, wake_reader_note(r, i));
        strbuf_add_char(out, '\n');
    }
}

/* One file of a series can be read alone; of several the last must be there. */
static void verify_last_part(struct verify *v, const struct wake_summary *s)
{
    char text[64];
    if (!s->goes_on || s->part == s->last_part)
        return;
    snprintf(text, sizeof text, "Part %u of the series is not there.", s->last_part + 1);
    verify_note(v, text);
}

static int verify_run(struct wake_reader *r)
{
    struct err err;
    struct audit audit;
    struct verify v = {.at = &v.of_recording};
    err_init(&err);
    strbuf_init(&v.of_recording);
    strbuf_init(&v.of_processes);
    progress_begin(&v.progress);
    progress_watch(&v.progress, r, "Checking", VERIFY_READINGS);
    if (wake_reader_verify(r, &err) != 0)
        verify_note(&v, err.text);
    v.at = &v.of_processes;
    audit_init(&audit, r, verify_note, &v);
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        if (audit_process(&audit, i, &err) != 0)
            verify_note(&v, err.text);
    }
    progress_end(&v.progress);
    v.at = &v.of_recording;
    audit_recording(&audit);
    verify_last_part(&v, wake_reader_summary(r));
    verify_say(&v, r);
    strbuf_release(&v.of_recording);
    strbuf_release(&v.of_processes);
    struct strbuf out;
    strbuf_init(&out);
    if (v.problems == 0) {
        char a[UNITS_MAX], b[UNITS_MAX];
        struct summary facts;
        struct caveats lacks = {0};
        summary_gather(&facts, r);
        caveats_of_summary(&lacks, &facts);
        strbuf_addf(&out, "sound: %s event%s, %s lost", units_count(a, audit.events),
                    units_plural(audit.events), units_count(b, audit.lost));
        if (audit.culled != 0)
            strbuf_addf(&out, ", %s culled", units_count(a, audit.culled));
        if (audit.limited != 0)
            strbuf_addf(&out, ", %s beyond the size of the file", units_count(a, audit.limited));
        if (caveats_find(&lacks, CAVEAT_UNRECORDED) != NULL) {
            strbuf_add_text(&out, "; ");
            caveat_text_add_short(&out, caveats_find(&lacks, CAVEAT_UNRECORDED));
        }
        strbuf_add_char(&out, '\n');
    }
    verify_add_notes(&out, r);
    bool done = command_print(&out);
    strbuf_release(&out);
    return v.problems == 0 && done ? EXIT_DONE : EXIT_FAILED;
}

struct verify_options {
    const char *file;
};

static int verify_take(void *options, char *word, struct err *err)
{
    struct verify_options *o = options;
    return command_take_recording(&command_verify, &o->file, word, err);
}

static int verify_main(const struct command *self, int argc, char **argv)
{
    struct verify_options o = {0};
    struct err err;
    err_init(&err);
    if (options_parse(self, &o, argc, argv, NULL, &err) != 0 ||
        command_needs_recording(self, o.file, &err) != 0)
        return command_misused("%s", err.text);
    struct wake_reader *r = recording_file_open(o.file);
    if (r == NULL)
        return EXIT_FAILED;
    int status = verify_run(r);
    wake_reader_close(r);
    return status;
}

const struct command command_verify = {
    .name = "verify",
    .summary = "check a recording",
    .usage = "FILE",
    .about = "Reads every byte: checksums, order of events for each address, times, totals, losses.",
    .notes = "Exit status 1 and a sentence for each thing that is off.",
    .run = verify_main,
    .take = verify_take,
};
