/* SPDX-License-Identifier: GPL-2.0-only */
/* The write path: whatever changes the origin, and what it drops. */
#ifndef NEARCACHE_IO_WRITEAROUND_H
#define NEARCACHE_IO_WRITEAROUND_H

#include <linux/blk_types.h>

struct nc_cache;
struct nc_io;
struct nc_target;

/* Blocks that one discard or write-zeroes visits at most, in map. */
#define NC_WRITE_BLOCKS_MAX	4096U

int nc_write_map(struct nc_target *t, struct bio *bio);
int nc_write_end_io(struct nc_target *t, struct bio *bio, struct nc_io *io,
		    blk_status_t *status);
u64 nc_write_bits(const struct nc_cache *c, u64 block, sector_t first,
		  sector_t last);
void nc_write_drop_block(struct nc_cache *c, u64 block, sector_t first,
			 sector_t last);

#endif /* NEARCACHE_IO_WRITEAROUND_H */
