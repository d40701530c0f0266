// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live caches: registry, life cycle, state.
 *
 * device-mapper does not keep two tables from using one cache device: all its
 * opens share one claim.  The registry does.  A live cache belongs to one dm
 * device from the first constructor that names it until the last table is
 * destroyed; the second table of the same dm device (a reload) shares it.
 */
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "cache.h"
#include "fill.h"
#include "invalidate.h"
#include "meta.h"
#include "read.h"
#include "reclaim.h"
#include "trace.h"

static DEFINE_MUTEX(registry_lock);
static LIST_HEAD(registry);

static void raise_event(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, event_work);
	struct nc_target *t = READ_ONCE(c->active);

	if (t)
		dm_table_event(t->ti->table);
}

/**
 * nc_cache_bypass() - stop using the cache device
 * @c: live cache
 * @reason: for the log
 *
 * The one place where the state descends.  Reads go to the origin from now on, and
 * the medium is not marked clean any more; it may say so from before, which
 * nc_meta_is_active() knows.
 *
 * Context: any.
 */
void nc_cache_bypass(struct nc_cache *c, const char *reason)
{
	int old = xchg(&c->state, NEARCACHE_BYPASS);

	if (old == NEARCACHE_BYPASS)
		return;
	DMERR("%s: cache device %u:%u is bypassed: %s", nc_cache_name(c),
	      MAJOR(c->devt), MINOR(c->devt), reason);
	trace_nearcache_mode(c->dm_devt, old,
			     NEARCACHE_BYPASS, reason);
	queue_work(c->wq, &c->event_work);
}

/**
 * nc_cache_error() - account an I/O error of the cache device
 * @c: live cache
 * @what: operation that failed, for the log
 *
 * Context: any.
 */
void nc_cache_error(struct nc_cache *c, const char *what)
{
	DMERR_LIMIT("%s: %s failed on cache device %u:%u", nc_cache_name(c),
		    what, MAJOR(c->devt), MINOR(c->devt));
	if (time_after(jiffies, READ_ONCE(c->error_start) +
				NC_CACHE_ERRORS_PERIOD)) {
		WRITE_ONCE(c->error_start, jiffies);
		atomic_set(&c->error_count, 0);
	}
	if (atomic_inc_return(&c->error_count) >= NC_CACHE_ERRORS_MAX)
		nc_cache_bypass(c, "too many I/O errors");
}

static void set_sizes(struct nc_cache *c)
{
	u64 cache_bytes = c->geo.slot_count * c->geo.block_size;
	u64 tick = max_t(u64, cache_bytes / NC_TICKS_PER_CACHE,
			 c->geo.block_size);

	c->block_shift = ilog2(c->geo.block_size) - SECTOR_SHIFT;
	c->sub_shift = ilog2(c->geo.subblock_size) - SECTOR_SHIFT;
	c->data_start = c->geo.data_offset >> SECTOR_SHIFT;
	c->tick_bytes = tick;
	/* What a CPU may hold back: 1/64 tick keeps the clock fresh, and the
	 * shared counter out of nearly all reads.
	 */
	c->clock_portion = min_t(u64, tick / 64, U32_MAX / 2);
	c->policy_ops->init(&c->policy, c->geo.slot_count,
			    div64_u64(c->geo.origin_size, tick));
}

static void cache_free(struct nc_cache *c)
{
	/* device-mapper does not wait, before it suspends what it removes, for
	 * the end of a map whose bio is complete: it may have started reclaim.
	 */
	cancel_work_sync(&c->reclaim);
	cancel_delayed_work_sync(&c->commit_work);
	cancel_work_sync(&c->event_work);
	if (c->wq)
		destroy_workqueue(c->wq);
	if (c->origin_wq)
		destroy_workqueue(c->origin_wq);
	if (c->cache_wq)
		destroy_workqueue(c->cache_wq);
	nc_index_destroy(&c->index);
	nc_meta_close(c->meta);
	free_percpu(c->stats);
	cleanup_srcu_struct(&c->srcu);
	kfree(c);
}

/* A table for a huge (sparse) device must not push the host out of memory. */
static bool memory_fits(struct nc_cache *c)
{
	u64 need = c->geo.slot_count * (sizeof(struct nc_slot) + sizeof(u32));
	u64 half = (u64)totalram_pages() / 2 * PAGE_SIZE;

	if (need <= half)
		return true;
	DMERR("%s: slot table needs %llu bytes of memory, more than %llu (half): use larger blocks",
	      nc_cache_name(c), need, half);
	return false;
}

