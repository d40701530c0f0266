/* SPDX-License-Identifier: GPL-2.0-only */
/* Prefetch of more ranges than the kernel accepts at once, as several jobs. */
#ifndef HELPER_FILES_JOB_PARTS_H
#define HELPER_FILES_JOB_PARTS_H

#include "block/dm.h"
#include "netlink/client.h"

/* Ranges per job if one job cannot have all; two such jobs leave the kernel room for other jobs. */
#define PART_PIECES	262144U

int job_parts_run(const struct dm_device *dev, const struct nl_job *wishes,
		  const struct range *piece, size_t count, bool wait, bool quiet,
		  struct nl_job *sum, size_t *parts);

void job_add_outcome(struct nl_job *sum, const struct nl_job *job);

#endif /* HELPER_FILES_JOB_PARTS_H */
