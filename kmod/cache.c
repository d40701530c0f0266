// SPDX-License-Identifier: GPL-2.0-only
/* The life cycle of a live cache: new, loaded, live, suspended, freed. */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "cache.h"
#include "cache_sleep.h"
#include "core/probe.h"
#include "core/sleep.h"
#include "io/fill.h"
#include "io/invalidate.h"
#include "meta/write_intent_clear.h"
#include "meta/write_intent_leave.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "meta/reread.h"
#include "meta/recorded_fingerprint.h"
#include "io/read.h"
#include "prefetch/throttle.h"
#include "evict/reclaim.h"

static void set_sizes(struct nc_cache *c)
{
	u64 cache_bytes = c->geo.slot_count * c->geo.block_size;
	u64 tick = max_t(u64, cache_bytes / NC_TICKS_PER_CACHE,
			 c->geo.block_size);

	c->hot.block_shift = ilog2(c->geo.block_size) - SECTOR_SHIFT;
	c->hot.block_mask = (1U << c->hot.block_shift) - 1;
	c->hot.sub_shift = ilog2(c->geo.subblock_size) - SECTOR_SHIFT;
	c->hot.data_start = c->geo.data_offset >> SECTOR_SHIFT;
	c->hot.tick_bytes = tick;
	/* Bytes that a CPU counts before it updates the shared clock: with 1/64 tick the clock is
	 * exact enough, and few reads write the shared counter.
	 */
	c->hot.clock_portion = min_t(u64, tick / 64, U32_MAX / 2);
	c->hot.policy_ops->init(&c->policy.keep, c->geo.slot_count,
				div64_u64(c->geo.origin_size, tick), c->policy.ghost,
				get_random_u64());
	retain_init(&c->policy.retain, get_random_u64(), c->geo.block_size);
}

/* Free a cache that is not in the registry and not in a table.  May sleep. */
void nc_cache_free(struct nc_cache *c)
{
	/* Prefetch and ranges may queue reclaim: stop them before it is cancelled. */
	nc_prefetch_destroy(c);
	nc_ranges_destroy(c);
	nc_plan_stop_works(c);
	/* A map function that still runs after its bio completed may have queued reclaim:
	 * device-mapper does not wait for such a function on removal.
	 */
	cancel_work_sync(&c->reclaim.work);
	nc_plan_destroy(c);
	cancel_delayed_work_sync(&c->workers.commit);
	cancel_work_sync(&c->workers.wake);
	cancel_work_sync(&c->workers.hold);
	cancel_delayed_work_sync(&c->scrub.work);
	nc_intent_cancel(c);
	nc_health_destroy(c);
	nc_fill_writer_destroy(&c->fills.writer);
	if (c->workers.completion)
		destroy_workqueue(c->workers.completion);
	if (c->workers.origin)
		destroy_workqueue(c->workers.origin);
	if (c->workers.cache)
		destroy_workqueue(c->workers.cache);
	if (c->workers.probe)
		destroy_workqueue(c->workers.probe);
	nc_intent_destroy(&c->intent);
	nc_index_destroy(&c->index);
	nc_sums_destroy(&c->sums);
	nc_meta_close(c->meta);
	nc_members_free(c);
	nc_streams_destroy(&c->streams);
	kvfree(c->policy.ghost);
	free_percpu(c->hot.counters);
	nc_hit_srcu_destroy(&c->hot.hit_srcu);
	kfree(c);
}

/* Refuse a huge (sparse) cache device, whose metadata would use up the memory of the host. */
static bool memory_fits(struct nc_cache *c)
{
	u64 need = nc_index_memory(c->geo.slot_count) + c->geo.sums_length;
	u64 half = (u64)totalram_pages() / 2 * PAGE_SIZE;

	if (need <= half)
		return true;
	DMERR("%s: metadata needs %llu bytes of memory, more than %llu (half): use larger blocks",
	      nc_cache_name(c), need, half);
	return false;
}

