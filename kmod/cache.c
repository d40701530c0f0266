// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live caches: registry, life cycle, state.
 *
 * device-mapper does not keep two tables from using one cache device: all its
 * opens share one claim.  The registry does.  A live cache belongs to one dm
 * device from the first constructor that names it until the last table is
 * destroyed; the second table of the same dm device (a reload) shares it.
 */
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
	nc_index_destroy(&c->index);
	nc_meta_close(c->meta);
	free_percpu(c->stats);
	cleanup_srcu_struct(&c->srcu);
	kfree(c);
}

/* Everything but the metadata: allocations that may fail. */
static int cache_alloc(struct nc_cache *c)
{
	c->stats = alloc_percpu(struct nc_stats);
	if (!c->stats)
		return -ENOMEM;
	c->wq = alloc_workqueue("nearcache/%s", WQ_MEM_RECLAIM, 0,
				nc_cache_name(c));
	if (!c->wq)
		return -ENOMEM;
	return nc_index_init(&c->index, (u32)c->geo.slot_count);
}

static struct nc_cache *cache_new(struct dm_target *ti, struct dm_dev *dev)
{
	char why[NC_WHY_SIZE];
	struct nc_cache *c;
	int r;

	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return ERR_PTR(-ENOMEM);
	r = init_srcu_struct(&c->srcu);
	if (r) {
		kfree(c);
		return ERR_PTR(r);
	}
	c->owner = dm_table_get_md(ti->table);
	c->dm_devt = disk_devt(dm_disk(c->owner));
	c->devt = dev->bdev->bd_dev;
	c->refs = 1;
	c->state = NEARCACHE_NOT_LOADED;
	c->policy_ops = &nc_policy_keep;
	init_waitqueue_head(&c->fill_idle);
	spin_lock_init(&c->retry_lock);
	bio_list_init(&c->retry_bios);
	INIT_WORK(&c->retry_work, nc_read_retry_work);
	INIT_WORK(&c->event_work, raise_event);
	INIT_WORK(&c->reclaim, nc_reclaim_work);

	c->meta = nc_meta_open(dev->bdev, &c->geo, c->uuid, why);
	if (IS_ERR(c->meta)) {
		r = PTR_ERR(c->meta);
		c->meta = NULL;
		DMERR("%s: cache device %s: %s", nc_cache_name(c), dev->name,
		      why);
		ti->error = "Cache device refused, see the kernel log";
		goto bad;
	}
	r = cache_alloc(c);
	if (r) {
		ti->error = "Not enough memory for the slot table";
		goto bad;
	}
	set_sizes(c);
	return c;
bad:
	cache_free(c);
	return ERR_PTR(r);
}

static struct nc_cache *registry_find(dev_t devt, const u8 *uuid)
{
	struct nc_cache *c;

	list_for_each_entry(c, &registry, list) {
		if (c->devt == devt)
			return c;
		if (uuid && !memcmp(c->uuid, uuid, sizeof(c->uuid)))
			return c;
	}
	return NULL;
}

/**
 * nc_cache_get() - claim a cache device for a table
 * @ti: target under construction; ti->error is set on failure
 * @dev: cache device, open
 *
 * Reads the superblock of a device that is not live, nothing else.
 *
 * Context: constructor; may sleep.
 * Return: the live cache; ERR_PTR(-EBUSY) when another dm device holds this
 * device or a copy of it, -EINVAL when it is not a sound nearcache device,
 * -EIO, -ENOMEM.
 */
struct nc_cache *nc_cache_get(struct dm_target *ti, struct dm_dev *dev)
{
	struct mapped_device *md = dm_table_get_md(ti->table);
	struct nc_cache *c, *twin;

	mutex_lock(&registry_lock);
	c = registry_find(dev->bdev->bd_dev, NULL);
	if (c && c->owner == md) {
		c->refs++;
		goto out;
	}
	if (!c) {
		c = cache_new(ti, dev);
		if (IS_ERR(c))
			goto out;
		twin = registry_find(c->devt, c->uuid);
		if (!twin) {
			list_add(&c->list, &registry);
			goto out;
		}
		cache_free(c);
		c = twin;
	}
	DMERR("%s: cache device %s (or a copy of it) is in use by dm device %s",
	      dm_device_name(md), dev->name, nc_cache_name(c));
	ti->error = "Cache device or its uuid is in use by another dm device";
	c = ERR_PTR(-EBUSY);
out:
	mutex_unlock(&registry_lock);
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
	mutex_lock(&registry_lock);
	if (!--c->refs) {
		list_del(&c->list);
		cache_free(c);
	}
	mutex_unlock(&registry_lock);
}

/* The first resume: nothing but the superblock was read before. */
static int load(struct nc_cache *c)
{
	int r;

	r = nc_meta_reread(c->meta, c->active->dev->bdev, nc_cache_name(c));
	if (r)
		return r;
	nc_meta_load(c);
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
 * before any slot can be overwritten.  A cache device that cannot be written
 * is bypassed: the origin is still good.
 *
 * Context: preresume; may sleep, allocates without I/O (the device itself may
 * be what memory is written back to).
 * Return: 0 or an error that leaves the device suspended.
 */
int nc_cache_activate(struct nc_cache *c, struct nc_target *t)
{
	unsigned int noio = memalloc_noio_save();
	int r = 0;

	c->active = t;
	c->fill_memory_max = t->fill_memory_max;
	if (c->state == NEARCACHE_NOT_LOADED) {
		r = load(c);
		if (r)
			goto out;
		c->cache_lbs_mask =
			(bdev_logical_block_size(t->dev->bdev) >> SECTOR_SHIFT) - 1;
		c->state = NEARCACHE_NORMAL;
	}
	if (c->state == NEARCACHE_NORMAL && nc_meta_mark_active(c))
		nc_cache_bypass(c, "the superblock cannot be written");
out:
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
	flush_workqueue(c->wq);
	if (c->state == NEARCACHE_NORMAL && nc_meta_commit_clean(c))
		nc_cache_bypass(c, "the slot table cannot be written");
	flush_workqueue(c->wq);
	c->active = NULL;
	memalloc_noio_restore(noio);
}
