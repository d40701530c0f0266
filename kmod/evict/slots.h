/* SPDX-License-Identifier: GPL-2.0-only */
/* Slots in use, and those that are kept for prefetch jobs. */
#ifndef NEARCACHE_EVICT_SLOTS_H
#define NEARCACHE_EVICT_SLOTS_H

#include <linux/atomic.h>

#include "evict/prefetched.h"

/**
 * struct nc_slots - slots of a cache as a pool
 * @used: slots that hold a block
 * @valid_subblocks: valid bits set in all slots
 * @reserve: see prefetched.h
 */
struct nc_slots {
	atomic64_t used;
	atomic64_t valid_subblocks;
	struct nc_transit reserve;
};

#endif /* NEARCACHE_EVICT_SLOTS_H */
