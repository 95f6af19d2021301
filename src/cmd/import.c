/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * import: makes a recording of a file that another tool wrote.  The recording
 * gets its name when it is whole.
 */
#include "import/import.h"
#include "cmd/command.h"
#include "cmd/progress.h"
#include "cmd/recording_file.h"
#include "engine/quantity.h"
#include "present/units.h"
#include "session/summary.h"
#include "symbol/symbolize_file.h"

#include <string.h>

struct import_options {
    struct import_request request;
    const char *output; /* NULL: made of the input's name */
    bool symbols, quiet;
    struct symbolize_file finish;
};

static void import_add_formats(struct strbuf *words)
{
    for (const struct import_format *f = import_list; f->name != NULL; f++)
        strbuf_addf(words, "%s\n", f->name);
}

static int import_set_format(void *to, const struct option *o, const char *value, struct err *err)
{
    const struct import_format **format = to;
    struct strbuf names;
    (void)o;
    *format = import_find(value);
    if (*format != NULL)
        return 0;
    strbuf_init(&names);
    for (const struct import_format *f = import_list; f->name != NULL; f++)
        strbuf_addf(&names, "%s%s", f == import_list ? "" : ", ", f->name);
    int code = err_set(err, ERR_USAGE, "There is no format '%s'; there are %s.", value, strbuf_get(&names));
    strbuf_release(&names);
    return code;
}

static int import_set_most(void *to, const struct option *o, const char *value, struct err *err)
{
    uint64_t *most = to;
    (void)o;
    if (quantity_count(value, most) && *most != 0)
        return 0;
    return err_set(err, ERR_USAGE, "--max-blocks takes a number above 0, not '%s'.", value);
}

static int import_take(void *options, char *word, struct err *err)
{
    struct import_options *o = options;
    if (o->request.input != NULL)
        return err_set(err, ERR_USAGE, "'heapwake import' takes one file.");
    o->request.input = word;
    return 0;
}

/* app.heaptrack.zst becomes app.heaptrack.wake, in the current folder. */
static void import_name(struct strbuf *name, const char *input)
{
    static const char *const endings[] = {".gz", ".zst"};
    const char *slash = strrchr(input, '/');
    strbuf_add_text(name, slash == NULL ? input : slash + 1);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(endings[i]);
        if (name->length > length && strcmp(name->text + name->length - length, endings[i]) == 0)
            strbuf_cut(name, name->length - length);
    }
    strbuf_add_text(name, ".wake");
}

static void import_say(void *of, enum level level, const char *sentence)
{
    (void)of;
    (void)level;
    command_say("%s", sentence);
}

static void import_note(void *of, const char *sentence)
{
    progress_clear(of);
    command_say("%s", sentence);
}

static void import_watch(void *of, uint64_t done, uint64_t total)
{
    progress_update(of, "Importing", done, total);
}

/* One line, as after a recording. */
static int import_close(const char *path, const char *name, struct err *err)
{
    char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX], d[UNITS_MAX];
    struct wake_reader *r;
    struct summary f;
    int code = wake_reader_open(&r, path, err);
    if (code != 0)
        return code;
    summary_gather(&f, r);
    command_say("%s events, peak %s, leaked %s in %s block%s, %s", units_count(a, f.events),
                units_bytes(b, f.peak_bytes), units_bytes(c, f.leaked_bytes), units_count(d, f.leaked_blocks),
                f.leaked_blocks == 1 ? "" : "s", name);
    wake_reader_close(r);
    return 0;
}

/* Names that the source has not told, from the files that code came from. */
static int import_find_names(struct import_options *o, const char *path, struct err *err)
{
    struct naming *n = naming_open(&o->finish.naming, err);
    if (n == NULL)
        return err->code;
    int code = symbolize_file_run(&o->finish, n, path, err);
    naming_close(n);
    return code;
}

