/* SPDX-License-Identifier: GPL-2.0-only */
/* Invalidation of cached data. */
#ifndef NEARCACHE_IO_INVALIDATE_H
#define NEARCACHE_IO_INVALIDATE_H

#include <linux/types.h>

struct nc_cache;
struct nc_bucket_lock;
struct work_struct;

u64 nc_invalidate_bits(struct nc_cache *c, struct nc_bucket_lock *bucket, u32 i,
		       u64 bits);
u64 nc_invalidate_mask(const struct nc_cache *c, u64 block, sector_t first, sector_t last);
u64 nc_invalidate_subblocks(struct nc_cache *c, struct nc_bucket_lock *bucket, u64 block, u64 bits,
			    bool *empty);
void nc_invalidate_count(struct nc_cache *c, u64 dropped, bool empty);
void nc_invalidate_block(struct nc_cache *c, u64 block, sector_t first, sector_t last);
void nc_invalidate_all(struct nc_cache *c);
int nc_invalidate_changed(struct nc_cache *c, sector_t first, sector_t last);
void nc_invalidate_tail(struct nc_cache *c);
bool nc_invalidate_unless_flushed(struct nc_cache *c);
void nc_invalidate_lost(struct nc_cache *c);
void nc_invalidate_lost_work(struct work_struct *work);

#endif /* NEARCACHE_IO_INVALIDATE_H */
