// SPDX-License-Identifier: GPL-2.0-only
/* The life cycle of a live cache: new, loaded, live, suspended, freed. */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "cache.h"
#include "io/fill.h"
#include "io/invalidate.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "io/read.h"
#include "evict/reclaim.h"
#include "dm/registry.h"
#include "dm/settings.h"

static void set_sizes(struct nc_cache *c)
{
	u64 cache_bytes = c->geo.slot_count * c->geo.block_size;
	u64 tick = max_t(u64, cache_bytes / NC_TICKS_PER_CACHE,
			 c->geo.block_size);

	c->block_shift = ilog2(c->geo.block_size) - SECTOR_SHIFT;
	c->block_mask = (1U << c->block_shift) - 1;
	c->sub_shift = ilog2(c->geo.subblock_size) - SECTOR_SHIFT;
	c->data_start = c->geo.data_offset >> SECTOR_SHIFT;
	c->tick_bytes = tick;
	/* Bytes that a CPU counts before it updates the shared clock: 1/64 tick keeps the clock
	 * exact enough, and nearly all reads off the shared counter.
	 */
	c->clock_portion = min_t(u64, tick / 64, U32_MAX / 2);
	c->policy_ops->init(&c->policy, c->geo.slot_count,
			    div64_u64(c->geo.origin_size, tick), c->ghost, get_random_u64());
	nc_spread_init(&c->spread, get_random_u64(), c->geo.block_size);
}

/* Free a cache that is not in the registry and not in a table.  May sleep. */
void nc_cache_free(struct nc_cache *c)
{
	/* Both may queue reclaim. */
	nc_prefetch_destroy(c);
	nc_ranges_destroy(c);
	/* On removal device-mapper does not wait for a map function that still runs after its bio
	 * completed: it may have queued reclaim.
	 */
	cancel_work_sync(&c->reclaim);
	nc_foresight_destroy(c);
	cancel_delayed_work_sync(&c->commit_work);
	cancel_delayed_work_sync(&c->scrub.work);
	nc_intent_cancel(c);
	nc_health_destroy(c);
	nc_store_destroy(&c->store);
	if (c->wq)
		destroy_workqueue(c->wq);
	if (c->origin_wq)
		destroy_workqueue(c->origin_wq);
	if (c->cache_wq)
		destroy_workqueue(c->cache_wq);
	nc_intent_destroy(&c->intent);
	nc_index_destroy(&c->index);
	nc_sums_destroy(&c->sums);
	nc_meta_close(c->meta);
	nc_members_free(c);
	nc_streams_destroy(&c->streams);
	kvfree(c->ghost);
	free_percpu(c->stats);
	nc_holds_destroy(&c->holds);
	kfree(c);
}

/* A table for a huge (sparse) device must not push the host out of memory. */
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

/* All allocations that depend on the superblock. */
static int cache_alloc(struct nc_cache *c)
{
	const char *name = nc_cache_name(c);
	int r;

	c->stats = alloc_percpu(struct nc_stats);
	c->ghost = kvzalloc(NC_GHOST_BYTES, GFP_KERNEL);
	c->wq = alloc_workqueue("nearcache/%s", WQ_MEM_RECLAIM, 0, name);
	c->origin_wq = alloc_workqueue("nearcache_o/%s",
				       WQ_MEM_RECLAIM | WQ_UNBOUND, 0, name);
	c->cache_wq = alloc_workqueue("nearcache_c/%s",
				      WQ_MEM_RECLAIM | WQ_UNBOUND, 0, name);
	if (!c->stats || !c->ghost || !c->wq || !c->origin_wq || !c->cache_wq ||
	    !memory_fits(c))
		return -ENOMEM;
	r = nc_prefetch_alloc(c) ?: nc_streams_init(&c->streams) ?: nc_store_start(c);
	if (r)
		return r;
	r = nc_sums_init(&c->sums, &c->geo);
	return r ?: nc_index_init(&c->index, (u32)c->geo.slot_count);
}

