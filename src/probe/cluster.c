/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cluster: see cluster.h.  Of several variables the first in its list counts.
 * The collector could read /proc/PID/environ, but a short program is gone by
 * the time it looks.
 */
#include "probe/cluster.h"

#include "probe/environment.h"

#include <stddef.h>

/* Slurm, PBS and Torque, LSF, Grid Engine, Cobalt, Flux. */
static const char *const cluster_jobs[] = {"SLURM_JOB_ID", "PBS_JOBID",    "LSB_JOBID",
                                           "JOB_ID",       "COBALT_JOBID", "FLUX_JOB_ID"};
/* Open MPI, MPICH and Intel MPI, PMIx, MVAPICH, PALS, Slurm, Flux. What MPI itself says comes first: a
 * task of the batch system may start several ranks. */
static const char *const cluster_ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",    "PMIX_RANK",
                                            "MV2_COMM_WORLD_RANK",  "PALS_RANKID", "SLURM_PROCID",
                                            "FLUX_TASK_RANK"};

static void cluster_take(char *to, size_t room, const char *const *names, size_t count)
{
    const char *value = NULL;
    for (size_t i = 0; i < count && (value == NULL || *value == '\0'); i++)
        value = environment_find(names[i]);
    for (; value != NULL && *value != '\0' && room > 1; room--)
        *to++ = *value++;
    *to = '\0';
}

void cluster_fill_head(struct segment_head *head)
{
    cluster_take(head->job, sizeof head->job, cluster_jobs, sizeof cluster_jobs / sizeof *cluster_jobs);
    cluster_take(head->rank, sizeof head->rank, cluster_ranks, sizeof cluster_ranks / sizeof *cluster_ranks);
}
