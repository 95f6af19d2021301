/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * err: what went wrong, as a code for the program and one sentence for the
 * reader.
 *
 * Functions outside the probe return 0 or a negative enum err_code, and fill
 * the struct err that came as their last parameter.  The sentence is complete
 * ("app.wake is not a heapwake recording.") and stands alone: whoever prints
 * it adds nothing but the name of the tool.
 *
 * A NULL struct err is accepted everywhere: the caller wants the code only.
 */
#ifndef HW_TOOL_ERR_H
#define HW_TOOL_ERR_H

enum err_code {
    ERR_NONE = 0,
    ERR_INPUT = -1,       /* a file or message that is not what it should be */
    ERR_IO = -2,          /* the system refused to read or write */
    ERR_USAGE = -3,       /* called in a way that makes no sense */
    ERR_MEMORY = -4,      /* no memory */
    ERR_LIMIT = -5,       /* larger or more than we are ready for */
    ERR_ABSENT = -6,      /* asked-for thing is not there */
    ERR_UNSUPPORTED = -7, /* sound, but newer or stranger than this build knows */
    ERR_FULL = -8,        /* disk full, quota or file size limit */
    ERR_SYSTEM = -9,      /* any other refusal of the system */
};

struct err {
    char text[512];
    int code;
};

/* No error yet: empty text, code 0. */
void err_init(struct err *err);

/* Sets code and text (printf-like; cut at the end of the buffer) and returns
 * code, so that `return err_set(err, ERR_INPUT, ...)` reads well.  errno is
 * left as it was. */
int err_set(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What is said wherever memory has run out. */
#define ERR_NO_MEMORY "Out of memory."
/* The same as an error: returns ERR_MEMORY. */
int err_no_memory(struct err *err);

#endif
