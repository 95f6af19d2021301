/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * finish: see finish.h.
 */
#include "cmd/finish.h"

#include "cmd/elf_id.h"
#include "cmd/insides.h"
#include "cmd/progress.h"
#include "collect/timebase.h"
#include "store/annex.h"
#include "symbol/locate.h"
#include "tool/file.h"

#include <stdio.h>
#include <string.h>

#define FINISH_PATIENCE_NS UINT64_C(1500000000) /* before it is said what takes so long */

/* ---------------------------------------------------------------- binaries */

static bool finish_has(struct wake_reader *r, const struct name_image *image)
{
    for (size_t i = 0; i < wake_reader_binary_count(r); i++) {
        const struct wake_binary *b = wake_reader_binary(r, i);
        if (b->is_whole && strcmp(b->path, image->path) == 0 &&
            b->build_id_length == image->build_id_length &&
            (b->build_id_length == 0 || memcmp(b->build_id, image->build_id, b->build_id_length) == 0))
            return true;
    }
    return false;
}

static int finish_embed(const struct finish *f, struct wake_annex *a, const struct name_image *image,
                        struct err *err)
{
    int fd;
    int code = elf_id_open(&fd, f->naming.sysroot, image->path, image->build_id, image->build_id_length, err);
    if (code == 0)
        code = wake_annex_add_binary(a, image, fd, err);
    file_close(fd);
    return code;
}

/* The files of all images that occur in stacks, also of a program that was started as ./program. */
static void finish_embed_all(const struct finish *f, struct wake_annex *a, struct wake_reader *r)
{
    struct naming_wants wants;
    struct err err;
    err_init(&err);
    int code = naming_list(&wants, r, &err);
    for (size_t at = 0; code == 0 && at < wants.list.count; at = naming_next_image(&wants, at)) {
        if (f->naming.is_stopped != NULL && f->naming.is_stopped(f->naming.is_stopped_of)) {
            f->say(f->say_of, LEVEL_WARN,
                   "Interrupted: not all files that code came from are in the recording.");
            break;
        }
        const struct name_image *image = names_get_image(wake_reader_names(r), wants.list.data[at].image);
        if (locate_is_file(image->path, f->naming.sysroot != NULL) && !finish_has(r, image) &&
            finish_embed(f, a, image, &err) != 0)
            f->say(f->say_of, LEVEL_WARN, err.text);
    }
    if (code != 0)
        f->say(f->say_of, LEVEL_WARN, err.text);
    vec_release(&wants.list);
}

/* ------------------------------------------------------------- a recording */

int finish_file(const struct finish *f, struct naming *n, const char *path, struct err *err)
{
    struct wake_reader *r;
    struct wake_annex *a;
    int code = wake_reader_open(&r, path, err);
    if (code != 0)
        return code;
    if (f->names)
        code = naming_resolve(n, r, err);
    if (code == 0 && f->show != NULL)
        f->show(f->show_of, r);
    if (code == 0)
        code = wake_annex_open(&a, path, err);
    if (code == 0) {
        if (f->embeds && !naming_is_stopped(n))
            finish_embed_all(f, a, r);
        if (!naming_is_stopped(n))
            insides_tell(a, r, f->naming.sysroot, f->say, f->say_of);
        wake_annex_add_names(a, wake_reader_names(r));
        code = wake_annex_close(a, err);
    }
    wake_reader_close(r);
    return code;
}

bool finish_wants_names(const char *value)
{
    return value == NULL || strcmp(value, "0") != 0;
}

bool finish_wants_binaries(const char *value)
{
    return value != NULL && strcmp(value, "1") == 0;
}

/* ------------------------------------------------------------- a collector */

struct finish_round {
    struct finish finish;
    const struct collector_options *options;
    struct naming *naming;
    struct launch *launch;
    unsigned asked; /* how often it has been asked to leave that needs no answer any more */
    uint64_t start_ns;
    bool notice;
    struct progress progress;
};

static void finish_progress(void *of, const char *what, uint64_t done, uint64_t total)
{
    progress_update(of, what, done, total);
}

/* A finish's `say`: on the terminal not behind the line of progress. */
static void finish_say(void *of, enum level level, const char *sentence)
{
    struct finish_round *round = of;
    progress_clear(&round->progress);
    round->options->say(round->options->say_of, level, sentence);
}

/* SIGTERM counts twice: it ends the waiting for a server and the search. */
static unsigned finish_count(const struct launch *l)
{
    return 2 * l->terms + l->interrupts;
}

static bool finish_is_stopped(void *of)
{
    struct finish_round *round = of;
    launch_take_signals(round->launch);
    if (round->notice && timebase_now() - round->start_ns > FINISH_PATIENCE_NS) {
        round->notice = false;
        finish_say(round, LEVEL_WARN,
                   "Looking up the names of functions; Ctrl-C leaves the rest to 'heapwake symbolize'.");
    }
    bool is_asked = finish_count(round->launch) > round->asked;
    round->asked += is_asked;
    return is_asked;
}

static void finish_closed(void *of, const char *path)
{
    struct finish_round *round = of;
    struct err err;
    err_init(&err);
    if (round->naming != NULL && !naming_is_stopped(round->naming) &&
        finish_file(&round->finish, round->naming, path, &err) != 0)
        finish_say(round, LEVEL_WARN, err.text);
}

void finish_collector(struct collector *c, bool names, bool embeds, bool notice)
{
    struct err err;
    struct finish_round round = {
        .finish = {.names = names, .embeds = embeds, .say = finish_say},
        .options = &c->options,
        .launch = c->launch,
        .asked = finish_count(c->launch),
        .start_ns = timebase_now(),
        .notice = notice,
    };
    round.finish.say_of = &round;
    round.finish.naming.is_stopped = finish_is_stopped;
    round.finish.naming.is_stopped_of = &round;
    progress_begin(&round.progress);
    if (notice) {
        round.finish.naming.progress = finish_progress;
        round.finish.naming.progress_of = &round.progress;
    }
    err_init(&err);
    /* Whoever asked to leave is not kept waiting. */
    bool is_wanted = (names || embeds) && !c->launch->leave;
    if (is_wanted) {
        round.naming = naming_open(&round.finish.naming, &err);
        if (round.naming == NULL)
            c->options.say(c->options.say_of, LEVEL_WARN, err.text);
    }
    /* Who has sent SIGTERM (mpirun, timeout -k, a batch system) may send SIGKILL next, in the middle of the search. */
    if (c->launch->is_asked)
        output_publish_all(&c->output);
    output_finish(&c->output, is_wanted ? finish_closed : NULL, &round);
    progress_end(&round.progress);
    if (round.naming != NULL && !naming_is_stopped(round.naming) &&
        naming_get_remark(round.naming)[0] != '\0')
        c->options.say(c->options.say_of, LEVEL_WARN, naming_get_remark(round.naming));
    naming_close(round.naming);
}
