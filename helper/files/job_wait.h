/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prefetch jobs: ranges that the kernel brings into a cache in the background. job_wait() and
 * job_judge() return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_JOB_WAIT_H
#define HELPER_FILES_JOB_WAIT_H

#include "block/dm.h"
#include "netlink/client.h"

/* nl_job.state of a job that has ended and whose outcome the kernel has dropped. */
#define JOB_FORGOTTEN	UINT32_MAX

const char *job_state_word(uint32_t state);
int job_wait(const struct dm_device *dev, uint32_t id, bool quiet,
	     struct nl_job *job);
void job_print(const struct nl_job *job);
int job_wait_or_stall(const struct dm_device *dev, uint32_t id, bool quiet, struct nl_job *job);
int job_judge(const struct dm_device *dev, const struct nl_job *job);

#endif /* HELPER_FILES_JOB_WAIT_H */
