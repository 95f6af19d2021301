/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * symbolize: looks up what the addresses of a recording are called and puts
 * the names into it; says for each file that code came from what was found.
 */
#include "cmd/command.h"
#include "cmd/progress.h"
#include "cmd/screen.h"
#include "collect/spool.h"
#include "present/safe.h"
#include "present/units.h"
#include "symbol/symbolize_file.h"
#include "tool/file.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t
    symbolize_interrupts; /* SIGTERM counts twice: it ends the waiting for a server and the search */

static void symbolize_interrupt(int signal)
{
    symbolize_interrupts += signal == SIGTERM ? 2 : 1;
}

static bool symbolize_is_stopped(void *of)
{
    sig_atomic_t *taken = of;
    bool is_asked = symbolize_interrupts > *taken;
    *taken += is_asked;
    return is_asked;
}

static void symbolize_progress(void *of, const char *what, uint64_t done, uint64_t total)
{
    progress_update(of, what, done, total);
}

/* Ctrl-C ends the search, not us. */
static void symbolize_take_signals(void)
{
    struct sigaction interrupt = {.sa_handler = symbolize_interrupt, .sa_flags = SA_RESTART};
    sigaddset(&interrupt.sa_mask, SIGINT);
    sigaddset(&interrupt.sa_mask, SIGTERM);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGTERM, &interrupt, NULL);
    command_bear_limits();
}

/* What the table is made of. */
enum { SYMBOLIZE_LINE = 1 << 16 }; /* columns where nobody counts them */

struct symbolize_table {
    struct strbuf out;
    struct page page;
    const struct naming *naming;
};

/* What was found now: the file that was refused, also where the names of an earlier one stay. */
static const char *symbolize_judge(const struct naming *n, const struct name_image *image, uint32_t number)
{
    const char *note = naming_get_note(n, number);
    if (note != NULL && note[0] != '\0')
        return note;
    return image->remark[0] == '\0' && image->source == NAME_SOURCE_NONE ? "Nobody has looked."
                                                                         : image->remark;
}

static void symbolize_row(struct symbolize_table *t, const struct names *n, const struct naming_want *wants,
                          size_t count)
{
    enum { SYMBOLIZE_INDENT = 4 };
    struct page *page = &t->page;
    char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX];
    size_t named = 0, lines = 0;
    const struct name_image *image = names_get_image(n, wants->image);
    for (size_t i = 0; i < count; i++) {
        const struct name_place *p = names_find(n, wants[i].image, wants[i].place, wants[i].exact);
        named += p != NULL && p->frames[p->count - 1].function[0] != '\0';
        lines += p != NULL && p->frames[0].line != 0;
    }
    page_addf(page, COLOUR_PLAIN, "%10s%10s%10s  ", units_count(a, count), units_count(b, named),
              units_count(c, lines));
    safe_add_text(page->out, image->path);
    page_end_line(page);
    const char *judgement = symbolize_judge(t->naming, image, wants->image);
    if (judgement[0] == '\0')
        return;
    struct strbuf remark;
    strbuf_init(&remark);
    safe_add_text(&remark, judgement);
    page_addf(page, COLOUR_PLAIN, "%*s", SYMBOLIZE_INDENT, "");
    page_add_wrapped(page, COLOUR_PLAIN, strbuf_get(&remark), SYMBOLIZE_INDENT, SYMBOLIZE_INDENT);
    page_end_line(page);
    page->out->failed |= remark.failed;
    strbuf_release(&remark);
}

/* A finish's `show`. */
static void symbolize_show(void *of, struct wake_reader *r)
{
    struct symbolize_table *t = of;
    struct naming_wants wants;
    struct err err;
    if (naming_list(&wants, r, &err) != 0)
        return;
    strbuf_addf(&t->out, "%10s%10s%10s  %s\n", "addresses", "named", "lines", "file");
    for (size_t at = 0, next; at < wants.list.count; at = next) {
        next = naming_next_image(&wants, at);
        symbolize_row(t, wake_reader_names(r), &wants.list.data[at], next - at);
    }
    vec_release(&wants.list);
}

static void symbolize_say(void *of, enum level level, const char *sentence)
{
    (void)level;
    progress_clear(of);
    command_say("%s", sentence);
}

