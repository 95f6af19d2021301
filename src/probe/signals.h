/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * signals: HEAPWAKE_SIGUSR1 and HEAPWAKE_SIGUSR2, for those who want them.
 */
#ifndef HW_PROBE_SIGNALS_H
#define HW_PROBE_SIGNALS_H

#include <stdbool.h>

/* During birth, once the real functions are known. */
void signals_open(bool is_recording);

#endif