/* Everything but the metadata: allocations that may fail. */
static int cache_alloc(struct nc_cache *c)
{
	const char *name = nc_cache_name(c);

	c->stats = alloc_percpu(struct nc_stats);
	c->wq = alloc_workqueue("nearcache/%s", WQ_MEM_RECLAIM, 0, name);
	c->origin_wq = alloc_workqueue("nearcache_o/%s",
				       WQ_MEM_RECLAIM | WQ_UNBOUND, 0, name);
	c->cache_wq = alloc_workqueue("nearcache_c/%s",
				      WQ_MEM_RECLAIM | WQ_UNBOUND, 0, name);
	if (!c->stats || !c->wq || !c->origin_wq || !c->cache_wq ||
	    !memory_fits(c))
		return -ENOMEM;
	return nc_index_init(&c->index, (u32)c->geo.slot_count);
}

static struct nc_cache *cache_new(const struct nc_target *t)
{
	struct nc_cache *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	if (init_srcu_struct(&c->srcu)) {
		kfree(c);
		return NULL;
	}
	c->owner = dm_table_get_md(t->ti->table);
	c->dm_devt = disk_devt(dm_disk(c->owner));
	c->devt = t->dev->bdev->bd_dev;
	c->bdev = t->dev->bdev;
	c->origin = t->origin->bdev;
	c->refs = 1;
	c->writers = nc_target_writes(t);
	mutex_init(&c->life);
	nc_inflight_init(&c->inflight);
	c->state = NEARCACHE_NOT_LOADED;
	c->policy_ops = &nc_policy_keep;
	c->error_start = jiffies;
	init_waitqueue_head(&c->fill_idle);
	spin_lock_init(&c->retry_lock);
	bio_list_init(&c->retry_bios);
	INIT_WORK(&c->retry_work, nc_read_retry_work);
	INIT_WORK(&c->event_work, raise_event);
	INIT_WORK(&c->lost_work, nc_invalidate_lost_work);
	INIT_DELAYED_WORK(&c->commit_work, nc_commit_work);
	INIT_WORK(&c->reclaim, nc_reclaim_work);
	return c;
}

/* Read the superblock and allocate what it asks for. */
static int cache_open(struct nc_cache *c, struct nc_target *t)
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
	r = cache_alloc(c);
	if (r) {
		t->ti->error = "Not enough memory for the slot table";
		return r;
	}
	set_sizes(c);
	return 0;
}

static struct nc_cache *registry_find(dev_t devt)
{
	struct nc_cache *c;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(c, &registry, list)
		if (c->devt == devt)
			return c;
	return NULL;
}

/* Another live cache with the uuid of @c: a copy of its device. */
static struct nc_cache *registry_twin(const struct nc_cache *c)
{
	struct nc_cache *other;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(other, &registry, list)
		if (other != c && other->ready &&
		    !memcmp(other->uuid, c->uuid, sizeof(c->uuid)))
			return other;
	return NULL;
}

static int refuse_busy(struct nc_target *t, struct nc_cache *holder)
{
	DMERR("%s: cache device %s (or a copy of it) is in use by dm device %s",
	      dm_device_name(dm_table_get_md(t->ti->table)), t->dev->name,
	      nc_cache_name(holder));
	t->ti->error = "Cache device or its uuid is in use by another dm device";
	return -EBUSY;
}

/* May @t and the live cache @c stand side by side?  An origin has either one
 * cache that writes, or any number that only read: no cache learns what another
 * one writes.  And no device is both, or a partition of what is.
 */
static char *conflict(const struct nc_cache *c, const struct nc_target *t)
{
	if (nc_overlap(c->origin, t->origin->bdev) &&
	    (c->writers || nc_target_writes(t)))
		return "Origin has another nearcache on it: both must be read-only";
	if (nc_overlap(c->bdev, t->origin->bdev))
		return "Origin is the cache device of another nearcache";
	if (nc_overlap(c->origin, t->dev->bdev))
		return "Cache device is the origin of another nearcache";
	if (nc_overlap(c->bdev, t->dev->bdev))
		return "Cache device overlaps that of another nearcache";
	return NULL;
}

static int registry_check(struct nc_target *t, const struct nc_cache *own)
{
	struct nc_cache *c;
	char *error;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(c, &registry, list) {
		error = c == own ? NULL : conflict(c, t);
		if (!error)
			continue;
		DMERR("%s: origin %s, cache device %s, beside dm device %s: %s",
		      dm_device_name(dm_table_get_md(t->ti->table)),
		      t->origin->name, t->dev->name, nc_cache_name(c), error);
		t->ti->error = error;
		return -EBUSY;
	}
	return 0;
}

