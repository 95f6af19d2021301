/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * diagnose_fuzz: programs from arbitrary bytes (libFuzzer): can they be recorded, why not,
 * and what is their build id? Whoever says no says a sentence.
 */
#include "collect/diagnose.h"
#include "symbol/elf_id.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_sentence(const struct err *err)
{
    size_t length = strlen(err->text);
    if (err->code == 0 || length == 0 || err->text[length - 1] != '.')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct err err;
    struct elf_id id;
    int fd = memfd_create("diagnose_fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    err_init(&err);
    if (diagnose_is_foreign(path, &err))
        must_be_sentence(&err);
    err_init(&err);
    if (diagnose_is_sanitized(path, &err))
        must_be_sentence(&err);
    err_init(&err);
    diagnose_silence(path, &err);
    must_be_sentence(&err);
    if (elf_id_read(&id, fd) && (id.length > ELF_ID_MAX || !elf_id_fits(&id, id.bytes, id.length)))
        abort();
    close(fd);
    return 0;
}
