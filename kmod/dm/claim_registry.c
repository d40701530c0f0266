// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ownership of cache devices.
 *
 * All opens by device-mapper share one claim, so two dm devices could open the same cache device.
 * The registry prevents this.  A cache device belongs to one dm device from the first constructor
 * that names the cache device until the last dm table with it is destroyed.  A second table of the
 * same dm device (a reload) shares the cache.
 *
 * The mutex serialises constructors, destructors and resumes.  Netlink requests, which any user may
 * send, visit caches in an SRCU read section instead, so that they do not delay these.  Only the
 * destructor of a table waits for the visits that run, each of which visits one cache.
 */
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/srcu.h>
#include <linux/wait.h>

#include "cache.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "dm/claim_registry.h"

static DEFINE_MUTEX(registry_lock);
static LIST_HEAD(registry);
/* A visit reads @registry and nc_registration.targets in a read section. */
DEFINE_STATIC_SRCU(registry_srcu);
/* Woken when nc_registration.users of some cache falls to 0: nc_registry_put() waits for this. */
static DECLARE_WAIT_QUEUE_HEAD(registry_unheld);
/* Counts changes, so that a walk in several parts can detect that the list changed meanwhile. */
static atomic_t registry_changes = ATOMIC_INIT(0);

/* Note that a cache or table was added or removed, went live or was suspended.  Context: any. */
void nc_registry_changed(void)
{
	/* Change the list, then count.  Pairs with nc_registry_changes(). */
	smp_mb__before_atomic();
	atomic_inc(&registry_changes);
}

/* May a new cache of the dm device of @t replace @c, even on the same cache device?  True if @c
 * is in bypass, has lost its device, or never went live because its medium had changed.
 */
static bool is_replaceable(const struct nc_cache *c, const struct nc_target *t)
{
	return c->dev.owner == dm_table_get_md(t->ti->table) &&
	       (READ_ONCE(c->hot.state) == NEARCACHE_BYPASS ||
		READ_ONCE(c->life.load_failed) ||
		nc_members_gone(c));
}

/* Return the cache of the cache device of @t, or NULL.  If several exist, prefer a cache that
 * cannot be replaced, then the newest.
 */
static struct nc_cache *registry_find(const struct nc_target *t)
{
	struct nc_cache *c, *given_up = NULL;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(c, &registry, reg.list) {
		if (c->dev.devt != t->dev->bdev->bd_dev)
			continue;
		if (!is_replaceable(c, t))
			return c;
		/* The list begins with the newest. */
		if (!given_up)
			given_up = c;
	}
	return given_up;
}

