/* SPDX-License-Identifier: GPL-2.0-only */
/* An update: the data of a write that goes to a slot as well (writethrough). */
#ifndef NEARCACHE_IO_WRITETHROUGH_H
#define NEARCACHE_IO_WRITETHROUGH_H

#include <linux/types.h>

struct bio;
struct nc_cache;
struct nc_fill;
struct nc_range;
struct nc_stripe;
struct nc_target;

bool nc_update_wanted(struct nc_cache *c, sector_t first, sector_t end);
u32 nc_update_sectors(const struct nc_cache *c, const struct bio *bio);
struct nc_fill *nc_update_alloc(struct nc_target *t, struct bio *bio);
bool nc_update_list(struct nc_fill *f, struct nc_stripe *stripe,
		    const struct nc_range *own, u64 dropped);
void nc_update_send(struct nc_fill *f);
void nc_update_cancel(struct nc_cache *c, struct nc_fill *f);
void nc_update_count(struct nc_cache *c, const struct nc_fill *f, u64 bits);

#endif /* NEARCACHE_IO_WRITETHROUGH_H */
