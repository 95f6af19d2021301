/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * export_fuzz: recordings that make no sense, through every exporter that
 * needs nothing but the reader (libFuzzer).
 *
 * Input: a .wake file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/export.h"

static void run(struct wake_reader *reader, const struct export_format *format, int fd)
{
    struct traces traces;
    struct query_result result;
    struct sites sites;
    struct query query;
    struct out out;
    struct strbuf remarks;
    struct anonymize veil;
    struct err err;
    uint32_t base;
    traces_init(&traces);
    query_result_init(&result);
    sites_init(&sites);
    query_init(&query);
    out_init(&out, fd);
    strbuf_init(&remarks);
    err_init(&err);
    query.want = format->want;
    query.ticks = format->ticks;
    anonymize_init(&veil, ANONYMIZE_PARTIAL, 1);
    traces.veil = &veil;
    struct strbuf no_conditions;
    strbuf_init(&no_conditions);
    struct suppress suppress;
    suppress_init(&suppress);
    const struct export_job job = {.reader = reader,
                                   .query = &query,
                                   .result = &result,
                                   .traces = &traces,
                                   .sites = &sites,
                                   .out = &out,
                                   .conditions = &no_conditions,
                                   .remarks = &remarks,
                                   .measure = MEASURE_PEAK,
                                   .suppress = &suppress,
                                   .veil = &veil};
    int code = traces_add_reader(&traces, reader, &base, &err);
    if (code == 0)
        code = query_run(&query, reader, &result, &err);
    if (code == 0)
        code = sites_add(&sites, &traces, result.rows.data, result.rows.count, &err);
    if (code == 0)
        code = format->run(&job, &err);
    if (code == 0)
        code = out_flush(&out, "the export", &err);
    if (code > 0 || (code != 0 && err.text[0] == '\0'))
        abort();
    strbuf_release(&remarks);
    out_release(&out);
    query_release(&query);
    suppress_release(&suppress);
    sites_release(&sites);
    query_result_release(&result);
    traces_release(&traces);
    anonymize_release(&veil);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    static int nowhere = -1;
    struct wake_reader *reader;
    struct err err;
    if (nowhere < 0) {
        snprintf(path, sizeof path, "/dev/shm/export_fuzz.%d.wake", (int)getpid());
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    err_init(&err);
    if (wake_reader_open(&reader, path, &err) == 0) {
        for (const struct export_format *f = export_list; f->name != NULL; f++)
            if (wake_reader_process_count(reader) > 0 && (f->options & EXPORT_FILE) == 0)
                run(reader, f, nowhere);
        wake_reader_close(reader);
    }
    unlink(path);
    return 0;
}
