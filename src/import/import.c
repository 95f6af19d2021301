/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * import: the table of sources, and what is common to them.
 */
#include "import/import.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { IMPORT_HEAD = 4096 }; /* bytes that a format is told by */

const struct import_format import_list[] = {
    {"heaptrack", "heaptrack", from_heaptrack_is_one, from_heaptrack},
    {"mtrace", "glibc's mtrace", from_mtrace_is_one, from_mtrace},
    {"memtraq", "memtraq", from_memtraq_is_one, from_memtraq},
    {"jemalloc", "a heap profile of jemalloc", from_jemalloc_is_one, from_jemalloc},
    {"gperftools", "a heap profile of gperftools", from_gperftools_is_one, from_gperftools},
    {"massif", "Valgrind's massif", from_massif_is_one, from_massif},
    {"dhat", "DHAT", from_dhat_is_one, from_dhat},
    {"pprof", "a heap profile of pprof", from_pprof_is_one, from_pprof},
    {NULL, NULL, NULL, NULL},
};

const struct import_format *import_find(const char *name)
{
    for (const struct import_format *f = import_list; f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0)
            return f;
    }
    return NULL;
}

static int import_detect(struct feed *feed, const struct import_format **format, struct err *err)
{
    size_t length;
    const char *head = feed_peek(feed, IMPORT_HEAD, &length);
    int code = feed_check(feed, err);
    if (code != 0)
        return code;
    if (length == 0)
        return err_set(err, ERR_INPUT, "%s is empty.", feed_path(feed));
    for (const struct import_format *f = import_list; f->name != NULL; f++) {
        if (f->is_one(head, length)) {
            *format = f;
            return 0;
        }
    }
    if (length >= 8 && memcmp(head, "HEAPWAKE", 8) == 0)
        return err_set(err, ERR_INPUT, "%s is a heapwake recording already.", feed_path(feed));
    return err_set(err, ERR_INPUT, "%s is in no format that can be imported; -f says which it is.",
                   feed_path(feed));
}

const struct import_format *import_guess(const char *path)
{
    struct feed *feed = NULL;
    struct err ignored;
    const struct import_format *format = NULL;
    err_init(&ignored);
    if (feed_open(&feed, path, &ignored) == 0)
        (void)import_detect(feed, &format, &ignored);
    feed_close(feed);
    return format;
}

static int import_run(const struct import_request *q, struct import_job *job, struct err *err)
{
    recast_note(job->recast, "Imported from %s.", q->format->title);
    int code = q->format->run(job, err);
    if (code == 0)
        code = feed_check(job->feed, err);
    if (code == 0 && !recast_has_begun(job->recast))
        code = err_set(err, ERR_INPUT, "%s has nothing about a heap in it.", feed_path(job->feed));
    if (code == 0) {
        recast_end(job->recast);
        code = recast_check(job->recast, err);
    }
    /* The first says where it comes from, which the user knows. */
    for (size_t i = 1; code == 0 && q->note != NULL && i < recast_note_count(job->recast); i++)
        q->note(q->note_of, recast_get_note(job->recast, i));
    return code;
}

int import_file(struct import_request *q, struct err *err)
{
    struct import_job job = {.most_blocks = q->most_blocks, .sysroot = q->sysroot};
    struct err closing;
    err_init(&closing);
    int code = feed_open(&job.feed, q->input, err);
    if (code == 0)
        feed_watch(job.feed, q->watch, q->watch_of);
    if (code == 0 && q->format == NULL)
        code = import_detect(job.feed, &q->format, err);
    if (code == 0)
        code = recast_open(&job.recast, q->output, 0, err);
    if (code == 0) {
        code = import_run(q, &job, err);
        q->is_nameless = job.is_nameless;
        int closed = recast_close(job.recast, &closing);
        if (closed != 0 && (code == 0 || err == NULL || err->text[0] == '\0'))
            code = err_set(err, closed, "%s", closing.text);
        if (code != 0)
            unlink(q->output);
    }
    feed_close(job.feed);
    return code;
}
