// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sweep.  A mark of write intent goes when a crash would not leave anything in doubt:
 *
 *	1. nobody wrote to the region for a period, and no write is under way there
 *	2. the origin is flushed: it keeps what it acknowledged
 *	3. the slot table is committed: the medium does not call valid any more what
 *	   those writes changed
 *	4. nobody began to write there meanwhile
 *	5. the mark is cleared in memory, then on the medium
 *
 * The ends of the origin have a mark of their own.  Before it goes, the superblock gets
 * their fingerprint, so that after a crash it can be told whether others wrote to them.
 *
 * Each time the medium holds a mark that could go, or a page of them is torn, only
 * warmth is lost.
 */
#include "cache.h"
#include "meta/origin.h"
#include "meta/intent.h"
#include "io/invalidate.h"
#include "meta/meta.h"
#include "meta/intent_clear.h"

static bool ends_are_written(struct nc_cache *c)
{
	u64 last = (c->geo.origin_size >> SECTOR_SHIFT) - 1;
	u64 length = min_t(u64, NC_IDENTITY_END >> SECTOR_SHIFT, last + 1);
	u64 at;

	return nc_inflight_first(&c->inflight, 0, length - 1, &at) ||
	       nc_inflight_first(&c->inflight, last - length + 1, last, &at);
}

static bool is_written(struct nc_cache *c, u32 bit)
{
	u8 shift = c->intent.region_shift;
	u64 at;

	if (bit == NC_INTENT_ENDS)
		return ends_are_written(c);
	return nc_inflight_first(&c->inflight, (u64)bit << shift,
				 (((u64)bit + 1) << shift) - 1, &at);
}

/* Step 1.  A writer is in nc_cache.inflight, or made "recent" true again, or is over. */
static bool pick_idle(struct nc_cache *c)
{
	struct nc_intent_maps *maps = c->intent.maps;
	u32 bit;

	bitmap_zero(maps->idle, NC_INTENT_BITS);
	for_each_set_bit(bit, maps->set, NC_INTENT_BITS)
		if (!test_and_clear_bit(bit, maps->recent))
			__set_bit(bit, maps->idle);
	/* Pairs with nc_intent_wait(). */
	smp_mb();
	for_each_set_bit(bit, maps->idle, NC_INTENT_BITS)
		if (is_written(c, bit))
			__clear_bit(bit, maps->idle);
	return !bitmap_empty(maps->idle, NC_INTENT_BITS);
}

/* Step 4.  Who comes later finds the mark gone, and waits for io_lock. */
static bool take_mark(struct nc_intent_maps *maps, u32 bit)
{
	clear_bit(bit, maps->set);
	/* Pairs with nc_intent_wait(). */
	smp_mb();
	if (!test_bit(bit, maps->recent))
		return true;
	set_bit(bit, maps->set);
	return false;
}

/* Both fingerprint and mark with io_lock: a writer that waits may not bring its own
 * mark to the medium in between.
 */
static int renew_ends(struct nc_cache *c)
{
	struct nc_intent *i = &c->intent;
	u8 digest[NC_FINGERPRINT_SIZE];
	int r = 0;

	mutex_lock(&c->life);
	/* An origin that cannot be read keeps the mark. */
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
	mutex_unlock(&c->life);
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

/* What the origin lost it may have lost of any marked region: they stay so. */
static bool settle(struct nc_cache *c)
{
	if (nc_meta_flush_written(c)) {
		nc_invalidate_lost(c);
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
	       READ_ONCE(c->state) != NEARCACHE_BYPASS;
}

void nc_sweep_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work),
					  struct nc_cache, intent.sweep_work);
	struct nc_intent_maps *maps = c->intent.maps;
	int r = 0;

	if (!is_on(c))
		return;
	if (pick_idle(c)) {
		if (!settle(c))
			return;
		if (test_bit(NC_INTENT_ENDS, maps->idle))
			r = renew_ends(c);
		if (!r)
			r = clear_idle(c);
		if (r)
			nc_health_bypass(c, NEARCACHE_REASON_WRITE_INTENT);
	}
	if (is_on(c) && !bitmap_empty(maps->set, NC_INTENT_BITS))
		nc_sweep_arm(c);
}

/**
 * nc_sweep_arm() - a region was marked
 * @c: live cache
 *
 * Context: any.
 */
void nc_sweep_arm(struct nc_cache *c)
{
	queue_delayed_work(c->cache_wq, &c->intent.sweep_work,
			   NC_INTENT_PERIOD);
}

/**
 * nc_sweep_stop() - the cache is being suspended
 * @c: live cache; nobody writes, and nc_cache.life is not held
 *
 * Context: may sleep.
 */
void nc_sweep_stop(struct nc_cache *c)
{
	cancel_delayed_work_sync(&c->intent.sweep_work);
}
