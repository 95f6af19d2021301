/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_pprof_fuzz: heap profiles in pprof's format from arbitrary bytes (libFuzzer). */
#include "import_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_fuzz("pprof", data, size);
}