/* A reload: share the live cache, if it is the same one. */
static int registry_share(struct nc_cache *c, struct nc_target *t)
{
	int r;

	/* One number, two devices: the live one is gone and not yet let go. */
	if (c->owner != dm_table_get_md(t->ti->table) || !c->ready ||
	    c->bdev != t->dev->bdev)
		return refuse_busy(t, c);
	if (c->origin != t->origin->bdev) {
		DMERR("%s: live cache holds data of origin %pg, not %s: remove, open anew",
		      nc_cache_name(c), c->origin, t->origin->name);
		t->ti->error = "The live cache belongs to another origin";
		return -EINVAL;
	}
	/* Better now than at resume, which might succeed (see mark_active()), or
	 * leave the device suspended.
	 */
	if (nc_target_writes(t) &&
	    READ_ONCE(c->state) == NEARCACHE_BYPASS &&
	    !nc_meta_is_active(c->meta)) {
		t->ti->error = "Cache is bypassed and not marked active: close and open";
		return -EIO;
	}
	r = registry_check(t, c);
	if (r)
		return r;
	c->refs++;
	c->writers += nc_target_writes(t);
	return 0;
}

/* A new entry, which keeps others off until the superblock was judged. */
static struct nc_cache *registry_add(struct nc_target *t)
{
	struct nc_cache *c;
	int r;

	lockdep_assert_held(&registry_lock);
	r = registry_check(t, NULL);
	if (r)
		return ERR_PTR(r);
	c = cache_new(t);
	if (!c) {
		t->ti->error = "Out of memory";
		return ERR_PTR(-ENOMEM);
	}
	list_add(&c->list, &registry);
	return c;
}

static void registry_drop(struct nc_cache *c)
{
	mutex_lock(&registry_lock);
	list_del(&c->list);
	mutex_unlock(&registry_lock);
	cache_free(c);
}

/**
 * nc_cache_get() - claim a cache device for a table
 * @t: target under construction, its devices open; t->ti->error is set on
 *	failure
 *
 * Reads the superblock of a device that is not live, nothing else; not under
 * the registry's mutex, so that a hung device holds up nobody else.
 *
 * Context: constructor; may sleep.
 * Return: the live cache; ERR_PTR(-EBUSY) when another dm device holds this
 * device or a copy of it, or writes or is not to write to the origin, -EINVAL
 * when it is not a sound nearcache device or the live cache belongs to another
 * origin, -EIO, -ENOMEM.
 */
struct nc_cache *nc_cache_get(struct nc_target *t)
{
	struct nc_cache *c, *twin;
	int r = 0;

	mutex_lock(&registry_lock);
	c = registry_find(t->dev->bdev->bd_dev);
	if (c) {
		r = registry_share(c, t);
		mutex_unlock(&registry_lock);
		return r ? ERR_PTR(r) : c;
	}
	c = registry_add(t);
	mutex_unlock(&registry_lock);
	if (IS_ERR(c))
		return c;

	r = cache_open(c, t);
	if (!r) {
		mutex_lock(&registry_lock);
		twin = registry_twin(c);
		if (twin)
			r = refuse_busy(t, twin);
		else
			c->ready = true;
		mutex_unlock(&registry_lock);
	}
	if (r) {
		registry_drop(c);
		return ERR_PTR(r);
	}
	return c;
}

/**
 * nc_cache_put() - a table lets go
 * @c: live cache; no I/O of the table is under way
 * @t: target of the table
 *
 * Context: destructor; may sleep.
 */
void nc_cache_put(struct nc_cache *c, const struct nc_target *t)
{
	bool last;

	mutex_lock(&registry_lock);
	c->writers -= nc_target_writes(t);
	last = !--c->refs;
	if (last)
		list_del(&c->list);
	mutex_unlock(&registry_lock);
	if (last)
		cache_free(c);
}

/* The first resume: nothing but the superblock was read before. */
static int load(struct nc_cache *c)
{
	u32 dma;
	int r;

	c->cache_lbs_mask =
		(bdev_logical_block_size(c->bdev) >> SECTOR_SHIFT) - 1;
	/* See nearcache_io_hints(). */
	dma = bdev_dma_alignment(c->bdev);
	if (c->cache_lbs_mask || dma & ~bdev_dma_alignment(c->origin))
		c->cache_dma_mask = dma;
	r = nc_meta_reread(c);
	if (!r)
		r = nc_meta_load(c);
	if (r == -EIO) {
		nc_cache_bypass(c, "superblock or slot table cannot be read");
		return 0;
	}
	if (r)
		return r;
	WRITE_ONCE(c->state, NEARCACHE_NORMAL);
	trace_nearcache_mode(c->dm_devt, NEARCACHE_NOT_LOADED,
			     NEARCACHE_NORMAL, "loaded");
	DMINFO("%s: %llu of %llu blocks warm", nc_cache_name(c), c->warm,
	       c->geo.slot_count);
	return 0;
}

/* The table may be longer than the origin was: then it has grown. */
static int check_size(struct nc_cache *c, u64 size)
{
	if (size >= c->geo.origin_size)
		return 0;
	DMERR("%s: table is for %llu bytes, the origin has %llu: load a new one",
	      nc_cache_name(c), size, c->geo.origin_size);
	return -EINVAL;
}