/* Return another cache with the uuid of @c, whose device must be a copy of that of @c, or NULL. */
static struct nc_cache *registry_find_copy(const struct nc_cache *c, const struct nc_target *t)
{
	struct nc_cache *other;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(other, &registry, reg.list)
		if (other != c && other->reg.ready && !is_replaceable(other, t) &&
		    !memcmp(other->dev.uuid, c->dev.uuid, sizeof(c->dev.uuid)))
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

/* Is @bdev a cache device of the table, or does it overlap one? */
static bool is_cache_of(const struct nc_target *t, struct block_device *bdev)
{
	u32 i;

	if (nc_overlap(bdev, t->dev->bdev))
		return true;
	for (i = 0; i < t->others; i++)
		if (nc_overlap(bdev, t->other[i]->bdev))
			return true;
	return false;
}

static bool members_overlap(const struct nc_cache *c, const struct nc_target *t)
{
	u32 i;

	for (i = 0; i < nc_members_count(c); i++)
		if (is_cache_of(t, nc_members_bdev(c, i)))
			return true;
	return false;
}

/* Return why @t and the cache @c cannot coexist, or NULL.  An origin has either one cache that
 * writes, or any number of read-only caches, because no cache sees the writes of another.  Nothing
 * may be both origin and cache device, not even in part.
 */
static char *find_conflict(const struct nc_cache *c, const struct nc_target *t)
{
	const struct nc_target *other;
	u32 i;

	list_for_each_entry(other, &c->reg.targets, list) {
		if (nc_overlap(other->origin->bdev, t->origin->bdev) &&
		    (c->reg.writers || nc_target_writes(t)))
			return "Origin has another nearcache on it: both must be read-only";
		if (is_cache_of(t, other->origin->bdev))
			return "Cache device is the origin of another nearcache";
	}
	for (i = 0; i < nc_members_count(c); i++)
		if (nc_overlap(nc_members_bdev(c, i), t->origin->bdev))
			return "Origin is the cache device of another nearcache";
	return members_overlap(c, t) ?
	       "Cache device overlaps that of another nearcache" : NULL;
}

static int registry_check(struct nc_target *t, const struct nc_cache *own)
{
	struct nc_cache *c;
	char *error;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(c, &registry, reg.list) {
		if (c == own || is_replaceable(c, t))
			continue;
		error = find_conflict(c, t);
		if (!error)
			continue;
		DMERR("%s: origin %s or cache device %s conflicts with dm device %s: %s",
		      dm_device_name(dm_table_get_md(t->ti->table)),
		      t->origin->name, t->dev->name, nc_cache_name(c), error);
		t->ti->error = error;
		return -EBUSY;
	}
	return 0;
}

/* Does @t have the origin of @c?  A volume that came back with another device number counts as the
 * same origin if the disk with its old number is dead.
 */
static bool same_origin(const struct nc_cache *c, const struct nc_target *t)
{
	const struct nc_target *other;

	list_for_each_entry(other, &c->reg.targets, list)
		if (other->origin->bdev != t->origin->bdev &&
		    !test_bit(GD_DEAD, &other->origin->bdev->bd_disk->state))
			return false;
	return true;
}

static void hold_cache(struct nc_cache *c, struct nc_target *t)
{
	lockdep_assert_held(&registry_lock);
	/* From here on nc_registry_each() may visit @c with @t. */
	t->cache = c;
	list_add_rcu(&t->list, &c->reg.targets);
	c->reg.refs++;
	c->reg.writers += nc_target_writes(t);
}

/* Let the table of a reload share the cache @c, if the table fits.  Returns 0 or an error. */
static int registry_share(struct nc_cache *c, struct nc_target *t)
{
	int r;

	/* Compare bdev too: a new device may have the number of a removed but still open device. */
	if (c->dev.owner != dm_table_get_md(t->ti->table) || !c->reg.ready ||
	    c->dev.bdev != t->dev->bdev)
		return refuse_busy(t, c);
	if (!nc_members_same(c, t)) {
		DMERR("%s: live cache has other cache devices after %s: close and reopen it",
		      nc_cache_name(c), t->dev->name);
		t->ti->error = "The live cache has other cache devices";
		return -EINVAL;
	}
	if (!same_origin(c, t)) {
		DMERR("%s: live cache holds data of another origin than %s: close and reopen it",
		      nc_cache_name(c), t->origin->name);
		t->ti->error = "The live cache belongs to another origin";
		return -EINVAL;
	}
	/* Refuse a writing mode now rather than at resume: mark_active() may fail there and leave
	 * the device suspended.
	 */
	if (nc_target_writes(t) &&
	    READ_ONCE(c->hot.state) == NEARCACHE_BYPASS &&
	    !nc_meta_starts_cold(c)) {
		t->ti->error =
			"Cache is bypassed and not marked active: attach a cache device first";
		return -EIO;
	}
	r = registry_check(t, c);
	if (r)
		return r;
	hold_cache(c, t);
	return 0;
}

/* Add an entry, which reserves the cache device while the superblock is being checked. */
static void registry_add(struct nc_cache *c, struct nc_target *t)
{
	lockdep_assert_held(&registry_lock);
	hold_cache(c, t);
	list_add_rcu(&c->reg.list, &registry);
	nc_registry_changed();
}

/* Share the cache that the registry has for @t, or else add @fresh.  Returns the cache or an
 * ERR_PTR.  Returns NULL if the registry has none and @fresh is NULL: the caller allocates a cache
 * and calls again.  It must not allocate under the mutex: a resume takes the mutex, and the device
 * that is to be resumed may be the one to which memory is written back.
 */
static struct nc_cache *registry_claim(struct nc_target *t, struct nc_cache *fresh)
{
	struct nc_cache *c;
	int r;

