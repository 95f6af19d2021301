/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_jemalloc_fuzz: heap profiles of jemalloc from arbitrary bytes (libFuzzer). */
#include "import_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_fuzz("jemalloc", data, size);
}
