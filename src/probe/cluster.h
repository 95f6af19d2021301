/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cluster: what a batch system or MPI has told the process about itself: the
 * job and the rank, for the names of recordings.  Called once, at birth.
 */
#ifndef HW_PROBE_CLUSTER_H
#define HW_PROBE_CLUSTER_H

#include "wire/segment.h"

/* Fills in head->job and head->rank; empty = none. */
void cluster_fill_head(struct segment_head *head);

#endif
