/* SPDX-License-Identifier: GPL-2.0-only */
/* The witness: what another device knows of whether the cache device left. */
#ifndef NEARCACHE_META_WITNESS_H
#define NEARCACHE_META_WITNESS_H

#include <linux/types.h>

#include "nearcache_format.h"

struct block_device;
struct nc_cache;

/**
 * struct nc_witness - the record of one cache
 * @offset: of it, bytes
 * @record: as read or written last; from vmalloc()
 *
 * nc_cache.life, and while the cache is live nc_intent.leave_work alone.
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