	mutex_lock(&registry_lock);
	c = registry_find(t);
	if (c && !is_replaceable(c, t)) {
		r = registry_share(c, t);
	} else {
		c = fresh;
		r = registry_check(t, NULL);
		if (!r && fresh)
			registry_add(fresh, t);
	}
	mutex_unlock(&registry_lock);
	return r ? ERR_PTR(r) : c;
}

static void registry_drop(struct nc_cache *c)
{
	mutex_lock(&registry_lock);
	list_del_rcu(&c->reg.list);
	nc_registry_changed();
	mutex_unlock(&registry_lock);
	/* It was never ready, so no visit holds it. */
	synchronize_srcu(&registry_srcu);
	nc_cache_free(c);
}

/* Check the superblock of a new entry, without the registry's mutex.  Returns 0 or an error. */
static int registry_open(struct nc_cache *c, struct nc_target *t)
{
	struct nc_cache *copy;
	int r = nc_cache_open(c, t);

	if (r)
		return r;
	mutex_lock(&registry_lock);
	copy = registry_find_copy(c, t);
	if (copy)
		r = refuse_busy(t, copy);
	else
		/* Release: a visit that finds the cache ready finds its superblock and memory. */
		smp_store_release(&c->reg.ready, true);
	nc_registry_changed();
	mutex_unlock(&registry_lock);
	return r;
}

/* After registry_open() failed: share the device's replaceable cache, or return @error if none. */
static struct nc_cache *registry_stay(struct nc_target *t, int error)
{
	struct nc_cache *c;

	mutex_lock(&registry_lock);
	c = registry_find(t);
	if (c && is_replaceable(c, t))
		error = registry_share(c, t);
	mutex_unlock(&registry_lock);
	return error ? ERR_PTR(error) : c;
}

/**
 * nc_registry_get() - claim a cache device for a table
 * @t: target under construction, its devices open; t->ti->error is set on failure
 *
 * Reads only the superblock, and only if the device has no cache or its cache may be replaced.
 * Reads and allocates without the registry's mutex, so that a hung device, or a lack of memory,
 * does not block others.  A reload that shares the live cache allocates nothing.
 *
 * Context: constructor; may sleep.
 * Return: the cache, existing or new, or an ERR_PTR().  -EBUSY: another dm device uses this cache
 * device, a copy of it, or (with a writing mode in either) the origin.  -EINVAL: not a valid cache
 * device, or its cache belongs to another origin or has other members.  Or -EIO, -ENOMEM.
 */
struct nc_cache *nc_registry_get(struct nc_target *t)
{
	struct nc_cache *fresh, *c = registry_claim(t, NULL);
	int r;