/* Allocate all memory whose size depends on the superblock. */
static int cache_alloc(struct nc_cache *c)
{
	const char *name = nc_cache_name(c);
	int r;

	c->hot.counters = alloc_percpu(struct nc_counters);
	c->policy.ghost = kvzalloc(NC_GHOST_BYTES, GFP_KERNEL);
	c->workers.completion = alloc_workqueue("nearcache/%s",
						WQ_MEM_RECLAIM | NC_WQ_PERCPU, 0, name);
	c->workers.origin = alloc_workqueue("nearcache_o/%s",
					    WQ_MEM_RECLAIM | WQ_UNBOUND, 0, name);
	c->workers.cache = alloc_workqueue("nearcache_c/%s",
					   WQ_MEM_RECLAIM | WQ_UNBOUND, 0, name);
	c->workers.probe = alloc_workqueue("nearcache_b/%s",
					   WQ_MEM_RECLAIM | WQ_HIGHPRI | NC_WQ_PERCPU, 0, name);
	if (!c->hot.counters || !c->policy.ghost || !c->workers.completion ||
	    !c->workers.origin || !c->workers.cache || !c->workers.probe || !memory_fits(c))
		return -ENOMEM;
	r = nc_prefetch_alloc(c) ?: nc_plan_alloc_works(c) ?: nc_streams_init(&c->streams);
	r = r ?: nc_fill_writer_start(c);
	r = r ?: nc_probes_alloc(c);
	if (r)
		return r;
	r = nc_sums_init(&c->sums, &c->geo);
	return r ?: nc_index_init(&c->index, (u32)c->geo.slot_count);
}

/* nc_health_ops.left.  Updates the witness.  Ends the plan, and jobs that wait for a slot, because
 * no fill starts any more.
 */
static void device_left(struct nc_cache *c)
{
	nc_intent_leave(c);
	nc_plan_kick(c);
	nc_reserve_wake(c);
}

static const struct nc_health_ops health_ops = {
	.left = device_left,
};

static const struct nc_intent_ops intent_ops = {
	.flush_lost = nc_invalidate_lost,
};

/* nc_ranges_ops.retagged.  A slot that gets a pin leaves the prefetch reserve.  The plan skips
 * pinned slots, so it must learn of a slot that lost its pin and may be evicted.
 */
static void slot_retagged(struct nc_cache *c, struct nc_slot *slot, bool was, bool pin)
{
	if (pin)
		nc_prefetched_stays(c, slot);
	else if (was && nc_plan_any(c))
		nc_plan_took(c, nc_slot_block(slot), false, false);
}

static void ranges_changed(struct nc_cache *c)
{
	nc_slots_look_again(c);
	nc_slots_check(c);
	nc_reserve_wake(c);
}

static const struct nc_ranges_ops ranges_ops = {
	.retagged = slot_retagged,
	.changed = ranges_changed,
};

/* Constructor: a new cache with only its devices set.  Returns NULL if out of memory. */
struct nc_cache *nc_cache_new(const struct nc_target *t)
{
	struct nc_cache *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	if (nc_members_new(c, t) || nc_hit_srcu_init(&c->hot.hit_srcu)) {
		nc_members_free(c);
		kfree(c);
		return NULL;
	}
	c->dev.owner = dm_table_get_md(t->ti->table);
	c->dev.dm_devt = disk_devt(dm_disk(c->dev.owner));
	c->dev.devt = t->dev->bdev->bd_dev;
	c->dev.bdev = t->dev->bdev;
	c->origin.bdev = t->origin->bdev;
	INIT_LIST_HEAD(&c->reg.targets);
	mutex_init(&c->life.lock);
	nc_write_ranges_init(&c->write_ranges);
	nc_intent_init(&c->intent, &intent_ops);
	INIT_DELAYED_WORK(&c->intent.clear_work, nc_intent_clear_work);
	INIT_WORK(&c->intent.leave_work, nc_intent_leave_work);
	nc_health_init(c, &health_ops);
	nc_origin_retry_init(c);
	nc_scrub_init(&c->scrub);
	nc_ranges_init(c, &ranges_ops);
	nc_plan_init(c);
	nc_prefetch_init(c);
	nc_readahead_init(c);
	c->streams.ask_window = nc_readahead_ask;
	nc_fill_writer_init(&c->fills.writer);
	c->hot.policy_ops = &nc_policy_keep;
	init_waitqueue_head(&c->fills.idle);
	spin_lock_init(&c->policy.lock);
	nc_retry_init(&c->retry, nc_read_retry_work);
	INIT_WORK(&c->workers.drop_all, nc_invalidate_lost_work);
	INIT_WORK(&c->workers.wake, nc_cache_wake_work);
	INIT_WORK(&c->workers.hold, nc_cache_hold_work);
	INIT_DELAYED_WORK(&c->workers.commit, nc_commit_work);
	INIT_WORK(&c->reclaim.work, nc_reclaim_work);
	return c;
}

