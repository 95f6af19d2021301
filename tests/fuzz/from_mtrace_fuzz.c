/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_mtrace_fuzz: logs of glibc's mtrace from arbitrary bytes (libFuzzer). */
#include "import_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_fuzz("mtrace", data, size);
}
