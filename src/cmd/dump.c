/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * dump: the events of a recording as text: readable, or tab-separated for
 * other programs.
 *
 * A free shows address and size of the block that it releases; its stack is 0,
 * since frees carry none.
 */
#include "cmd/command.h"
#include "cmd/progress.h"
#include "cmd/recording_file.h"
#include "present/labels.h"
#include "present/safe.h"
#include "store/live.h"
#include "store/names.h"
#include "tool/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DUMP_FLUSH = 256 << 10 };

struct dump {
    struct wake_reader *reader;
    const char *path;
    struct wake_live *live; /* one for each process */
    struct strbuf out;
    bool tsv, stacks;
    struct progress progress;
};

/* One event, gathered from its columns. */
struct dump_event {
    const struct wake_process *process;
    const struct wake_thread *thread; /* NULL: not known */
    uint64_t time_ns, address, size;
    uint64_t usable; /* of an allocation */
    uint32_t stack;
    unsigned event, detail;
    const char *mark;
    const struct wake_pool *pool; /* of a pool block */
};

/* A frame with its names: those that were inlined into it first. */
static void dump_names(struct strbuf *out, const struct name_place *place)
{
    for (uint32_t i = 0; i < place->count; i++) {
        const struct name_frame *f = &place->frames[i];
        strbuf_add_text(out, "        ");
        safe_add_text(out, f->function[0] == '\0' ? "?" : f->function);
        if (f->file[0] != '\0') {
            strbuf_add_char(out, ' ');
            safe_add_text(out, f->file);
            if (f->line != 0)
                strbuf_addf(out, ":%u", f->line);
        }
        strbuf_add_text(out, f->inlined ? " (inlined)\n" : "\n");
    }
}

static void dump_place(struct strbuf *out, const struct wake_process *p, const struct wake_node *n)
{
    strbuf_add_text(out, "        ");
    if (n->module != 0 && n->module <= p->modules.count) {
        safe_add_text(out, wake_process_module_path(p, &p->modules.data[n->module - 1]));
        strbuf_add_char(out, '+');
    }
    strbuf_addf(out, "0x%llx\n", (unsigned long long)wake_process_place(p, n));
}

static void dump_frames(struct dump *d, uint32_t process, uint32_t number)
{
    struct strbuf *out = &d->out;
    const struct wake_process *p = wake_reader_process(d->reader, process);
    const struct wake_stack *s = wake_process_find_stack(p, number);
    if (s == NULL) {
        strbuf_addf(out, "        stack %u is not in the file\n", number);
        return;
    }
    uint32_t node = s->leaf;
    for (uint32_t i = 0; i < s->depth && node != 0 && node < p->nodes.count; i++) {
        const struct wake_node *n = &p->nodes.data[node];
        const struct name_place *name = wake_reader_name(d->reader, process, n);
        if (name != NULL)
            dump_names(out, name);
        else
            dump_place(out, p, n);
        node = n->parent;
    }
    if (s->omitted != 0)
        strbuf_addf(out, "        (%u frames in the middle left out)\n", s->omitted);
    if (s->cut != 0)
        strbuf_addf(out, "        (cut: %s)\n", labels_cut(s->cut));
}

static void dump_tsv_line(struct strbuf *out, const struct dump_event *e)
{
    strbuf_addf(out, "%llu\t%u\t%u\t%s\t0x%llx\t%llu\t%u\t", (unsigned long long)e->time_ns,
                e->process->info.pid, e->thread == NULL ? 0 : e->thread->tid, labels_event(e->event),
                (unsigned long long)e->address, (unsigned long long)e->size, e->stack);
    if (e->mark != NULL || e->pool != NULL)
        safe_add_text(out, e->mark != NULL ? e->mark : e->pool->name);
    else
        strbuf_add_text(out, labels_detail(e->event, e->detail));
    strbuf_addf(out, "\t%llu\n", (unsigned long long)e->usable);
}

static void dump_line(struct strbuf *out, const struct dump_event *e)
{
    strbuf_addf(out, "%12.6f  %u", (double)e->time_ns / 1e9, e->process->info.pid);
    if (e->thread != NULL) {
        strbuf_addf(out, "/%u", e->thread->tid);
        if (e->thread->name[0] != '\0') {
            strbuf_add_text(out, " (");
            safe_add_text(out, e->thread->name);
            strbuf_add_char(out, ')');
        }
    }
    strbuf_addf(out, "  %-6s", labels_event(e->event));
    if (e->event == WAKE_LOST)
        strbuf_addf(out, "  %llu events", (unsigned long long)e->size);
    else if (e->mark == NULL)
        strbuf_addf(out, "  0x%llx  %llu ", (unsigned long long)e->address, (unsigned long long)e->size);
    if (e->event != WAKE_LOST && e->mark == NULL)
        safe_add_text(out, e->pool == NULL ? "bytes" : e->pool->unit);
    if (e->pool != NULL) {
        strbuf_add_text(out, "  ");
        safe_add_text(out, e->pool->name);
    }
    if (e->mark != NULL) {
        strbuf_add_text(out, "  ");
        safe_add_text(out, e->mark);
    } else if (strcmp(labels_detail(e->event, e->detail), "-") != 0) {
        strbuf_addf(out, "  %s", labels_detail(e->event, e->detail));
    }
    if (e->event == WAKE_FREE_UNKNOWN)
        strbuf_add_text(out, "  (block not seen before)");
    if (e->stack != 0)
        strbuf_addf(out, "  stack %u", e->stack);
    strbuf_add_char(out, '\n');
}