/**
 * nc_cache_open() - read the superblock and allocate the memory that it requires
 * @c: new cache
 * @t: target under construction; t->ti->error is set on failure
 *
 * Context: may sleep.
 * Return: 0 or an error code; on error the caller calls nc_cache_free().
 */
int nc_cache_open(struct nc_cache *c, struct nc_target *t)
{
	char why[NC_WHY_SIZE];
	int r;

	c->meta = nc_meta_open(t->dev->bdev, &c->geo, c->dev.uuid, why);
	if (IS_ERR(c->meta)) {
		r = PTR_ERR(c->meta);
		c->meta = NULL;
		DMERR("%s: cache device %s: %s", nc_cache_name(c),
		      t->dev->name, why);
		t->ti->error = "Cache device refused, see the kernel log";
		return r;
	}
	r = nc_members_open(c, t);
	if (r)
		return r;
	r = cache_alloc(c);
	if (r) {
		t->ti->error = "Not enough memory for the slot table";
		return r;
	}
	set_sizes(c);
	return 0;
}

/* Compute the alignment that hits need.  The dm device has the origin's limits, and cache devices
 * may have stricter ones, see nearcache_io_hints().
 */
static void set_alignment(struct nc_cache *c)
{
	u32 i, dma = 0, block = 0;

	for (i = 0; i < nc_members_count(c); i++) {
		struct block_device *bdev = nc_members_bdev(c, i);

		dma |= bdev_dma_alignment(bdev);
		block = max(block, bdev_logical_block_size(bdev));
	}
	c->hot.lbs_mask = (block >> SECTOR_SHIFT) - 1;
	c->hot.dma_mask =
		c->hot.lbs_mask || dma & ~bdev_dma_alignment(c->origin.bdev) ?
			dma : 0;
	c->hot.needs_alignment = c->hot.lbs_mask || c->hot.dma_mask;
}

/* Load the cache at the first resume: the constructor read only the superblock. */
static int cache_load(struct nc_cache *c, const struct nc_known *known)
{
	int r;

	/* dirty_unrecorded stays set if this load fails: no later cache may trust the medium. */
	if (known->doubtful)
		c->life.dirty_unrecorded = true;
	if (known->flush_owed)
		WRITE_ONCE(c->origin.flush_owed, true);
	r = nc_meta_reread(c);
	if (!r)
		r = nc_meta_load(c, known);
	WRITE_ONCE(c->life.load_failed, r && r != -EIO);
	if (r == -EIO) {
		nc_health_bypass(c, NEARCACHE_REASON_READ_METADATA);
		return 0;
	}
	if (r)
		return r;
	WRITE_ONCE(c->policy.retain.on, !c->life.warm);
	nc_health_loaded(c);
	DMINFO("%s: %llu of %llu blocks warm", nc_cache_name(c), c->life.warm,
	       c->geo.slot_count);
	return 0;
}

