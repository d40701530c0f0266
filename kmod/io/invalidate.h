/* SPDX-License-Identifier: GPL-2.0-only */
/* Invalidation of cached data. */
#ifndef NEARCACHE_IO_INVALIDATE_H
#define NEARCACHE_IO_INVALIDATE_H

#include <linux/types.h>

struct nc_cache;
struct nc_stripe;
struct work_struct;

u64 nc_invalidate_bits(struct nc_cache *c, struct nc_stripe *stripe, u32 i,
		       u64 bits);
void nc_invalidate_all(struct nc_cache *c);
int nc_invalidate_told(struct nc_cache *c, sector_t first, sector_t last);
void nc_invalidate_lost(struct nc_cache *c);
void nc_invalidate_lost_work(struct work_struct *work);

#endif /* NEARCACHE_IO_INVALIDATE_H */
