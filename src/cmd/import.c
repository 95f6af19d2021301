/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * import: makes a recording of a file that another tool wrote.  The recording
 * gets its name when it is whole.
 */
#include "import/import.h"
#include "cmd/command.h"
#include "cmd/facts.h"
#include "cmd/finish.h"
#include "cmd/guess.h"
#include "cmd/progress.h"
#include "cmd/recording_file.h"
#include "present/units.h"
#include "query/quantity.h"

#include <string.h>

struct import_options {
    struct import_request request;
    const char *output; /* NULL: made of the input's name */
    bool symbols, quiet;
    struct finish finish;
};

static int import_list_formats(const char *wrong)
{
    struct strbuf names;
    strbuf_init(&names);
    for (const struct import_format *f = import_list; f->name != NULL; f++)
        strbuf_addf(&names, "%s%s", f == import_list ? "" : ", ", f->name);
    int code = command_misused("There is no format '%s'; there are %s.", wrong, strbuf_get(&names));
    strbuf_release(&names);
    return code;
}

static int import_parse(struct import_options *o, int argc, char **argv)
{
    const char *value;
    for (int i = 1; i < argc; i++) {
        if (command_option(argv, &i, "-f", &value) || command_option(argv, &i, "--format", &value)) {
            o->request.format = import_find(value);
            if (o->request.format == NULL)
                return import_list_formats(value);
        } else if (command_option(argv, &i, "-o", &o->output) ||
                   command_option(argv, &i, "--output", &o->output)) {
            continue;
        } else if (command_option(argv, &i, "--symbols", &value)) {
            if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
                return command_misused("--symbols takes yes or no, not '%s'.", value);
            o->symbols = value[0] == 'y';
        } else if (command_option(argv, &i, "--sysroot", &o->finish.naming.sysroot) ||
                   command_option(argv, &i, "--debug-path", &o->finish.naming.debug_path)) {
            continue;
        } else if (command_option(argv, &i, "--max-blocks", &value)) {
            if (!quantity_count(value, &o->request.most_blocks) || o->request.most_blocks == 0)
                return command_misused("--max-blocks takes a number above 0, not '%s'.", value);
        } else if (command_option(argv, &i, "-q", NULL) || command_option(argv, &i, "--quiet", NULL)) {
            o->quiet = true;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            return guess_option_say("import", argv[i]);
        } else if (o->request.input != NULL) {
            return command_misused("'heapwake import' takes one file.");
        } else {
            o->request.input = argv[i];
        }
    }
    if (o->request.input == NULL)
        return command_misused("No file given: heapwake import [-f FORMAT] [-o FILE] FILE");
    return EXIT_DONE;
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
    struct facts f;
    int code = wake_reader_open(&r, path, err);
    if (code != 0)
        return code;
    facts_gather(&f, r);
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
    int code = finish_file(&o->finish, n, path, err);
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
        (void)err_set(&err, code, "There is no memory for the import.");
    else if ((code = command_spare(o->request.input, strbuf_get(&name), &err)) == 0)
        code = import_to(o, strbuf_get(&name), &err);
    if (code != 0)
        command_say("%s", err.text);
    strbuf_release(&name);
    return code == 0 ? EXIT_DONE : EXIT_FAILED;
}

int command_import(int argc, char **argv)
{
    struct import_options o = {
        .request = {.most_blocks = IMPORT_BLOCKS, .note = import_note, .watch = import_watch},
        .symbols = true,
        .finish = {.naming = {.again = true}, .names = true, .say = import_say},
    };
    int status = import_parse(&o, argc, argv);
    return status == EXIT_DONE ? import_run(&o) : status;
}
