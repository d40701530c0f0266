/* SPDX-License-Identifier: GPL-2.0-only */
/* The eviction policy of a cache, with its clock. */
#ifndef NEARCACHE_EVICT_POLICY_H
#define NEARCACHE_EVICT_POLICY_H

#include <linux/atomic.h>
#include <linux/spinlock.h>

#include "evict/default_policy.h"

/**
 * struct nc_policy_state - the eviction policy of a cache
 * @keep: state of the default policy
 * @lock: protects @keep, see there; reads of sampled blocks take it if it is free
 * @retain: see keep.h
 * @clock: bytes read, in portions
 * @ghost: entries of the ghost of @keep
 */
struct nc_policy_state {
	struct nc_policy keep;
	spinlock_t lock;	/* see above */
	struct nc_retain retain;
	atomic64_t clock;
	u64 *ghost;
};

#endif /* NEARCACHE_EVICT_POLICY_H */
