/* SPDX-License-Identifier: GPL-2.0-only */
/* The superblock of a cache device: two copies, and the state that is known to be durable. */
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
 * @sb: current content; copies are written from here
 * @other: buffer for the other copy while reading
 * @read: the last nc_super_read() succeeded; if not, writes of the superblock fail
 * @counts: the current copy on the medium, 0 or 1
 * @known: highest sequence that a copy on the medium certainly has
 * @known_id: write_id of that copy
 * @durable: enum nearcache_super_state that both copies on the medium durably
 *	have, or -1
 *
 * On a live cache nc_life.lock protects the superblock of member 0, nc_commit.lock all others.
 */
struct nc_super {
	struct dm_io_client *io;
	struct nearcache_super *sb;
	struct nearcache_super *other;
	bool read;
	unsigned int counts;
	u64 known;
	u64 known_id;
	int durable;
};

int nc_super_init(struct nc_super *s);
void nc_super_destroy(struct nc_super *s);
int nc_super_io(struct dm_io_client *io, struct block_device *bdev,
		blk_opf_t opf, u64 offset, void *buffer, size_t bytes);
int nc_super_read(struct nc_super *s, struct block_device *bdev,
		  struct nc_geometry *geo, char *why);
void nc_super_take(struct nc_super *s, const struct nc_super *from);
int nc_super_confirm(const struct nc_super *s, struct block_device *bdev);
int nc_super_write(struct nc_super *s, struct block_device *bdev, u32 state);
int nc_super_put(struct nc_super *s, struct block_device *bdev, u32 state);
void nc_super_resize(struct nc_super *s, u64 size);

#endif /* NEARCACHE_META_SUPERBLOCK_H */
