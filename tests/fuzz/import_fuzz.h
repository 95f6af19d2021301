/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * import_fuzz: what the targets of the importers share.  Whatever is refused is
 * refused with a sentence; whatever is taken makes a sound recording.
 */
#ifndef HW_TESTS_IMPORT_FUZZ_H
#define HW_TESTS_IMPORT_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/import.h"
#include "store/reader.h"

enum { IMPORT_FUZZ_BLOCKS = 5000 };

static inline void import_fuzz_check(const char *path)
{
    struct wake_reader *r;
    struct err err;
    err_init(&err);
    if (wake_reader_open(&r, path, &err) != 0 || wake_reader_verify(r, &err) != 0 ||
        wake_reader_damage_count(r) != 0 || !wake_reader_summary(r)->complete ||
        wake_reader_note_count(r) == 0 || wake_reader_process_count(r) != 1) {
        fprintf(stderr, "The recording is not sound: %s\n", err.text);
        abort();
    }
    const struct wake_process *p = wake_reader_process(r, 0);
    if (p->end.allocations - p->end.frees != p->live.count || p->events < p->end.allocations + p->end.frees ||
        p->end.leaked_bytes > p->end.peak_bytes)
        abort();
    wake_reader_close(r);
    unlink(path);
}

static inline int import_fuzz(const char *format, const uint8_t *data, size_t size)
{
    char input[64], output[64];
    struct err err;
    int fd = memfd_create("import", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(input, sizeof input, "/proc/self/fd/%d", fd);
    snprintf(output, sizeof output, "/dev/shm/import_fuzz.%d.wake", (int)getpid());
    struct import_request q = {
        .input = input, .output = output, .format = import_find(format), .most_blocks = IMPORT_FUZZ_BLOCKS};
    err_init(&err);
    int code = q.format == NULL ? 1 : import_file(&q, &err);
    if (code > 0 || (code != 0) != (err.text[0] != '\0') || strlen(err.text) > sizeof err.text - 2)
        abort();
    if (code == 0)
        import_fuzz_check(output);
    close(fd);
    return 0;
}

#endif
