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
 * The one place where the state descends.  Reads go to the origin from now on;
 * what is on the device stays there but is not marked clean, so that the next
 * load does not trust it.
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
	schedule_work(&c->event_work);
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

static struct nc_cache *cache_new(struct mapped_device *owner,
				  struct dm_dev *dev, struct dm_dev *origin)
{
	struct nc_cache *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	if (init_srcu_struct(&c->srcu)) {
		kfree(c);
		return NULL;
	}
	c->owner = owner;
	c->dm_devt = disk_devt(dm_disk(owner));
	c->devt = dev->bdev->bd_dev;
	c->origin_devt = origin->bdev->bd_dev;
	c->refs = 1;
	c->state = NEARCACHE_NOT_LOADED;
	c->policy_ops = &nc_policy_keep;
	c->error_start = jiffies;
	init_waitqueue_head(&c->fill_idle);
	spin_lock_init(&c->retry_lock);
	bio_list_init(&c->retry_bios);
	INIT_WORK(&c->retry_work, nc_read_retry_work);
	INIT_WORK(&c->event_work, raise_event);
	INIT_WORK(&c->reclaim, nc_reclaim_work);
	return c;
}

/* Read the superblock and allocate what it asks for. */
static int cache_open(struct nc_cache *c, struct dm_target *ti,
		      struct dm_dev *dev)
{
	char why[NC_WHY_SIZE];
	int r;

	c->meta = nc_meta_open(dev->bdev, &c->geo, c->uuid, why);
	if (IS_ERR(c->meta)) {
		r = PTR_ERR(c->meta);
		c->meta = NULL;
		DMERR("%s: cache device %s: %s", nc_cache_name(c), dev->name,
		      why);
		ti->error = "Cache device refused, see the kernel log";
		return r;
	}
	r = cache_alloc(c);
	if (r) {
		ti->error = "Not enough memory for the slot table";
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

static int refuse_busy(struct dm_target *ti, struct dm_dev *dev,
		       struct nc_cache *holder)
{
	DMERR("%s: cache device %s (or a copy of it) is in use by dm device %s",
	      dm_device_name(dm_table_get_md(ti->table)), dev->name,
	      nc_cache_name(holder));
	ti->error = "Cache device or its uuid is in use by another dm device";
	return -EBUSY;
}

/* A reload: share the live cache, if it is the same one. */
static int registry_share(struct nc_cache *c, struct dm_target *ti,
			  struct dm_dev *dev, struct dm_dev *origin)
{
	if (c->owner != dm_table_get_md(ti->table) || !c->ready)
		return refuse_busy(ti, dev, c);
	if (c->origin_devt != origin->bdev->bd_dev) {
		DMERR("%s: live cache holds data of origin %u:%u, not %s: remove, open anew",
		      nc_cache_name(c), MAJOR(c->origin_devt),
		      MINOR(c->origin_devt), origin->name);
		ti->error = "The live cache belongs to another origin";
		return -EINVAL;
	}
	c->refs++;
	return 0;
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
 * @ti: target under construction; ti->error is set on failure
 * @dev: cache device, open
 * @origin: origin, open
 *
 * Reads the superblock of a device that is not live, nothing else; not under
 * the registry's mutex, so that a hung device holds up nobody else.
 *
 * Context: constructor; may sleep.
 * Return: the live cache; ERR_PTR(-EBUSY) when another dm device holds this
 * device or a copy of it, -EINVAL when it is not a sound nearcache device or
 * the live cache belongs to another origin, -EIO, -ENOMEM.
 */
struct nc_cache *nc_cache_get(struct dm_target *ti, struct dm_dev *dev,
			      struct dm_dev *origin)
{
	struct nc_cache *c, *twin;
	int r = 0;

	mutex_lock(&registry_lock);
	c = registry_find(dev->bdev->bd_dev);
	if (c) {
		r = registry_share(c, ti, dev, origin);
		mutex_unlock(&registry_lock);
		return r ? ERR_PTR(r) : c;
	}
	c = cache_new(dm_table_get_md(ti->table), dev, origin);
	if (c)
		list_add(&c->list, &registry);
	mutex_unlock(&registry_lock);
	if (!c) {
		ti->error = "Out of memory";
		return ERR_PTR(-ENOMEM);
	}

	r = cache_open(c, ti, dev);
	if (!r) {
		mutex_lock(&registry_lock);
		twin = registry_twin(c);
		if (twin)
			r = refuse_busy(ti, dev, twin);
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
 *
 * Context: destructor; may sleep.
 */
void nc_cache_put(struct nc_cache *c)
{
	bool last;

	mutex_lock(&registry_lock);
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
	int r;

	c->cache_lbs_mask =
		(bdev_logical_block_size(c->active->dev->bdev) >> SECTOR_SHIFT) - 1;
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

/**
 * nc_cache_activate() - the table of @t goes live
 * @c: live cache
 * @t: target
 *
 * Loads the slot table on first use and marks the superblock active, durably,
 * before any slot can be overwritten.  A cache device that cannot be read or
 * written is bypassed: the origin is still good.
 *
 * Context: preresume; may sleep, allocates without I/O (the device itself may
 * be what memory is written back to).
 * Return: 0; -EINVAL or -ESTALE, which leave the device suspended.
 */
int nc_cache_activate(struct nc_cache *c, struct nc_target *t)
{
	unsigned int noio = memalloc_noio_save();
	int r = 0;

	c->active = t;
	c->fill_memory_max = t->fill_memory_max;
	if (c->state == NEARCACHE_NOT_LOADED)
		r = load(c);
	if (c->state == NEARCACHE_NORMAL && nc_meta_mark_active(c))
		nc_cache_bypass(c, "the superblock cannot be written");
	if (r)
		c->active = NULL;
	memalloc_noio_restore(noio);
	return r;
}

/**
 * nc_cache_deactivate() - the live table is suspended
 * @c: live cache; no read is under way, fills may be
 *
 * Waits for the fills, writes the slot table and marks the superblock clean.
 *
 * Context: postsuspend; may sleep.
 */
void nc_cache_deactivate(struct nc_cache *c)
{
	unsigned int noio = memalloc_noio_save();

	nc_fill_drain(c);
	cancel_work_sync(&c->reclaim);
	flush_work(&c->retry_work);
	if (c->state == NEARCACHE_NORMAL && nc_meta_commit_clean(c))
		nc_cache_bypass(c, "the slot table cannot be written");
	flush_work(&c->event_work);
	c->active = NULL;
	memalloc_noio_restore(noio);
}