	if (c)
		return c;
	fresh = nc_cache_new(t);
	if (!fresh) {
		t->ti->error = "Out of memory";
		return ERR_PTR(-ENOMEM);
	}
	c = registry_claim(t, fresh);
	if (c != fresh) {
		nc_cache_free(fresh);
		return c;
	}
	r = registry_open(c, t);
	if (!r)
		return c;
	registry_drop(c);
	return registry_stay(t, r);
}

/**
 * nc_registry_put() - drop a table's claim; the last claim frees the cache
 * @c: cache from nc_registry_get(); no I/O of the table is in flight
 * @t: target of the table
 *
 * Context: destructor; may sleep, also until visits end and until nc_registry_release().
 */
void nc_registry_put(struct nc_cache *c, struct nc_target *t)
{
	bool last;

	mutex_lock(&registry_lock);
	c->reg.writers -= nc_target_writes(t);
	last = !--c->reg.refs;
	/* A visit that finds the cache must find a table of it: the last one leaves with it. */
	if (last)
		list_del_rcu(&c->reg.list);
	else
		list_del_rcu(&t->list);
	nc_registry_changed();
	mutex_unlock(&registry_lock);
	/* Visits that found the table or the cache end now. */
	synchronize_srcu(&registry_srcu);
	if (!last)
		return;
	/* No visit can find the cache, so nc_registry_hold() cannot be called for it any more. */
	wait_event(registry_unheld, !atomic_read_acquire(&c->reg.users));
	nc_cache_free(c);
}

/* Find the dm device with the lowest number above @after.  Return its live cache, or else its
 * newest one, or NULL if there is no such device.
 */
static struct nc_cache *next_cache(dev_t after)
{
	struct nc_cache *c, *next = NULL;

	list_for_each_entry_srcu(c, &registry, reg.list, srcu_read_lock_held(&registry_srcu)) {
		/* Pairs with registry_open(). */
		if (!smp_load_acquire(&c->reg.ready) || c->dev.dm_devt <= after)
			continue;
		/* The list begins with the newest. */
		if (!next || c->dev.dm_devt < next->dev.dm_devt ||
		    (c->dev.dm_devt == next->dev.dm_devt && READ_ONCE(c->life.active)))
			next = c;
	}
	return next;
}

/* Return the live table of a cache, or else the oldest.  A table is live no longer when its
 * destructor begins to wait for the visits.
 */
static struct nc_target *visited_table(struct nc_cache *c)
{
	/* Pairs with nc_cache_activate(). */
	struct nc_target *t, *oldest = smp_load_acquire(&c->life.active);

