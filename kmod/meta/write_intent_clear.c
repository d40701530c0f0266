// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sweep: clears a write-intent mark once a crash would leave no data of its region in doubt:
 *
 *	1. no write touched the region for a period, and none is in flight there
 *	2. flush the origin: it keeps all data that it acknowledged
 *	3. commit the slot table: it no longer calls the overwritten data valid
 *	4. check that no write touched the region since step 1
 *	5. clear the mark in memory, then on the medium
 *
 * The ends of the origin have a mark of their own.  Before it is cleared, the superblock
 * gets their fingerprint, so that a load after a crash detects writes of other hosts.
 *
 * A stale mark on the medium, or a torn page of marks, only costs cached data.
 */
#include "cache.h"
#include "meta/origin_fingerprint.h"
#include "meta/write_intent.h"
#include "meta/meta.h"
#include "meta/recorded_fingerprint.h"
#include "meta/write_intent_clear.h"

static bool ends_are_written(struct nc_cache *c)
{
	u64 last = (c->geo.origin_size >> SECTOR_SHIFT) - 1;
	u64 length = min_t(u64, NC_FINGERPRINT_END >> SECTOR_SHIFT, last + 1);
	u64 at;

	return nc_write_range_first(&c->write_ranges, 0, length - 1, &at) ||
	       nc_write_range_first(&c->write_ranges, last - length + 1, last, &at);
}

static bool is_written(struct nc_cache *c, u32 bit)
{
	u8 shift = c->intent.region_shift;
	u64 at;

	if (bit == NC_INTENT_ENDS)
		return ends_are_written(c);
	return nc_write_range_first(&c->write_ranges, (u64)bit << shift,
				    (((u64)bit + 1) << shift) - 1, &at);
}

/* Step 1.  A write whose "recent" bit this clears is complete, or in nc_cache.write_ranges. */
static bool pick_idle(struct nc_cache *c)
{
	struct nc_intent_maps *maps = c->intent.maps;
	u32 bit;

	bitmap_zero(maps->idle, NC_INTENT_BITS);
	for_each_set_bit(bit, maps->set, NC_INTENT_BITS)
		if (!test_and_clear_bit(bit, maps->recent))
			__set_bit(bit, maps->idle);
	/* Clear "recent", then look for write ranges: pairs with nc_intent_wait(). */
	smp_mb();
	for_each_set_bit(bit, maps->idle, NC_INTENT_BITS)
		if (is_written(c, bit))
			__clear_bit(bit, maps->idle);
	return !bitmap_empty(maps->idle, NC_INTENT_BITS);
}

/* Step 4.  Returns false if the mark must stay.  If true, later writes wait for a new mark. */
static bool take_mark(struct nc_intent_maps *maps, u32 bit)
{
	clear_bit(bit, maps->set);
	/* Clear "set", then test "recent": pairs with nc_intent_wait(). */
	smp_mb();
	if (!test_bit(bit, maps->recent))
		return true;
	set_bit(bit, maps->set);
	return false;
}

/* Write the fingerprint of the ends and clear their mark under one hold of io_lock, so that
 * mark_work cannot set the mark on the medium in between.  Return: 0 or the write error.
 */
static int renew_ends(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;
	u8 digest[NC_FINGERPRINT_SIZE];
	int r = 0;

	mutex_lock(&c->life.lock);
	/* If the origin cannot be read, the mark stays. */
	if (READ_ONCE(i->mode) == NC_INTENT_ON && !nc_meta_read_ends(c, digest)) {
		mutex_lock(&i->io_lock);
		if (take_mark(i->maps, NC_INTENT_ENDS)) {
			r = nc_meta_write_ends(c, digest);
			if (!r)
				r = nc_intent_write(c, nc_intent_put(i->maps,
								     NC_INTENT_ENDS,
								     false), 0);
		}
		mutex_unlock(&i->io_lock);
	}
	mutex_unlock(&c->life.lock);
	return r;
}

static int clear_idle(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;
	u32 bit, pages = 0;
	int r = 0;

	mutex_lock(&i->io_lock);
	if (READ_ONCE(i->mode) == NC_INTENT_ON) {
		for_each_set_bit(bit, i->maps->idle, NEARCACHE_INTENT_REGIONS)
			if (take_mark(i->maps, bit))
				pages |= nc_intent_put(i->maps, bit, false);
		r = nc_intent_write(c, pages, 0);
	}
	mutex_unlock(&i->io_lock);
	return r;
}

/* Steps 2 and 3.  On failure all marks stay: a failed flush may have lost data of any region. */
static bool settle_regions(struct nc_cache *c)
{
	if (nc_meta_flush_written(c)) {
		c->intent.ops->flush_lost(c);
		return false;
	}
	if (nc_commit_run(c)) {
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
		return false;
	}
	return true;
}

static bool is_on(const struct nc_cache *c)
{
	return READ_ONCE(c->intent.mode) == NC_INTENT_ON &&
	       READ_ONCE(c->hot.state) != NEARCACHE_BYPASS;
}

void nc_intent_clear_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work),
					  struct nc_cache, intent.clear_work);
	struct nc_intent_maps *maps = c->intent.maps;
	int r = 0;

	/* After a system sleep nc_cache_wake_work() queues this work again. */
	if (!is_on(c) || READ_ONCE(c->life.asleep))
		return;
	if (pick_idle(c)) {
		if (!settle_regions(c))
			return;
		if (test_bit(NC_INTENT_ENDS, maps->idle))
			r = renew_ends(c);
		if (!r)
			r = clear_idle(c);
		if (r)
			nc_health_bypass(c, NEARCACHE_REASON_WRITE_INTENT);
	}
	if (is_on(c) && !bitmap_empty(maps->set, NC_INTENT_BITS))
		nc_intent_arm_clear(c);
}
