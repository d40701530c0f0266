/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs that wait for a slot.  For the prefetch worker only. */
#ifndef NEARCACHE_PREFETCH_SLOT_WAIT_H
#define NEARCACHE_PREFETCH_SLOT_WAIT_H

#include <linux/minmax.h>
#include <linux/types.h>

struct nc_cache;
struct nc_job;

/* Jiffies before the next attempt to get memory, or a slot if there may be one. */
#define NC_SHORTAGE	max(1, HZ / 50)
/* A job that has waited for a slot for so long may take slots of jobs that are over. */
#define NC_PRESSED	(5UL * HZ)

void nc_job_set_waits(struct nc_cache *c, struct nc_job *job, bool waits);
bool nc_job_waits_for_slot(struct nc_cache *c, struct nc_job *job, u64 block);

#endif /* NEARCACHE_PREFETCH_SLOT_WAIT_H */