/* Refuse a table shorter than the recorded size of the origin: an origin may only grow. */
static int check_size(struct nc_cache *c, u64 size)
{
	if (size >= c->geo.origin_size)
		return 0;
	DMERR("%s: table has %llu bytes, the origin has %llu: load a table of the origin's size",
	      nc_cache_name(c), size, c->geo.origin_size);
	return -EINVAL;
}

/* Record on the medium that slots, and in a writing mode the origin, may be overwritten next.  If
 * the superblock still said clean, the next load would trust stale data.
 */
static int mark_active(struct nc_cache *c, const struct nc_target *t)
{
	bool writes = nc_target_writes(t);

	nc_intent_ask_again(c);
	/* Leave a bypassed device alone, unless the next load would then not notice writes. */
	if (c->hot.state == NEARCACHE_BYPASS &&
	    (!writes || nc_meta_starts_cold(c)))
		return 0;
	/* Flush the origin: cached copies of data that others wrote outlive this session, and must
	 * not be newer than the origin after a power cut.
	 */
	if (!c->meta->origin_durable)
		c->meta->origin_durable = nc_invalidate_unless_flushed(c);
	/* After a failed nc_meta_reread() the medium may be another cache's: write nothing. */
	if (c->meta->super.read && !nc_meta_go(c, writes)) {
		c->life.dirty_unrecorded = false;
		return 0;
	}
	nc_health_bypass(c, NEARCACHE_REASON_WRITE_SUPER);
	nc_intent_ask_again(c);
	if (!writes || nc_meta_starts_cold(c))
		return 0;
	DMERR("%s: cannot start in a writing mode: the cache device cannot record it",
	      nc_cache_name(c));
	return -EIO;
}

/* Drop all cached data.  Until nc_meta_go() records the drop, the medium describes dropped data, so
 * no later load may trust the medium if nc_meta_go() fails.
 */
void nc_cache_drop_all(struct nc_cache *c)
{
	c->life.dirty_unrecorded = true;
	nc_invalidate_all(c);
}

/* Drop all cached data if the fingerprint shows writes of others.  Return: 0 or the read error. */
static int drop_if_changed(struct nc_cache *c, const char *since)
{
	int r;

	if (c->hot.state != NEARCACHE_NORMAL)
		return 0;
	r = nc_meta_origin_changed(c);
	if (r < 0) {
		DMERR("%s: origin %pg has %s and cannot be read (%d)",
		      nc_cache_name(c), c->origin.bdev, since, r);
		return r;
	}
	if (!r)
		return 0;
	DMWARN("%s: origin %pg has %s and was changed by others: dropping the cached data",
	       nc_cache_name(c), c->origin.bdev, since);
	/* Accept the changed origin: the next load shall compare with a new fingerprint. */
	c->meta->fingerprint_old = true;
	nc_cache_drop_all(c);
	return 0;
}

/* Switch to the table's origin device: the origin's disk may have come back as another block
 * device.  If writes of this cache were not durable, the origin's content is unknown.
 */
static int take_origin(struct nc_cache *c, const struct nc_target *t)
{
	int r = 0;

	if (c->origin.bdev != t->origin->bdev) {
		DMINFO("%s: origin is %pg now", nc_cache_name(c),
		       t->origin->bdev);
		c->origin.bdev = t->origin->bdev;
		c->origin.replaced = true;
		c->meta->origin_durable = false;
	}
	set_alignment(c);
	if (!c->origin.replaced)
		return 0;
	if (c->hot.state == NEARCACHE_BYPASS) {
		/* A bypassed cache is not compared with this origin: never trust its medium. */
		c->life.dirty_unrecorded = true;
	} else if (nc_meta_unsettled(c)) {
		DMWARN("%s: origin %pg may have lost writes: dropping the cached data",
		       nc_cache_name(c), c->origin.bdev);
		nc_cache_drop_all(c);
	} else {
		r = drop_if_changed(c, "come back");
	}
	if (!r)
		c->origin.replaced = false;
	return r;
}

/* Flush the origin and take its fingerprint.  Slots may hold data that the origin acknowledged but
 * would lose in a power cut.  After a failed flush, which the origin may report only once, its
 * content is unknown: drop all cached data before the superblock is written.  Returns 0 or an
 * error; after an error the cache must not be marked clean.
 */
