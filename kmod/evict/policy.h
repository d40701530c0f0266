/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a cache's eviction policy, with the clock that counts bytes read. */
#ifndef NEARCACHE_EVICT_POLICY_H
#define NEARCACHE_EVICT_POLICY_H

#include <linux/atomic.h>
#include <linux/spinlock.h>

#include "evict/default_policy.h"

/**
 * struct nc_policy_state - the eviction policy of a cache
 * @keep: state of the default policy
 * @lock: protects @keep, see struct nc_policy; reads of sampled blocks use only spin_trylock()
 * @retain: retention, see default_policy.h
 * @clock: bytes read so far; processors add their bytes in portions
 * @ghost: memory of @keep.ghost.entries
 */
struct nc_policy_state {
	struct nc_policy keep;
	spinlock_t lock;	/* see above */
	struct nc_retain retain;
	atomic64_t clock;
	u64 *ghost;
};

#endif /* NEARCACHE_EVICT_POLICY_H */