/* Constructor: a new cache with only its devices set.  Returns NULL if out of memory. */
struct nc_cache *nc_cache_new(const struct nc_target *t)
{
	struct nc_cache *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	if (nc_members_new(c, t) || nc_holds_init(&c->holds)) {
		nc_members_free(c);
		kfree(c);
		return NULL;
	}
	c->owner = dm_table_get_md(t->ti->table);
	c->dm_devt = disk_devt(dm_disk(c->owner));
	c->devt = t->dev->bdev->bd_dev;
	c->bdev = t->dev->bdev;
	c->origin = t->origin->bdev;
	INIT_LIST_HEAD(&c->targets);
	mutex_init(&c->life);
	nc_inflight_init(&c->inflight);
	nc_intent_init(&c->intent);
	nc_health_init(c);
	nc_outage_init(c);
	nc_scrub_init(&c->scrub);
	nc_ranges_init(c);
	nc_foresight_init(c);
	nc_prefetch_init(c);
	nc_windows_init(c);
	nc_store_init(&c->store);
	c->policy_ops = &nc_policy_keep;
	init_waitqueue_head(&c->fill_idle);
	spin_lock_init(&c->policy_lock);
	spin_lock_init(&c->retry_lock);
	bio_list_init(&c->retry_bios);
	INIT_WORK(&c->retry_work, nc_read_retry_work);
	INIT_WORK(&c->lost_work, nc_invalidate_lost_work);
	INIT_DELAYED_WORK(&c->commit_work, nc_commit_work);
	INIT_WORK(&c->reclaim, nc_reclaim_work);
	return c;
}

/**
 * nc_cache_open() - read the superblock and allocate the memory that it requires
 * @c: new cache
 * @t: target under construction; t->ti->error is set on failure
 *
 * Context: may sleep.
 * Return: 0 or an error code.
 */
