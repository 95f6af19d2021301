/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * file: opening, reading and writing files with care.
 *
 * Descriptors are close-on-exec and never 0, 1 or 2 (a process may run with
 * these closed, and what is printed must not land in a file).  All calls go on
 * after EINTR.  Errors: ERR_IO, ERR_FULL (disk, quota, file size limit),
 * ERR_ABSENT (no such file), ERR_INPUT (not a regular file), ERR_MEMORY.
 */
#ifndef HW_TOOL_FILE_H
#define HW_TOOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/err.h"

/* A file that is being made: a fresh file beside `path`, mode 0600, that takes
 * the name `path` with file_new_publish(), in one step, replacing what was
 * there.  Symbolic links are replaced, never followed; what is neither a
 * regular file nor a link (a device, a directory) is refused, and so is a link
 * that stands for a device or a descriptor (/dev/stdout). */
struct file_new {
    int fd;     /* -1: none */
    char *path; /* as it is to be called */
    char *temp; /* as it is called until then; NULL after publishing */
};

/* May there be a new file of this name?  A directory, a device, a pipe are not replaced by one. */
int file_new_check(const char *path, struct err *err);
int file_new_open(struct file_new *f, const char *path, struct err *err);
/* The same, readable for whom the umask lets: for reports and exports, which recordings are not. */
int file_new_open_readable(struct file_new *f, const char *path, struct err *err);
int file_new_publish(struct file_new *f, struct err *err);
/* Closes and frees; removes the file when it was not published.  Accepts a zeroed or half-built one
 * with fd -1. */
int file_new_close(struct file_new *f, struct err *err);

/* Opens an existing regular file for reading; *size gets its length.  Never
 * blocks: a FIFO, a directory, a device give one sentence and ERR_INPUT. */
int file_open(int *fd, uint64_t *size, const char *path, struct err *err);
void file_close(int fd);

/* All of the bytes, or -errno after *written of them (may be NULL). */
int file_write_all(int fd, const void *bytes, size_t length, size_t *written);
/* Up to length bytes from offset; fewer only where the file ends.  *got is set
 * in any case; 0 or -errno. */
int file_read_at(int fd, void *bytes, size_t length, uint64_t offset, size_t *got);

/* A whole small file, with a NUL behind it; the caller frees *text.  ERR_LIMIT:
 * longer than `most` bytes.  Works for files of /proc, which say they are empty. */
int file_read_text(char **text, size_t *length, const char *path, size_t most, struct err *err);

/* The enum err_code that fits an errno. */
int file_code(int error);

/* Does this path name a descriptor or the like of whoever asks (/proc/self/fd/3), another file for each process? */
bool file_is_of_a_process(const char *path, size_t length);

#endif
