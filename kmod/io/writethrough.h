/* SPDX-License-Identifier: GPL-2.0-only */
/* Updates (mode writethrough): fills that write the data of a write to a slot. */
#ifndef NEARCACHE_IO_WRITETHROUGH_H
#define NEARCACHE_IO_WRITETHROUGH_H

#include <linux/types.h>

struct bio;
struct nc_cache;
struct nc_fill;
struct nc_write_range;
struct nc_bucket_lock;
struct nc_target;

bool nc_update_wanted(struct nc_cache *c, sector_t first, sector_t end);
u32 nc_update_sectors(const struct nc_cache *c, const struct bio *bio);
struct nc_fill *nc_update_alloc(struct nc_target *t, struct bio *bio);
bool nc_update_list(struct nc_fill *f, struct nc_bucket_lock *bucket,
		    const struct nc_write_range *own, u64 dropped);
void nc_update_send(struct nc_fill *f);
void nc_update_cancel(struct nc_cache *c, struct nc_fill *f);

#endif /* NEARCACHE_IO_WRITETHROUGH_H */
