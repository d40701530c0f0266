// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may use which cache device.
 *
 * device-mapper does not keep two tables from using one cache device: all its
 * opens share one claim.  The registry does.  A live cache belongs to one dm
 * device from the first constructor that names it until the last table is
 * destroyed; the second table of the same dm device (a reload) shares it.
 */
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/wait.h>

#include "cache.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "dm/registry.h"

static DEFINE_MUTEX(registry_lock);
static LIST_HEAD(registry);
/* Woken when nobody holds a cache any more; see nc_registry_hold(). */
static DECLARE_WAIT_QUEUE_HEAD(registry_unheld);
/* Changes with the list, so that who walks it in pieces can tell. */
static atomic_t registry_changes = ATOMIC_INIT(0);

/**
 * nc_registry_changed() - a cache or table came, went, or went live or was suspended
 *
 * Context: any.
 */
void nc_registry_changed(void)
{
	atomic_inc(&registry_changes);
}

/* Given up, gone, or never live because its medium is not what it was; and of the dm
 * device that @t is for: another cache may take its place, also one of the same cache
 * device, which may have come back.
 */
static bool is_replaceable(const struct nc_cache *c, const struct nc_target *t)
{
	return c->owner == dm_table_get_md(t->ti->table) &&
	       (READ_ONCE(c->state) == NEARCACHE_BYPASS ||
		READ_ONCE(c->load_failed) ||
		nc_members_gone(c));
}

/* The cache of the cache device of @t; of two, the one that has taken the other's
 * place or will.
 */
static struct nc_cache *registry_find(const struct nc_target *t)
{
	struct nc_cache *c, *given_up = NULL;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(c, &registry, list) {
		if (c->devt != t->dev->bdev->bd_dev)
			continue;
		if (!is_replaceable(c, t))
			return c;
		/* The newest is the first. */
		if (!given_up)
			given_up = c;
	}
	return given_up;
}