static bool dump_gather(struct dump *d, const struct wake_block *b, uint32_t i, struct dump_event *e)
{
    struct wake_live *live = &d->live[b->process];
    const struct wake_process *p = wake_reader_process(d->reader, b->process);
    struct wake_live_block was;
    *e = (struct dump_event){p,
                             wake_process_find_thread(p, b->thread[i]),
                             b->time_ns[i],
                             b->address[i],
                             b->size[i],
                             b->event[i] == WAKE_ALLOC ? b->usable[i] : 0,
                             b->stack[i],
                             b->event[i],
                             b->detail[i],
                             NULL,
                             NULL};
    if (e->event == WAKE_ALLOC)
        return wake_live_add(live, b, i);
    if (e->event == WAKE_FREE && wake_live_take(live, b->number[i], &was)) {
        e->address = was.address;
        e->size = was.size;
    } else if (e->event == WAKE_BRK) {
        e->size = b->usable[i] > b->address[i] ? b->usable[i] - b->address[i] : 0;
        e->address = b->usable[i];
    } else if (e->event == WAKE_MARK) {
        e->mark = b->number[i] < p->marks.count ? p->marks.data[b->number[i]].name : "";
    } else if (e->event == WAKE_POOL_ALLOC || e->event == WAKE_POOL_FREE) {
        e->pool = wake_process_find_pool(p, (uint32_t)b->number[i]);
    }
    return true;
}

static int dump_block(const struct wake_block *b, void *context)
{
    struct dump *d = context;
    for (uint32_t i = 0; i < b->count; i++) {
        struct dump_event e;
        if (!dump_gather(d, b, i, &e)) {
            command_say(ERR_NO_MEMORY);
            return 1;
        }
        if (d->tsv)
            dump_tsv_line(&d->out, &e);
        else
            dump_line(&d->out, &e);
        if (d->stacks && !d->tsv && e.stack != 0)
            dump_frames(d, b->process, e.stack);
    }
    return d->out.length >= DUMP_FLUSH && !command_print(&d->out) ? 1 : 0;
}

static int dump_run(struct dump *d)
{
    struct err err;
    err_init(&err);
    size_t processes = wake_reader_process_count(d->reader);
    d->live = memory_new_zeroed(processes + 1, sizeof *d->live);
    if (d->live == NULL) {
        command_say(ERR_NO_MEMORY);
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < processes; i++)
        wake_live_init(&d->live[i]);
    if (d->tsv)
        strbuf_add_text(&d->out, "time_ns\tpid\ttid\tevent\taddress\tsize\tstack\tkind\tusable\n");
    progress_begin(&d->progress);
    if (isatty(STDOUT_FILENO) == 0) /* there the events themselves show it */
        progress_watch(&d->progress, d->reader, "Reading events", 1);
    int code = 0;
    for (size_t i = 0; i < processes && code == 0; i++)
        code = wake_reader_visit(d->reader, i, 0, UINT64_MAX, dump_block, d, &err);
    progress_end(&d->progress);
    if (code < 0)
        command_say("%s", err.text);
    if (code == 0 && !command_print(&d->out))
        code = 1;
    for (size_t i = 0; i < wake_reader_damage_count(d->reader); i++)
        command_say("%s: %s", d->path, wake_reader_damage(d->reader, i)->text);
    for (size_t i = 0; i < processes; i++)
        wake_live_release(&d->live[i]);
    free(d->live);
    return code == 0 && wake_reader_damage_count(d->reader) == 0 ? EXIT_DONE : EXIT_FAILED;
}

struct dump_options {
    const char *file;
    bool tsv, stacks;
};

static int dump_take(void *options, char *word, struct err *err)
{
    struct dump_options *o = options;
    return command_take_recording(&command_dump, &o->file, word, err);
}

static int dump_main(const struct command *self, int argc, char **argv)
{
    struct dump_options o = {0};
    struct err err;
    err_init(&err);
    if (options_parse(self, &o, argc, argv, NULL, &err) != 0 ||
        command_needs_recording(self, o.file, &err) != 0)
        return command_misused("%s", err.text);
    if (o.tsv && o.stacks)
        return command_misused("--tsv and --stacks are mutually exclusive.");
    struct dump d = {.path = o.file, .tsv = o.tsv, .stacks = o.stacks, .reader = recording_file_open(o.file)};
    if (d.reader == NULL)
        return EXIT_FAILED;
    strbuf_init(&d.out);
    int status = dump_run(&d);
    strbuf_release(&d.out);
    wake_reader_close(d.reader);
    return status;
}

static const struct option dump_options[] = {
    {.names = "--tsv",
     .help = "one event a line: time_ns pid tid event address size stack kind usable, tab-separated, after a "
             "header "
             "line; a realloc is a free and an alloc",
     .set = options_set_flag,
     .at = offsetof(struct dump_options, tsv)},
    {.names = "--stacks",
     .help = "the stack below each allocation: function and line, or module+offset where they are not known",
     .set = options_set_flag,
     .at = offsetof(struct dump_options, stacks)},
    {0},
};

const struct command command_dump = {
    .name = "dump",
    .summary = "print the events of a recording",
    .usage = "[--tsv | --stacks] FILE",
    .options = dump_options,
    .run = dump_main,
    .take = dump_take,
};
