/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of a cache with several devices.  Member 0 has all metadata, and the rest of the
 * module treats it like the only cache device of other caches.  This file manages the other
 * members, and is the only place that maps a slot to a device.
 */
#ifndef NEARCACHE_META_MEMBERS_H
#define NEARCACHE_META_MEMBERS_H

#include "cache.h"
#include "meta/superblock.h"

/**
 * struct nc_member - one of several cache devices
 * @bdev: device; a dm table keeps it open
 * @data_start: first sector of its slots
 * @device_size: bytes that the format uses
 * @super: its superblock; unused for member 0
 */
struct nc_member {
	struct block_device *bdev;
	sector_t data_start;
	u64 device_size;
	struct nc_super super;
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

int nc_members_new(struct nc_cache *c, const struct nc_target *t);
int nc_members_open(struct nc_cache *c, struct nc_target *t);
void nc_members_free(struct nc_cache *c);
bool nc_members_same(const struct nc_cache *c, const struct nc_target *t);
bool nc_members_gone(const struct nc_cache *c);
int nc_members_reread(struct nc_cache *c);
void nc_members_unread(struct nc_cache *c);
int nc_members_confirm(const struct nc_cache *c);
bool nc_members_emptied(const struct nc_cache *c);
bool nc_members_differ(struct nc_cache *c);
u64 nc_members_epoch(const struct nc_cache *c);
u64 nc_members_begun(const struct nc_cache *c);
int nc_members_go(struct nc_cache *c, bool active);
void nc_members_stop(struct nc_cache *c);
int nc_members_settle(struct nc_cache *c);
int nc_members_announce(struct nc_cache *c, bool over);
int nc_members_catch_up(struct nc_cache *c);
int nc_members_flush(struct nc_cache *c);

#endif /* NEARCACHE_META_MEMBERS_H */