/* From here on slots may be overwritten, and in a writing mode the origin.  The
 * latter not without a durable record of it: with a superblock that says clean,
 * the next load would trust what is stale by then.
 */
static int mark_active(struct nc_cache *c, const struct nc_target *t)
{
	bool enough = !nc_target_writes(t) || nc_meta_is_active(c->meta);

	/* A bypassed device is not written without need. */
	if (c->state == NEARCACHE_BYPASS && enough)
		return 0;
	if (!nc_meta_go(c, nc_target_writes(t)))
		return 0;
	nc_cache_bypass(c, "superblock or slot table cannot be written");
	if (enough)
		return 0;
	DMERR("%s: no writing mode: the cache device cannot record that the origin changes",
	      nc_cache_name(c));
	return -EIO;
}

/* The origin has grown, perhaps by the hands of somebody who also wrote to it (a
 * file system was grown elsewhere).  Its ends tell, and will not afterwards: they
 * are others then.
 */
static int drop_if_changed(struct nc_cache *c)
{
	int r;

	if (c->state != NEARCACHE_NORMAL)
		return 0;
	r = nc_meta_origin_changed(c);
	if (r < 0) {
		DMERR("%s: origin %pg cannot be read (%d): not grown",
		      nc_cache_name(c), c->origin, r);
		return r;
	}
	if (!r)
		return 0;
	DMWARN("%s: origin %pg has grown and was changed without us: dropping the cached data",
	       nc_cache_name(c), c->origin);
	nc_invalidate_all(c);
	return 0;
}

/* Go on with the size of the table, and write it with the superblock; a table
 * that cannot go live leaves the old size, so that the old one still fits.
 */
static int start_with_size(struct nc_cache *c, const struct nc_target *t)
{
	u64 size = t->ti->len << SECTOR_SHIFT;
	u64 old = c->geo.origin_size;
	int r;

	if (size != old) {
		r = drop_if_changed(c);
		if (r)
			return r;
		nc_meta_resize(c, size);
	}
	/* The fingerprint, if it is old, before anybody else can change the ends;
	 * not after a suspend that was not to wait for the origin.  What fails now
	 * is tried again at the stop.
	 */
	if (!nc_target_writes(t) && !c->origin_written &&
	    c->state == NEARCACHE_NORMAL)
		nc_meta_settle(c);
	r = mark_active(c, t);
	if (size == old)
		return r;
	if (r)
		nc_meta_resize(c, old);
	else
		DMINFO("%s: origin has grown from %llu to %llu bytes",
		       nc_cache_name(c), old, size);
	return r;
}

/**
 * nc_cache_activate() - the table of @t goes live
 * @c: live cache
 * @t: target
 *
 * Loads the slot table on first use and marks the superblock active or live,
 * durably, before any slot can be overwritten.  A cache device that cannot be read or
 * written is bypassed: the origin is still good.
 *
 * Context: preresume; may sleep, allocates without I/O (the device itself may
 * be what memory is written back to).
 * Return: 0; -EINVAL, -ESTALE or -EIO, which leave the device suspended.
 */
int nc_cache_activate(struct nc_cache *c, struct nc_target *t)
{
	unsigned int noio = memalloc_noio_save();
	int r = 0;

	mutex_lock(&c->life);
	c->active = t;
	c->fill_memory_max = t->fill_memory_max;
	if (c->state == NEARCACHE_NOT_LOADED)
		r = load(c);
	if (!r)
		r = check_size(c, t->ti->len << SECTOR_SHIFT);
	if (!r)
		r = start_with_size(c, t);
	if (r) {
		flush_work(&c->event_work);
		c->active = NULL;
	}
	mutex_unlock(&c->life);
	memalloc_noio_restore(noio);
	return r;
}

/* The medium may say clean only if the origin keeps what it acknowledged: slots
 * hold that, too.
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
		nc_cache_bypass(c, "the slot table cannot be written");
}

/**
 * nc_cache_deactivate() - the live table is suspended
 * @c: live cache; no bio is under way, fills may be
 *
 * Waits for the fills, writes the slot table and marks the superblock clean.
 *
 * Context: postsuspend; may sleep.
 */
void nc_cache_deactivate(struct nc_cache *c)
{
	unsigned int noio = memalloc_noio_save();

	nc_fill_drain(c);
	flush_work(&c->lost_work);
	cancel_work_sync(&c->reclaim);
	flush_work(&c->retry_work);
	mutex_lock(&c->life);
	WARN_ON_ONCE(!nc_inflight_empty(&c->inflight));
	nc_commit_stop(c);
	commit_clean(c);
	flush_work(&c->event_work);
	c->active = NULL;
	mutex_unlock(&c->life);
	memalloc_noio_restore(noio);
}
