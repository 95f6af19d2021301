/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * history: every event that touched an address.
 */
#include "analysis/address_history.h"
#include "analysis/trace.h"
#include "cmd/command.h"
#include "cmd/interactive_query.h"
#include "cmd/screen.h"
#include "engine/quantity.h"
#include "present/labels.h"
#include "present/section_history.h"
#include "session/summary.h"

#include <string.h>

struct history_options {
    const char *file;
    uint64_t address;
    struct options_count pid;
    bool has_address, json;
};

static int history_take(void *options, char *word, struct err *err)
{
    struct history_options *o = options;
    if (o->file == NULL) {
        o->file = word;
        return 0;
    }
    if (o->has_address)
        return err_set(err, ERR_USAGE, "One address is looked for; '%s' is another.", word);
    o->has_address = quantity_address(word, &o->address);
    return o->has_address ? 0
                          : err_set(err, ERR_USAGE,
                                    "'%s' is no address: heapwake history FILE ADDRESS, in hexadecimal as "
                                    "0x5581f0.",
                                    word);
}

static int history_read(const struct history_options *o, struct interactive_query *a, struct session *s,
                        struct address_histories *t, struct err *err)
{
    struct wake_reader *r = session_reader(s, 0);
    struct query plain, q;
    bool found = false;
    int code = 0;
    query_init(&plain);
    session_prepare(s, 0, &plain, &a->ask, &q);
    for (size_t i = 0; i < wake_reader_process_count(r) && code == 0; i++) {
        if (o->pid.is_given && wake_reader_process(r, i)->info.pid != o->pid.value)
            continue;
        found = true;
        code = address_histories_read(t, &q, r, (uint32_t)i, o->address, err);
    }
    query_release(&plain);
    if (code == 0 && !found && o->pid.is_given)
        return err_set(err, ERR_ABSENT, "There is no process %llu in the recording.",
                       (unsigned long long)o->pid.value);
    return code;
}

static int history_show(const struct history_options *o, struct section_history *s, struct strbuf *out,
                        struct err *err)
{
    struct page page;
    struct json j;
    struct summary facts;
    interactive_query_warn(s->reader, o->file);
    if (interactive_query_is_interrupted())
        command_say("Interrupted: shown is what had been read by then.");
    if (!o->json) {
        screen_init(&page, out);
        return section_history_text(&page, s, err);
    }
    json_init(&j, out);
    json_open_object(&j, NULL);
    json_add_text(&j, "heapwake", HEAPWAKE_VERSION, strlen(HEAPWAKE_VERSION));
    summary_gather(&facts, s->reader);
    json_add_bool(&j, "complete", summary_is_whole(&facts));
    json_add_bool(&j, "interrupted", interactive_query_is_interrupted());
    int code = section_history_json(&j, s, err);
    json_close_object(&j);
    return code;
}

static int history_run(const struct command *self, int argc, char **argv)
{
    struct history_options o = {0};
    struct interactive_query i = {0};
    struct session *session = NULL;
    struct traces traces;
    struct address_histories touches;
    struct strbuf out;
    struct err err;
    struct wake_reader *r = NULL;
    err_init(&err);
    traces_init(&traces);
    address_histories_init(&touches);
    strbuf_init(&out);
    int code = options_parse(self, &o, argc, argv, NULL, &err);
    if (code == 0 && !o.has_address)
        code =
            err_set(&err, ERR_USAGE, "A recording and an address are needed: heapwake history FILE ADDRESS");
    if (code == 0) {
        interactive_query_begin(&i);
        code = interactive_query_open(&i, &session, &o.file, 1, &err);
        if (code == 0) {
            r = session_reader(session, 0);
            code = session_add_traces(session, &traces, &err);
        }
        if (code == 0)
            code = history_read(&o, &i, session, &touches, &err);
        interactive_query_end(&i);
    }
    struct section_history s = {&traces, &touches, r, o.address, labels_event, labels_detail};
    if (code == 0)
        code = history_show(&o, &s, &out, &err);
    if (code != 0 && err.text[0] != '\0')
        command_say("%s", err.text);
    int status = code == ERR_USAGE ? EXIT_USAGE : code == 0 && command_print(&out) ? EXIT_DONE : EXIT_FAILED;
    strbuf_release(&out);
    address_histories_release(&touches);
    traces_release(&traces);
    session_close(session);
    return status;
}

static const struct option history_options[] = {
    {.names = "--pid",
     .argument = "PID",
     .help = "only this process",
     .set = options_set_count,
     .at = offsetof(struct history_options, pid)},
    {.names = "--json",
     .help = "the same as JSON",
     .set = options_set_flag,
     .at = offsetof(struct history_options, json)},
    {0},
};

const struct command command_history = {
    .name = "history",
    .summary = "say what happened at an address",
    .usage = "[--pid PID] [--json] FILE ADDRESS",
    .about =
        "Every event that touched the address: blocks that covered it, with their stacks, their releases, "
        "releases of nothing known there, and mappings.",
    .options = history_options,
    .run = history_run,
    .take = history_take,
};
