/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache devices of one cache, and the place of each slot.  meta/members.c manages their
 * superblocks.
 */
#ifndef NEARCACHE_CORE_MEMBERS_H
#define NEARCACHE_CORE_MEMBERS_H

#include "cache.h"

struct nc_super;

/**
 * struct nc_member - one of several cache devices
 * @bdev: device; a dm table keeps it open
 * @data_start: first sector of its slots
 * @device_size: bytes that the format uses
 * @super: its superblock, which only meta/ uses; NULL for member 0
 */
struct nc_member {
	struct block_device *bdev;
	sector_t data_start;
	u64 device_size;
	struct nc_super *super;
};

/**
 * struct nc_members - the cache devices, if there are several
 * @count: number of members, at least 2
 * @active: commits leave the members behind the first in state active, so their data
 *	matches no commit
 * @failed: the last member whose superblock was invalid or had an I/O error; 0: none;
 *	read without the lock, for the log
 * @member: the members
 *
 * nc_commit.lock protects @active, @failed and the superblocks; the rest is constant.
 */
struct nc_members {
	u32 count;
	bool active;
	dev_t failed;
	struct nc_member member[];
};

/* Map a slot.  Returns the device; sets @sector to the slot's first sector on that device. */
static __always_inline struct block_device *
nc_members_place(const struct nc_target *t, u32 slot, sector_t *sector)
{
	const struct nc_cache *c = t->cache;
	const struct nc_members *m = c->dev.members;
	const struct nc_member *on;

	if (likely(!m)) {
		*sector = c->hot.data_start + ((sector_t)slot << c->hot.block_shift);
		return t->dev->bdev;
	}
	on = &m->member[slot % m->count];
	*sector = on->data_start +
		  ((sector_t)(slot / m->count) << c->hot.block_shift);
	return on->bdev;
}

static inline u32 nc_members_count(const struct nc_cache *c)
{
	return c->dev.members ? c->dev.members->count : 1;
}

static inline struct block_device *nc_members_bdev(const struct nc_cache *c,
						   u32 index)
{
	return index ? c->dev.members->member[index].bdev : c->dev.bdev;
}

static inline dev_t nc_members_failed(const struct nc_cache *c)
{
	return c->dev.members ? READ_ONCE(c->dev.members->failed) : 0;
}

#endif /* NEARCACHE_CORE_MEMBERS_H */
