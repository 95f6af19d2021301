/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_gperftools_fuzz: text heap profiles from arbitrary bytes (libFuzzer). */
#include "import_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_fuzz("gperftools", data, size);
}
