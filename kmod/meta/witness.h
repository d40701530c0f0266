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
 * @offset: of the record, bytes
 * @record: as last read or written; from vmalloc()
 *
 * Under nc_cache.life; while the cache is live, only nc_intent.leave_work uses it.
 */
struct nc_witness {
	u64 offset;
	struct nearcache_witness *record;
};

int nc_witness_find(struct nc_cache *c, struct block_device *bdev,
		    struct nc_witness *w);
int nc_witness_write(struct nc_cache *c, struct block_device *bdev,
		     struct nc_witness *w, u64 session, u64 previous, u32 state);

#endif /* NEARCACHE_META_WITNESS_H */
