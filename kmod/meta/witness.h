/* SPDX-License-Identifier: GPL-2.0-only */
/* The witness: a device that records whether the cache device left. */
#ifndef NEARCACHE_META_WITNESS_H
#define NEARCACHE_META_WITNESS_H

#include <linux/types.h>

#include "nearcache_format.h"

struct block_device;
struct nc_cache;

/**
 * struct nc_witness - the record of one cache
 * @offset: place of the record on the witness device, bytes
 * @record: as last read or written; from vmalloc()
 *
 * nc_intent.witness is used under nc_life.lock; nc_intent.leave_work has one of its own.
 */
struct nc_witness {
	u64 offset;
	struct nearcache_witness *record;
};

int nc_witness_find(const struct nc_cache *c, struct block_device *bdev, struct nc_witness *w);
int nc_witness_write(const struct nc_cache *c, struct block_device *bdev, struct nc_witness *w,
		     u64 session, u64 previous, u32 state);

#endif /* NEARCACHE_META_WITNESS_H */