static bool symbolize_is_spool(const char *path)
{
    int fd;
    uint64_t size;
    if (file_open(&fd, &size, path, NULL) != 0)
        return false;
    bool is_one = spool_is_one(fd);
    file_close(fd);
    return is_one;
}

static int symbolize_run(struct symbolize_file *f, const char *path)
{
    struct err err;
    struct symbolize_table table = {0};
    sig_atomic_t taken = 0;
    int code = ERR_INPUT;
    if (symbolize_is_spool(path)) {
        command_say("%s is a spool, which has no room for names.", path);
        return EXIT_FAILED;
    }
    err_init(&err);
    strbuf_init(&table.out);
    screen_init(&table.page, &table.out);
    if (isatty(STDOUT_FILENO) != 1)
        table.page.width = SYMBOLIZE_LINE; /* who looks for a sentence finds it in one line */
    symbolize_take_signals();
    f->show_of = &table;
    struct progress progress;
    progress_begin(&progress);
    f->naming.progress = symbolize_progress;
    f->naming.progress_of = &progress;
    f->naming.is_stopped_of = &taken;
    f->say_of = &progress;
    struct naming *n = naming_open(&f->naming, &err);
    table.naming = n;
    if (n != NULL)
        code = symbolize_file_run(f, n, path, &err);
    progress_end(&progress);
    if (code != 0)
        command_say("%s", err.text);
    else if (!command_print(&table.out))
        code = ERR_IO;
    if (n != NULL && naming_is_stopped(n)) {
        command_say("Interrupted; what had been found by then is in the file.");
        code = ERR_IO;
    } else if (n != NULL && naming_get_remark(n)[0] != '\0')
        command_say("%s", naming_get_remark(n));
    naming_close(n);
    strbuf_release(&table.out);
    return code == 0 ? EXIT_DONE : EXIT_FAILED;
}

struct symbolize_options {
    struct symbolize_file finish;
    const char *file;
};

static int symbolize_take(void *options, char *word, struct err *err)
{
    struct symbolize_options *o = options;
    return command_take_recording(&command_symbolize, &o->file, word, err);
}

static int symbolize_main(const struct command *self, int argc, char **argv)
{
    struct symbolize_options o = {.finish = {.naming = {.again = true, .is_stopped = symbolize_is_stopped},
                                             .names = true,
                                             .show = symbolize_show,
                                             .say = symbolize_say}};
    struct err err;
    err_init(&err);
    if (options_parse(self, &o, argc, argv, NULL, &err) != 0 ||
        command_needs_recording(self, o.file, &err) != 0)
        return command_misused("%s", err.text);
    return symbolize_run(&o.finish, o.file);
}

#define NAMING(member) offsetof(struct symbolize_options, finish.naming.member)

static const struct option symbolize_options[] = {
    {.names = "--sysroot",
     .argument = "DIR",
     .help = "look for the recorded files below DIR",
     .set = options_set_text,
     .at = NAMING(sysroot)},
    {.names = "--debug-path",
     .argument = "A:B",
     .help = "folders with debug files",
     .set = options_set_text,
     .at = NAMING(debug_path)},
    {.names = "--maps",
     .argument = "FILE",
     .help = "a copy of the process's /proc/PID/maps, for addresses in no known file",
     .set = options_set_text,
     .at = NAMING(maps)},
    {.names = "--perf-map",
     .argument = "FILE",
     .help = "names of code that was made at run time (perf-PID.map)",
     .set = options_set_text,
     .at = NAMING(perf_map)},
    {.names = "--debuginfod",
     .help = "ask the servers of DEBUGINFOD_URLS",
     .set = options_set_flag,
     .at = NAMING(debuginfod)},
    {.names = "--embed-binaries",
     .help = "put the program and its libraries into the file too",
     .set = options_set_flag,
     .at = offsetof(struct symbolize_options, finish.embeds)},
    {0},
};

const struct command command_symbolize = {
    .name = "symbolize",
    .summary = "put names of functions into a recording",
    .usage = "[OPTION...] FILE",
    .options = symbolize_options,
    .notes =
        "Says for each file that code came from how many addresses it has, how many of them have a name, "
        "and how many a line. What cannot be found now keeps the names it has.",
    .run = symbolize_main,
    .take = symbolize_take,
};