int nc_cache_settle_origin(struct nc_cache *c)
{
	int r = 0;

	if (!nc_meta_unsettled(c))
		return 0;
	if (c->origin.written) {
		r = nc_meta_flush_written(c);
		if (c->meta->flush_failed)
			nc_invalidate_all(c);
	}
	return r ?: nc_meta_settle(c);
}

static void resize_table(struct nc_cache *c, u64 size)
{
	u64 old = c->geo.origin_size;

	nc_invalidate_tail(c);
	nc_meta_resize(c, size);
	nc_ranges_grown(c, min(old, size));
}

/* Start with the table's origin size, and record it with the superblock.  If the start fails,
 * restore the old size, so that the old dm table still fits.
 */
int nc_cache_start(struct nc_cache *c, const struct nc_target *t)
{
	u64 size = t->ti->len << SECTOR_SHIFT;
	u64 old = c->geo.origin_size;
	int r;

	if (size != old) {
		/* Compare before the size changes: the fingerprint covers the old end. */
		r = drop_if_changed(c, "grown");
		if (r)
			return r;
		resize_table(c, size);
	}
	/* Renew an old fingerprint before another host can change the origin; not after a noflush
	 * suspend, which must not wait for the origin.  Ignore an error: the stop tries again.
	 */
	if ((!nc_target_writes(t) || t->witness) && !c->origin.written &&
	    c->hot.state == NEARCACHE_NORMAL)
		nc_cache_settle_origin(c);
	r = mark_active(c, t);
	if (size == old)
		return r;
	if (r)
		resize_table(c, old);
	else
		DMINFO("%s: origin has grown from %llu to %llu bytes",
		       nc_cache_name(c), old, size);
	return r;
}

/* Let the background work of a live cache run, unless the system sleeps or is about to. */
void nc_cache_start_work(struct nc_cache *c)
{
	lockdep_assert_held(&c->life.lock);
	WRITE_ONCE(c->life.asleep, nc_sleep_phase() != NC_SLEEP_AWAKE);
	if (c->life.asleep)
		return;
	WRITE_ONCE(c->life.doubted, false);
	WRITE_ONCE(c->reclaim.enabled, true);
	nc_slots_check(c);
	nc_plan_kick(c);
	nc_scrub_resume(c);
	nc_prefetch_resume(c);
	nc_readahead_resume(c);
}

/* Highest cap of the fill memory.  Unless the operator has set the cap, it may grow for jobs up to
 * 1 % of the machine's memory, if that is more than the default.
 */
static u64 fill_memory_most(const struct nc_target *t)
{
	u64 percent = (u64)totalram_pages() / 100 * PAGE_SIZE;

	return t->fill_memory_given ? t->fill_memory_max : max(t->fill_memory_max, percent);
}

/* Apply the settings of a live table, also while I/O runs: each user of a setting reads the old or
 * the new value.  Context: nc_life.lock.
 */
void nc_cache_apply_settings(const struct nc_target *t)
{
	struct nc_cache *c = t->cache;

	lockdep_assert_held(&c->life.lock);
	nc_throttle_set_memory(c, t->fill_memory_max, fill_memory_most(t));
	WRITE_ONCE(c->health.cache_timeout, t->cache_timeout);
	WRITE_ONCE(c->hot.verify, t->verify);
	WRITE_ONCE(c->hot.checks, t->verify || nc_sums_present(&c->sums));
}

/**
 * nc_cache_activate() - the table of @t goes live
 * @c: live cache
 * @t: target
 * @known: knowledge of earlier caches about the medium, for the first activation
 *
 * Loads the slot table on first use, and durably marks the superblock as active (writing or live)
 * before any slot can be overwritten.  A cache device that cannot be read or written is
 * bypassed: the origin is still good.
 *
 * Context: preresume; may sleep.  The caller has called memalloc_noio_save(), because memory may be
 * written back to this device.
 * Return: 0; -EINVAL, -ESTALE or -EIO, which leave the device suspended.
 */
