/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * in_mapping: which blocks lie in a mapping that the query asks for.
 *
 * A block lies in the mapping that its first byte belongs to when it is made (engine/maps.h says
 * what belongs to whom).  Mappings that the probe does not see, those of glibc's own malloc above
 * all, are nobody's.
 *
 * One reading of the events, before all others.  Afterwards it is a condition at birth like
 * any other.
 */
#ifndef HW_ENGINE_IN_MAPPING_H
#define HW_ENGINE_IN_MAPPING_H

#include <stdint.h>

#include "engine/filter.h"
#include "engine/watch.h"
#include "store/reader.h"
#include "tool/err.h"

/* Fills `inside` of a filter, if it asks for mappings.  0, WATCH_STOP, or an error. */
int in_mapping_run(struct filter *f, struct watch *watch, struct wake_reader *reader, uint32_t process,
                   struct err *err);

#endif