static int import_to(struct import_options *o, const char *name, struct err *err)
{
    struct strbuf partial;
    strbuf_init(&partial);
    int code = recording_file_begin(&partial, name, err);
    if (code == 0) {
        struct progress progress;
        progress_begin(&progress);
        o->request.note_of = o->request.watch_of = &progress;
        o->request.output = strbuf_get(&partial);
        o->request.sysroot = o->finish.naming.sysroot;
        code = import_file(&o->request, err);
        progress_end(&progress);
        if (code == 0 && o->symbols && o->request.is_nameless)
            code = import_find_names(o, strbuf_get(&partial), err);
        if (code == 0 && !o->quiet)
            code = import_close(strbuf_get(&partial), name, err);
        code = recording_file_end(&partial, name, code, err);
    }
    strbuf_release(&partial);
    return code;
}

static int import_run(struct import_options *o)
{
    struct strbuf name;
    struct err err;
    int code = ERR_MEMORY;
    err_init(&err);
    command_bear_limits();
    strbuf_init(&name);
    if (o->output != NULL)
        strbuf_add_text(&name, o->output);
    else
        import_name(&name, o->request.input);
    if (name.failed)
        (void)err_no_memory(&err);
    else if ((code = command_spare(o->request.input, strbuf_get(&name), &err)) == 0)
        code = import_to(o, strbuf_get(&name), &err);
    if (code != 0)
        command_say("%s", err.text);
    strbuf_release(&name);
    return code == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int import_main(const struct command *self, int argc, char **argv)
{
    struct import_options o = {
        .request = {.most_blocks = IMPORT_BLOCKS, .note = import_note, .watch = import_watch},
        .symbols = true,
        .finish = {.naming = {.again = true}, .names = true, .say = import_say},
    };
    struct err err;
    err_init(&err);
    if (options_parse(self, &o, argc, argv, NULL, &err) != 0)
        return command_misused("%s", err.text);
    if (o.request.input == NULL)
        return command_misused("No file given: heapwake import [-f FORMAT] [-o FILE] FILE");
    return import_run(&o);
}

static const struct option import_options[] = {
    {.names = "-f, --format",
     .argument = "FORMAT",
     .help = "dhat gperftools heaptrack jemalloc massif memtraq mtrace pprof; default: as the file looks",
     .set = import_set_format,
     .at = offsetof(struct import_options, request.format),
     .add_words = import_add_formats},
    {.names = "-o, --output",
     .argument = "FILE",
     .help = "name of the recording (default: that of the file with .wake)",
     .set = options_set_text,
     .at = offsetof(struct import_options, output)},
    {.names = "--symbols",
     .argument = "yes|no",
     .help = "look up names of functions that the file has no names for (default yes)",
     .set = options_set_answer,
     .at = offsetof(struct import_options, symbols)},
    {.names = "--sysroot",
     .argument = "DIR",
     .help = "look for programs and libraries below DIR",
     .set = options_set_text,
     .at = offsetof(struct import_options, finish.naming.sysroot)},
    {.names = "--debug-path",
     .argument = "A:B",
     .help = "folders with debug files",
     .set = options_set_text,
     .at = offsetof(struct import_options, finish.naming.debug_path)},
    {.names = "--max-blocks",
     .argument = "N",
     .help = "make up so many blocks at most for a source that knows sums only (default 10000000)",
     .set = import_set_most,
     .at = offsetof(struct import_options, request.most_blocks)},
    {.names = "-q, --quiet",
     .help = "no closing line",
     .set = options_set_flag,
     .at = offsetof(struct import_options, quiet)},
    {0},
};

const struct command command_import = {
    .name = "import",
    .summary = "make a recording of a file that another tool wrote",
    .usage = "[OPTION...] FILE",
    .options = import_options,
    .notes =
        "What the file could not tell is said on standard error, and kept in the recording ('heapwake info' "
        "shows it).",
    .operands = OPERANDS_FILES,
    .run = import_main,
    .take = import_take,
};