int nc_cache_activate(struct nc_cache *c, struct nc_target *t, const struct nc_known *known)
{
	bool loaded = false;
	int r = 0;

	mutex_lock(&c->life.lock);
	/* Pairs with visits of the registry, which take no lock. */
	smp_store_release(&c->life.active, t);
	c->life.stopping = false;
	nc_cache_apply_settings(t);
	if (c->hot.state == NEARCACHE_NOT_LOADED) {
		c->life.images = nc_sleep_images();
		r = cache_load(c, known);
		if (!r)
			nc_ranges_loaded(c);
	} else {
		loaded = true;
	}
	if (!r)
		r = take_origin(c, t);
	if (!r && loaded)
		nc_cache_compare(c);
	if (!r)
		r = check_size(c, t->ti->len << SECTOR_SHIFT);
	if (!r)
		r = nc_cache_start(c, t);
	if (r) {
		flush_work(&c->health.event);
		WRITE_ONCE(c->life.active, NULL);
	} else {
		c->life.was_live = true;
		nc_intent_accept(c);
		nc_cache_start_work(c);
		nc_ranges_live(c);
	}
	mutex_unlock(&c->life.lock);
	return r;
}

/* Mark the medium clean, but only if the origin's acknowledged writes are durable, because slots
 * hold copies of them.
 */
static void commit_clean(struct nc_cache *c)
{
	int r;

	if (c->hot.state != NEARCACHE_NORMAL)
		return;
	if (c->life.images != nc_sleep_images()) {
		DMINFO("%s: suspended before the cache device was compared: not marked clean",
		       nc_cache_name(c));
		return;
	}
	if (c->life.active->noflush && nc_meta_unsettled(c)) {
		DMINFO("%s: suspended without flushing the origin: not marked clean",
		       nc_cache_name(c));
		return;
	}
	r = nc_cache_settle_origin(c);
	if (r)
		DMERR("%s: origin %pg cannot be flushed or read (%d): not marked clean",
		      nc_cache_name(c), c->origin.bdev, r);
	else if (nc_meta_stop(c))
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
}

/* Stop reclaim.  A change of ranges queues reclaim under nc_life.lock, so clear the flag there. */
static void stop_reclaim(struct nc_cache *c)
{
	mutex_lock(&c->life.lock);
	WRITE_ONCE(c->reclaim.enabled, false);
	mutex_unlock(&c->life.lock);
	cancel_work_sync(&c->reclaim.work);
	nc_reclaim_settle(c);
}

/**
 * nc_cache_deactivate() - suspend the cache together with its live table
 * @c: live cache; no bio is in flight, but fills may be
 *
 * Waits for the fills, writes the slot table and marks the superblock clean.
 *
 * Context: postsuspend; may sleep.
 */
void nc_cache_deactivate(struct nc_cache *c)
{
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&c->life.lock);
	c->life.stopping = true;
	mutex_unlock(&c->life.lock);
	nc_scrub_pause(c);
	nc_prefetch_pause(c);
	nc_readahead_pause(c);
	nc_fill_drain(c);
	flush_work(&c->workers.drop_all);
	stop_reclaim(c);
	flush_work(&c->retry.work);
	nc_intent_stop(c);
	/* Flush again: write_intent_clear.c may have queued drop_all after a failed flush. */
	flush_work(&c->workers.drop_all);
	cancel_delayed_work_sync(&c->origin_retry.again);
	mutex_lock(&c->life.lock);
	WARN_ON_ONCE(!nc_write_ranges_empty(&c->write_ranges));
	nc_commit_stop(c);
	nc_health_stop(c);
	commit_clean(c);
	flush_work(&c->health.event);
	flush_work(&c->intent.leave_work);
	WRITE_ONCE(c->life.active, NULL);
	mutex_unlock(&c->life.lock);
	memalloc_noio_restore(noio);
}
