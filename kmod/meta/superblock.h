/* SPDX-License-Identifier: GPL-2.0-only */
/* The superblock of a cache device: two copies, and what they are known to say. */
#ifndef NEARCACHE_META_SUPERBLOCK_H
#define NEARCACHE_META_SUPERBLOCK_H

#include <linux/blk_types.h>
#include <linux/types.h>

struct dm_io_client;
struct nc_geometry;
struct nearcache_super;

/**
 * struct nc_super - superblock in memory
 * @io: for synchronous I/O
 * @sb: as it counts now; copies are written from here
 * @other: room for the second copy while reading
 * @read: @sb is what the medium has, or what was written since
 * @counts: the copy that counts on the medium, 0 or 1
 * @known: sequence that a copy on the medium has, for sure
 * @durable: enum nearcache_super_state that both copies on the medium durably
 *	have, or -1
 *
 * nc_cache.life, once the cache is live.
 */
struct nc_super {
	struct dm_io_client *io;
	struct nearcache_super *sb;
	struct nearcache_super *other;
	bool read;
	unsigned int counts;
	u64 known;
	int durable;
};

int nc_super_init(struct nc_super *s);
void nc_super_destroy(struct nc_super *s);
int nc_super_io(struct dm_io_client *io, struct block_device *bdev,
		blk_opf_t opf, u64 offset, void *buffer, size_t bytes);
int nc_super_read(struct nc_super *s, struct block_device *bdev,
		  struct nc_geometry *geo, char *why);
int nc_super_write(struct nc_super *s, struct block_device *bdev, u32 state);
int nc_super_put(struct nc_super *s, struct block_device *bdev, u32 state);
void nc_super_resize(struct nc_super *s, u64 size);

#endif /* NEARCACHE_META_SUPERBLOCK_H */