	if (oldest)
		return oldest;
	/* The list begins with the newest. */
	list_for_each_entry_srcu(t, &c->reg.targets, list, srcu_read_lock_held(&registry_srcu))
		oldest = t;
	return oldest;
}

/**
 * nc_registry_each() - visit one cache of each dm device: the live one, or else the newest
 * @after: visit the devices with numbers above this one, in ascending order; 0: all devices
 * @visit: called with the cache, a table that holds the cache (the live table, if any), and @arg;
 *	a return value other than 0 ends the visits.  Must not do I/O
 * @arg: for @visit
 *
 * Neither cache nor table is freed during the visit, because their destructors wait for it.  Their
 * fields may change meanwhile.  A device that is created or whose cache is replaced during the call
 * may be missed: nc_registry_changes() tells.
 *
 * Context: may sleep, waits for no I/O.
 * Return: the last return value of @visit, or 0.
 */
int nc_registry_each(dev_t after, nc_registry_visit *visit, void *arg)
{
	struct nc_target *t;
	struct nc_cache *c;
	int section, r = 0;

	do {
		/* One section for each visit: a destructor waits no longer than for one. */
		section = srcu_read_lock(&registry_srcu);
		c = next_cache(after);
		if (c) {
			after = c->dev.dm_devt;
			t = visited_table(c);
			r = WARN_ON_ONCE(!t) ? 0 : visit(c, t, arg);
		}
		srcu_read_unlock(&registry_srcu, section);
	} while (c && !r);
	return r;
}

/* Return a number that changes whenever nc_registry_each() may visit other caches or tables. */
unsigned int nc_registry_changes(void)
{
	unsigned int changes;

	smp_mb(); /* After the visits before the call.  Pairs with nc_registry_changed(). */
	changes = atomic_read(&registry_changes);
	smp_mb(); /* Before the visits after the call.  Pairs with nc_registry_changed(). */
	return changes;
}

/**
 * nc_registry_hold() - keep a cache from being freed even without a dm table
 * @c: cache that nc_registry_each() is visiting
 *
 * The destructor of its last table waits for nc_registry_release(), so the holder must not wait for
 * the device, and must be privileged.  Parts that need a dm table, such as the devices, may be used
 * only under nc_life.lock while nc_life.active is set.
 */
void nc_registry_hold(struct nc_cache *c)
{
	RCU_LOCKDEP_WARN(!srcu_read_lock_held(&registry_srcu), "no visit");
	atomic_inc(&c->reg.users);
}

/* Undo nc_registry_hold(); the caller must not touch @c any more.  Context: any. */
void nc_registry_release(struct nc_cache *c)
{
	/* If no user is left, nc_registry_put() may free @c at once. */
	if (atomic_dec_and_test(&c->reg.users))
		wake_up_all(&registry_unheld);
}

/* Collect the knowledge of other caches of the dm device about the medium of @c, see struct
 * nc_known.  The medium is doubtful if they wrote or invalidated data without a record on it.
 */
static void collect_known(const struct nc_cache *c, struct nc_known *known)
{
	struct nc_cache *other;

	mutex_lock(&registry_lock);
	list_for_each_entry(other, &registry, reg.list) {
		if (other == c || other->dev.owner != c->dev.owner)
			continue;
		if (other->life.dirty_unrecorded ||
		    (other->life.was_live &&
		     (other->origin.bdev != c->origin.bdev ||
		      memcmp(other->dev.uuid, c->dev.uuid, sizeof(c->dev.uuid)))))
			known->doubtful = true;
		if (xchg(&other->origin.flush_owed, false))
			known->flush_owed = true;
		if (!other->life.was_live)
			continue;
		known->super = max(known->super, other->meta->super.known);
		known->commit = max(known->commit,
				    READ_ONCE(other->meta->commit.known));
	}
	mutex_unlock(&registry_lock);
}

/* Find and hold the cache whose ranges @c inherits, or NULL: a cache of the same dm device that was
 * live or has ranges, with the same origin or one whose disk is gone.  If there are several, take
 * the newest, which has inherited the ranges of the others.
 */
static struct nc_cache *hold_predecessor(const struct nc_cache *c)
{
	struct nc_cache *other, *found = NULL;

	mutex_lock(&registry_lock);
	list_for_each_entry(other, &registry, reg.list) {
		if (other == c || other->dev.owner != c->dev.owner ||
		    (!other->life.was_live && !READ_ONCE(other->ranges.count)))
			continue;
		if (other->origin.bdev != c->origin.bdev &&
		    !test_bit(GD_DEAD, &other->origin.bdev->bd_disk->state))
			continue;
		found = other;
		atomic_inc(&other->reg.users);
		break;
	}
	mutex_unlock(&registry_lock);
	return found;
}

/**
 * nc_registry_activate() - make the table of a target live
 * @t: target
 *
 * Earlier caches of the same dm device are still registered now.  A cache that is loaded for the
 * first time takes over their ranges, and their knowledge of its medium (struct nc_known).
 *
 * Context: preresume; may sleep, allocates without I/O.
 * Return: as nc_cache_activate().
 */
int nc_registry_activate(struct nc_target *t)
{
	unsigned int noio = memalloc_noio_save();
	struct nc_cache *before, *c = t->cache;
	struct nc_known known = { };
	int r;

	/* No other caller loads the cache now: device-mapper serialises resumes. */
	if (READ_ONCE(c->hot.state) == NEARCACHE_NOT_LOADED) {
		before = hold_predecessor(c);
		if (before) {
			mutex_lock(&c->life.lock);
			nc_ranges_inherit(c, before, t->ti->len);
			mutex_unlock(&c->life.lock);
			nc_registry_release(before);
		}
		collect_known(c, &known);
	}
	r = nc_cache_activate(c, t, &known);
	nc_registry_changed();
	memalloc_noio_restore(noio);
	return r;
}