int nc_cache_open(struct nc_cache *c, struct nc_target *t)
{
	char why[NC_WHY_SIZE];
	int r;

	c->meta = nc_meta_open(t->dev->bdev, &c->geo, c->uuid, why);
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

/* Alignment that hits need: the dm device has the origin's limits, see nearcache_io_hints(). */
static void set_alignment(struct nc_cache *c)
{
	u32 i, dma = 0, block = 0;

	for (i = 0; i < nc_members_count(c); i++) {
		struct block_device *bdev = nc_members_bdev(c, i);

		dma |= bdev_dma_alignment(bdev);
		block = max(block, bdev_logical_block_size(bdev));
	}
	c->cache_lbs_mask = (block >> SECTOR_SHIFT) - 1;
	c->cache_dma_mask =
		c->cache_lbs_mask || dma & ~bdev_dma_alignment(c->origin) ?
			dma : 0;
	c->picky = c->cache_lbs_mask || c->cache_dma_mask;
}

/* First resume: only the superblock was read before. */
static int load(struct nc_cache *c)
{
	struct nc_known known;
	int r;

	/* Permanent: if this load fails, a successor must not trust the medium either. */
	if (!nc_registry_known(c, &known))
		c->untold = true;
	if (known.flush_owed)
		WRITE_ONCE(c->flush_owed, true);
	r = nc_meta_reread(c);
	if (!r)
		r = nc_meta_load(c, &known);
	WRITE_ONCE(c->load_failed, r && r != -EIO);
	if (r == -EIO) {
		nc_health_bypass(c, NEARCACHE_REASON_READ_METADATA);
		return 0;
	}
	if (r)
		return r;
	WRITE_ONCE(c->spread.on, !c->warm);
	nc_health_loaded(c);
	DMINFO("%s: %llu of %llu blocks warm", nc_cache_name(c), c->warm,
	       c->geo.slot_count);
	return 0;
}

/* Ranges are not stored on the medium: take over those of the predecessor. */
static int load_first(struct nc_cache *c)
{
	int r;

	nc_ranges_inherit(c);
	r = load(c);
	if (!r)
		nc_ranges_loaded(c);
	return r;
}

/* A table longer than the origin's recorded size means that the origin has grown. */
static int check_size(struct nc_cache *c, u64 size)
{
	if (size >= c->geo.origin_size)
		return 0;
	DMERR("%s: table has %llu bytes, the origin has %llu: load a table of the origin's size",
	      nc_cache_name(c), size, c->geo.origin_size);
	return -EINVAL;
}

/* After this slots may be overwritten, and in a writing mode the origin. The superblock must
 * durably say so first: if it still said clean, the next load would trust stale data.
 */
static int mark_active(struct nc_cache *c, const struct nc_target *t)
{
	bool writes = nc_target_writes(t);

	nc_intent_ask_again(c);
	/* Do not write to a bypassed device without need. */
	if (c->state == NEARCACHE_BYPASS &&
	    (!writes || nc_meta_starts_cold(c)))
		return 0;
	if (!nc_meta_go(c, writes)) {
		c->untold = false;
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

/* Until nc_meta_go() has recorded the drop, the medium still describes the dropped data.  If that
 * fails, no later load may trust it.
 */
static void drop_all(struct nc_cache *c)
{
	c->untold = true;
	nc_invalidate_all(c);
}

/* Compare the origin's ends with the fingerprint: another host may have written to it. */
static int drop_if_changed(struct nc_cache *c, const char *since)
{
	int r;

	if (c->state != NEARCACHE_NORMAL)
		return 0;
	r = nc_meta_origin_changed(c);
	if (r < 0) {
		DMERR("%s: origin %pg has %s and cannot be read (%d)",
		      nc_cache_name(c), c->origin, since, r);
		return r;
	}
	if (!r)
		return 0;
	DMWARN("%s: origin %pg has %s and was changed by others: dropping the cached data",
	       nc_cache_name(c), c->origin, since);
	/* Accept the changed origin: the next load compares with the new fingerprint. */
	c->meta->fingerprint_old = true;
	drop_all(c);
	return 0;
}

/* The origin's disk went away, and its volume came back as another block device.  If our writes
 * were not durable, the origin's content is unknown.
 */
static int take_origin(struct nc_cache *c, const struct nc_target *t)
{
	int r = 0;

	if (c->origin != t->origin->bdev) {
		DMINFO("%s: origin is %pg now", nc_cache_name(c),
		       t->origin->bdev);
		c->origin = t->origin->bdev;
		c->origin_new = true;
		c->meta->origin_durable = false;
	}
	set_alignment(c);
	if (!c->origin_new)
		return 0;
	if (c->state == NEARCACHE_BYPASS) {
		/* The medium of a bypassed cache will never be compared with this origin. */
		c->untold = true;
	} else if (nc_meta_unsettled(c)) {
		DMWARN("%s: origin %pg may have lost writes: dropping the cached data",
		       nc_cache_name(c), c->origin);
		drop_all(c);
	} else {
		r = drop_if_changed(c, "come back");
	}
	if (!r)
		c->origin_new = false;
	return r;
}

/* Start with the table's origin size, and record it with the superblock.  If the start fails,
 * restore the old size, so that the old table still fits.
 */
static int start_with_size(struct nc_cache *c, const struct nc_target *t)
{
	u64 size = t->ti->len << SECTOR_SHIFT;
	u64 old = c->geo.origin_size;
	int r;

	if (size != old) {
		/* Compare first: with the new size the ends are others. */
		r = drop_if_changed(c, "grown");
		if (r)
			return r;
		nc_meta_resize(c, size);
		nc_ranges_grown(c, old);
	}
	/* Renew an old fingerprint before another host can change the ends; but not after a noflush
	 * suspend, which must not wait for the origin.  An error is ignored here: the stop tries
	 * again.
	 */
	if ((!nc_target_writes(t) || t->witness) && !c->origin_written &&
	    c->state == NEARCACHE_NORMAL)
		nc_meta_settle(c);
	r = mark_active(c, t);
	if (size == old)
		return r;
	if (r) {
		nc_meta_resize(c, old);
		nc_ranges_grown(c, old);
	} else {
		DMINFO("%s: origin has grown from %llu to %llu bytes",
		       nc_cache_name(c), old, size);
	}
	return r;
}

/**
 * nc_cache_activate() - the table of @t goes live
 * @c: live cache
 * @t: target
 *
 * Loads the slot table on first use, and durably records the session in the superblock
 * before any slot can be overwritten.  If the cache device cannot be read or written, it is
 * bypassed: the origin is still usable.
 *
 * Context: preresume; may sleep, allocates with NOIO (memory may be written back to
 * this same device).
 * Return: 0; -EINVAL, -ESTALE or -EIO, which leave the device suspended.
 */
int nc_cache_activate(struct nc_cache *c, struct nc_target *t)
{
	unsigned int noio = memalloc_noio_save();
	int r = 0;

	mutex_lock(&c->life);
	c->active = t;
	nc_tune_apply(t);
	if (c->state == NEARCACHE_NOT_LOADED)
		r = load_first(c);
	if (!r)
		r = take_origin(c, t);
	if (!r)
		r = check_size(c, t->ti->len << SECTOR_SHIFT);
	if (!r)
		r = start_with_size(c, t);
	if (r) {
		flush_work(&c->health.event);
		c->active = NULL;
	} else {
		c->was_live = true;
		WRITE_ONCE(c->reclaim_on, true);
		nc_reclaim_check(c);
		nc_foresight_kick(c);
		nc_scrub_resume(c);
		nc_prefetch_resume(c);
		nc_windows_resume(c);
		nc_ranges_live(c);
	}
	mutex_unlock(&c->life);
	nc_registry_changed();
	memalloc_noio_restore(noio);
	return r;
}

/* The medium may say clean only if the origin's acknowledged writes are durable: slots hold them as
 * well.
 */
static void commit_clean(struct nc_cache *c)
{
	int r;

	if (c->state != NEARCACHE_NORMAL)
		return;
	if (c->active->noflush && nc_meta_unsettled(c)) {
		DMINFO("%s: suspended without flushing the origin: not marked clean",
		       nc_cache_name(c));
		return;
	}
	r = nc_meta_settle(c);
	if (r)
		DMERR("%s: origin %pg cannot be flushed or read (%d): not marked clean",
		      nc_cache_name(c), c->origin, r);
	else if (nc_meta_stop(c))
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
}

/* Clear reclaim_on under @life: a change of ranges may queue reclaim meanwhile. */
static void stop_reclaim(struct nc_cache *c)
{
	mutex_lock(&c->life);
	WRITE_ONCE(c->reclaim_on, false);
	mutex_unlock(&c->life);
	cancel_work_sync(&c->reclaim);
}

/**
 * nc_cache_deactivate() - the live table is suspended
 * @c: live cache; no bio is in flight, fills may be
 *
 * Waits for the fills, writes the slot table and marks the superblock clean.
 *
 * Context: postsuspend; may sleep.
 */
void nc_cache_deactivate(struct nc_cache *c)
{
	unsigned int noio = memalloc_noio_save();

	nc_scrub_pause(c);
	nc_prefetch_pause(c);
	nc_windows_pause(c);
	nc_fill_drain(c);
	flush_work(&c->lost_work);
	stop_reclaim(c);
	flush_work(&c->retry_work);
	nc_intent_stop(c);
	/* The sweep may have found a failed flush, and queued lost_work. */
	flush_work(&c->lost_work);
	cancel_delayed_work_sync(&c->outage.again);
	mutex_lock(&c->life);
	WARN_ON_ONCE(!nc_inflight_empty(&c->inflight));
	nc_commit_stop(c);
	nc_health_stop(c);
	commit_clean(c);
	flush_work(&c->health.event);
	flush_work(&c->intent.leave_work);
	c->active = NULL;
	mutex_unlock(&c->life);
	nc_registry_changed();
	memalloc_noio_restore(noio);
}