/* Another live cache with the uuid of @c: a copy of its device. */
static struct nc_cache *registry_twin(const struct nc_cache *c,
				      const struct nc_target *t)
{
	struct nc_cache *other;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(other, &registry, list)
		if (other != c && other->ready && !is_replaceable(other, t) &&
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

/* Is a device one of the cache devices of a table, or a part of one? */
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

/* May @t and the live cache @c stand side by side?  An origin has either one
 * cache that writes, or any number that only read: no cache learns what another
 * one writes.  And no device is both, or a partition of what is.
 */
static char *conflict(const struct nc_cache *c, const struct nc_target *t)
{
	const struct nc_target *other;
	u32 i;

	list_for_each_entry(other, &c->targets, list) {
		if (nc_overlap(other->origin->bdev, t->origin->bdev) &&
		    (c->writers || nc_target_writes(t)))
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
	list_for_each_entry(c, &registry, list) {
		if (c == own || is_replaceable(c, t))
			continue;
		error = conflict(c, t);
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

/* One origin, or one volume that has got another device number: then the disk that
 * it had is dead.
 */
static bool same_origin(const struct nc_cache *c, const struct nc_target *t)
{
	const struct nc_target *other;

	list_for_each_entry(other, &c->targets, list)
		if (other->origin->bdev != t->origin->bdev &&
		    !test_bit(GD_DEAD, &other->origin->bdev->bd_disk->state))
			return false;
	return true;
}

static void hold(struct nc_cache *c, struct nc_target *t)
{
	lockdep_assert_held(&registry_lock);
	/* From here on it is seen: see nc_registry_each(). */
	t->cache = c;
	list_add(&t->list, &c->targets);
	c->refs++;
	c->writers += nc_target_writes(t);
}

/* A reload: share the live cache, if it is the same one. */
static int registry_share(struct nc_cache *c, struct nc_target *t)
{
	int r;

	/* One number, two devices: the live one is gone and not yet let go. */
	if (c->owner != dm_table_get_md(t->ti->table) || !c->ready ||
	    c->bdev != t->dev->bdev)
		return refuse_busy(t, c);
	if (!nc_members_same(c, t)) {
		DMERR("%s: live cache has other cache devices behind %s: remove, open anew",
		      nc_cache_name(c), t->dev->name);
		t->ti->error = "The live cache has other cache devices";
		return -EINVAL;
	}
	if (!same_origin(c, t)) {
		DMERR("%s: live cache holds data of another origin than %s: remove, open anew",
		      nc_cache_name(c), t->origin->name);
		t->ti->error = "The live cache belongs to another origin";
		return -EINVAL;
	}
	/* Better now than at resume, which might succeed (see mark_active()), or
	 * leave the device suspended.
	 */
	if (nc_target_writes(t) &&
	    READ_ONCE(c->state) == NEARCACHE_BYPASS &&
	    !nc_meta_starts_cold(c)) {
		t->ti->error = "Cache is bypassed and not marked active: close and open";
		return -EIO;
	}
	r = registry_check(t, c);
	if (r)
		return r;
	hold(c, t);
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
	c = nc_cache_new(t);
	if (!c) {
		t->ti->error = "Out of memory";
		return ERR_PTR(-ENOMEM);
	}
	hold(c, t);
	list_add(&c->list, &registry);
	nc_registry_changed();
	return c;
}

static void registry_drop(struct nc_cache *c)
{
	mutex_lock(&registry_lock);
	list_del(&c->list);
	nc_registry_changed();
	mutex_unlock(&registry_lock);
	nc_cache_free(c);
}

/* Judge the superblock of a new entry. */
static int registry_open(struct nc_cache *c, struct nc_target *t)
{
	struct nc_cache *twin;
	int r = nc_cache_open(c, t);

	if (r)
		return r;
	mutex_lock(&registry_lock);
	twin = registry_twin(c, t);
	if (twin)
		r = refuse_busy(t, twin);
	else
		c->ready = true;
	nc_registry_changed();
	mutex_unlock(&registry_lock);
	return r;
}

/* The device is no better than when it was given up: go on without it. */
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
 * @t: target under construction, its devices open; t->ti->error is set on
 *	failure
 *
 * Reads the superblock of a device that is not live or was given up, nothing else;
 * not under the registry's mutex, so that a hung device holds up nobody else.
 *
 * Context: constructor; may sleep.
 * Return: the live cache, or one that takes the place of what was given up;
 * ERR_PTR(-EBUSY) when another dm device holds this device or a copy of it, or
 * writes or is not to write to the origin, -EINVAL when it is not a sound nearcache
 * device or the live cache belongs to another origin, -EIO, -ENOMEM.
 */
struct nc_cache *nc_registry_get(struct nc_target *t)
{
	unsigned int noio = memalloc_noio_save();
	bool shared = false;
	struct nc_cache *c;
	int r = 0;

	/* Nobody waits for I/O with the mutex: it is taken while devices are resumed. */
	mutex_lock(&registry_lock);
	c = registry_find(t);
	if (c && !is_replaceable(c, t)) {
		shared = true;
		r = registry_share(c, t);
	} else {
		c = registry_add(t);
	}
	mutex_unlock(&registry_lock);
	memalloc_noio_restore(noio);
	if (IS_ERR(c) || shared)
		return r ? ERR_PTR(r) : c;
	r = registry_open(c, t);
	if (!r)
		return c;
	registry_drop(c);
	return registry_stay(t, r);
}

/**
 * nc_registry_put() - a table lets go
 * @c: live cache; no I/O of the table is under way
 * @t: target of the table
 *
 * Context: destructor; may sleep.
 */
void nc_registry_put(struct nc_cache *c, struct nc_target *t)
{
	bool last;

	mutex_lock(&registry_lock);
	list_del(&t->list);
	c->writers -= nc_target_writes(t);
	last = !--c->refs;
	if (last)
		list_del(&c->list);
	nc_registry_changed();
	mutex_unlock(&registry_lock);
	if (!last)
		return;
	/* Not on the list any more: nobody begins to. */
	wait_event(registry_unheld, !READ_ONCE(c->users));
	nc_cache_free(c);
}

/**
 * nc_registry_known() - what is known of a medium that another cache gave up
 * @c: cache of it, that is about to be loaded
 * @known: what its medium must have, at least
 *
 * The tables of one dm device follow each other, so the caches that it had before are
 * still here while it gets this one.  One of another device or origin may have written,
 * or have been told, what the medium of @c knows nothing of.
 *
 * Context: may sleep, waits for no I/O.
 * Return: whether the medium may tell the truth.
 */
bool nc_registry_known(const struct nc_cache *c, struct nc_known *known)
{
	struct nc_cache *other;
	bool truth = true;

	*known = (struct nc_known) {};
	mutex_lock(&registry_lock);
	list_for_each_entry(other, &registry, list) {
		if (other == c || other->owner != c->owner)
			continue;
		if (other->untold ||
		    (other->was_live &&
		     (other->origin != c->origin ||
		      memcmp(other->uuid, c->uuid, sizeof(c->uuid)))))
			truth = false;
		if (xchg(&other->flush_owed, false))
			known->flush_owed = true;
		if (!other->was_live)
			continue;
		known->super = max(known->super, other->meta->super.known);
		known->commit = max(known->commit,
				    READ_ONCE(other->meta->commit.known));
	}
	mutex_unlock(&registry_lock);
	return truth;
}

/**
 * nc_registry_before() - the cache whose place another one takes
 * @c: cache that is about to be loaded
 *
 * Of several the newest: it has what they had.
 *
 * Return: cache that was live, or took over ranges to be, of the same dm device and origin (or
 * of one whose disk is gone), which nc_registry_release() must follow; or NULL.
 */
struct nc_cache *nc_registry_before(const struct nc_cache *c)
{
	struct nc_cache *other, *found = NULL;

	mutex_lock(&registry_lock);
	list_for_each_entry(other, &registry, list) {
		if (other == c || other->owner != c->owner ||
		    (!other->was_live && !READ_ONCE(other->ranges.count)))
			continue;
		if (other->origin != c->origin &&
		    !test_bit(GD_DEAD, &other->origin->bd_disk->state))
			continue;
		found = other;
		other->users++;
		break;
	}
	mutex_unlock(&registry_lock);
	return found;
}

/* What a dm device has now: of the caches that its tables hold the live one, or the newest. */
static struct nc_cache *current_of(const struct mapped_device *owner)
{
	struct nc_cache *c, *newest = NULL;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(c, &registry, list) {
		if (c->owner != owner || !c->ready)
			continue;
		if (READ_ONCE(c->active))
			return c;
		/* The newest is the first. */
		if (!newest)
			newest = c;
	}
	return newest;
}

/**
 * nc_registry_each() - visit the cache of each dm device
 * @visit: called with the cache, a table that holds it (the live one, if there is), and
 *	@arg; not 0 ends the visits.  May not do I/O, and may not call the registry
 * @arg: for @visit
 *
 * Neither cache nor table goes while it is visited.
 *
 * Context: may sleep, waits for no I/O.
 * Return: what @visit returned last, or 0.
 */
int nc_registry_each(nc_registry_visit *visit, void *arg)
{
	struct nc_target *t;
	struct nc_cache *c;
	int r = 0;

	mutex_lock(&registry_lock);
	list_for_each_entry(c, &registry, list) {
		if (current_of(c->owner) != c)
			continue;
		/* A table that is live now is not freed before it has left the list.  Of a
		 * suspended device it is the oldest one.
		 */
		t = READ_ONCE(c->active);
		if (!t)
			t = list_last_entry(&c->targets, struct nc_target, list);
		r = visit(c, t, arg);
		if (r)
			break;
	}
	mutex_unlock(&registry_lock);
	return r;
}

/**
 * nc_registry_changes() - a number that is another one when nc_registry_each() visits others
 */
unsigned int nc_registry_changes(void)
{
	return atomic_read(&registry_changes);
}

/**
 * nc_registry_hold() - keep a cache from being freed, though no table may hold it any more
 * @c: cache that is being visited
 *
 * Its last table's destructor waits for nc_registry_release(): only under nc_cache.life,
 * and with nc_cache.active set, anything of it may be used that needs a table.
 */
void nc_registry_hold(struct nc_cache *c)
{
	lockdep_assert_held(&registry_lock);
	c->users++;
}

/**
 * nc_registry_release() - after nc_registry_hold()
 * @c: held cache; may be gone afterwards
 *
 * Context: may sleep, waits for no I/O.
 */
void nc_registry_release(struct nc_cache *c)
{
	unsigned int left;

	mutex_lock(&registry_lock);
	left = c->users - 1;
	/* Who waits for the last one frees the cache at once. */
	WRITE_ONCE(c->users, left);
	if (!left)
		wake_up_all(&registry_unheld);
	mutex_unlock(&registry_lock);
}
