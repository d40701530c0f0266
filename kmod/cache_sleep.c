// SPDX-License-Identifier: GPL-2.0-only
/*
 * One cache in a system sleep: get ready for an image of the memory, compare the cache device and
 * the origin with the memory after it.  dm/system_sleep.c says when.
 */
#include <linux/delay.h>
#include <linux/sched/mm.h>

#include "cache.h"
#include "cache_sleep.h"
#include "core/sleep.h"
#include "evict/reclaim.h"
#include "io/fill.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "meta/reread.h"
#include "meta/recorded_fingerprint.h"
#include "meta/write_intent_clear.h"

/* Microseconds for nc_hit_synchronize(), which waits about twice as long. */
#define HITS_TIME	(2 * USEC_PER_SEC)
/* Milliseconds between two looks of nc_cache_held(). */
#define HELD_LOOK	20
/* Attempts to read the origin after a sleep, one a second. */
#define ORIGIN_TRIES	30

/* The reason why a cache must not be trusted after an image of the memory was taken, or NULL. */
static const char *why_forget(struct nc_cache *c)
{
	const char *why = nc_meta_moved(c);
	int r;

	if (why)
		return why;
	/* Writes that wait for nc_intent_release() have already set origin.written. */
	if (!c->life.settled && nc_meta_unsettled(c))
		return "has no fingerprint of the origin from before this system slept";
	r = nc_meta_ends_changed(c);
	if (r)
		return r < 0 ? "cannot be compared with the origin after this system slept" :
			       "has another origin than before this system slept";
	return NULL;
}

/* This kernel may have been resumed from an image of the memory, and other systems may have used
 * the cache device or the origin since the image was taken.  If so, drop all cached data, and take
 * over the numbers on the medium.  Returns true if the data was dropped: then nc_cache_start()
 * must follow.
 *
 * A bypassed cache has no data to lose, but in a writing mode it relies on the superblock that it
 * wrote last: while that says active, writes need no record.  Another system may have stopped the
 * cache cleanly.  Other modes do not rely on it; nc_cache_activate() of a writing mode compares.
 */
bool nc_cache_compare(struct nc_cache *c)
{
	bool bypassed = c->hot.state == NEARCACHE_BYPASS;
	const char *why;

	lockdep_assert_held(&c->life.lock);
	if (c->life.images == nc_sleep_images() ||
	    (bypassed && !nc_target_writes(c->life.active)))
		return false;
	why = bypassed ? nc_meta_super_moved(c) : why_forget(c);
	c->life.images = nc_sleep_images();
	c->life.settled = false;
	if (!why)
		return false;
	nc_cache_drop_all(c);
	if (nc_meta_reread(c))
		nc_health_bypass(c, NEARCACHE_REASON_READ_METADATA);
	else
		nc_meta_forget(c, why);
	nc_health_event(c, NEARCACHE_EVENT_STATE);
	return true;
}

/* Wait until no work or hit uses the cache device, and make its data durable: the slot map in the
 * image is that of the medium.  Works that run from now on see nc_life.asleep and return.
 * Return: 0; -ETIMEDOUT: the cache device does not complete its requests.
 */
static int finish_work(struct nc_cache *c)
{
	if (!nc_hit_synchronize(&c->hot.hit_srcu, HITS_TIME) || !nc_fill_finish(c))
		return -ETIMEDOUT;
	/* The wake work may change the superblock, and queue the works below. */
	flush_work(&c->workers.wake);
	flush_work(&c->reclaim.work);
	flush_delayed_work(&c->workers.commit);
	flush_delayed_work(&c->intent.clear_work);
	if (c->hot.state != NEARCACHE_BYPASS && nc_members_flush(c))
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
	nc_intent_finish(c);
	return 0;
}

/* Take the fingerprint of the origin into memory, unless a write is in flight.  If the last image
 * was not compared yet, keep the result from before that image.
 */
static void settle_for_image(struct nc_cache *c)
{
	lockdep_assert_held(&c->life.lock);
	if (!c->life.active || c->hot.state == NEARCACHE_BYPASS ||
	    c->life.images != nc_sleep_images() - 1)
		return;
	c->life.settled = nc_write_ranges_empty(&c->write_ranges) && !nc_cache_settle_origin(c);
	/* Pairs with nc_cache_unhold(): a write may have begun while the origin was settled. */
	smp_mb();
	if (nc_target_writes(c->life.active) && !READ_ONCE(c->intent.held))
		WRITE_ONCE(c->origin.written, true);
}

/* nc_workers.hold.  May hang together with a device: all callers but nc_cache_free() wait for it
 * with a time limit.
 */
void nc_cache_hold_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, workers.hold);
	unsigned int noio = memalloc_noio_save();
	int r = finish_work(c);

	if (!r) {
		mutex_lock(&c->life.lock);
		settle_for_image(c);
		mutex_unlock(&c->life.lock);
	}
	WRITE_ONCE(c->workers.hold_error, r);
	memalloc_noio_restore(noio);
}

/**
 * nc_cache_hold() - prepare for an image of the memory
 * @c: cache that rests; all user tasks are frozen, all devices work
 * @settle: also wait for the devices: nc_cache_held() must follow
 *
 * From now on reads go to the origin.  Writes wait, unless the cache is bypassed.
 *
 * Context: process.
 */
void nc_cache_hold(struct nc_cache *c, bool settle)
{
	if (!READ_ONCE(c->life.active))
		return;
	WRITE_ONCE(c->life.doubted, true);
	nc_health_close_gate(c);
	if (READ_ONCE(c->hot.state) != NEARCACHE_BYPASS)
		nc_intent_hold(c);
	/* Not on a queue of the cache: the work waits for works on these queues. */
	if (settle)
		queue_work(nc_unbound_wq, &c->workers.hold);
}

/* Wait for the work that nc_cache_hold() began, at most until @end (jiffies).  Return: 0;
 * -ETIMEDOUT: the origin or the cache device does not complete its requests.  Context: may sleep.
 */
int nc_cache_held(struct nc_cache *c, unsigned long end)
{
	while (work_busy(&c->workers.hold)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		msleep(HELD_LOOK);
	}
	return READ_ONCE(c->life.active) ? READ_ONCE(c->workers.hold_error) : 0;
}

/* No image was taken after nc_cache_hold(): writes go on, and reads use the cache.  If an earlier
 * image was not compared yet, nc_workers.wake does this later.  Context: may sleep.
 */
void nc_cache_unhold(struct nc_cache *c)
{
	struct nc_target *t = READ_ONCE(c->life.active);

	if (!t || READ_ONCE(c->life.images) != nc_sleep_images())
		return;
	WRITE_ONCE(c->life.doubted, false);
	nc_intent_release(c, nc_sleep_images());
	/* Pairs with settle_for_image(), which may still run and regard the origin as settled. */
	smp_mb();
	if (nc_target_writes(t))
		WRITE_ONCE(c->origin.written, true);
}

/* Compare the medium with the memory.  If it differs, begin a new session.  If that cannot be
 * recorded, a later load could trust what another system left on the medium: let no write pass.
 * But if no change of the medium was found, the witness can record the writes instead.
 */
static void compare_and_start(struct nc_cache *c)
{
	if (!nc_cache_compare(c))
		return;
	if (!nc_cache_start(c, c->life.active)) {
		nc_intent_accept(c);
		return;
	}
	nc_health_bypass(c, NEARCACHE_REASON_WRITE_SUPER);
	if (c->meta->moved || !nc_intent_leaves(&c->intent))
		nc_intent_refuse(c);
}

/* The system sleep is over: compare the medium, then let the work run that dm/system_sleep.c
 * stopped.  Start a new session while reads still go to the origin and writes still wait.
 */
static void wake_cache(struct nc_cache *c)
{
	bool image = c->life.images != nc_sleep_images();

	compare_and_start(c);
	/* The same image, resumed once more after the next crash, must not match. */
	if (image && c->hot.state != NEARCACHE_BYPASS && nc_meta_mark_changed(c))
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_SUPER);
	nc_cache_start_work(c);
	nc_commit_again(c);
	nc_intent_arm_clear(c);
}

/* A write came, but the image of the memory may still replace this kernel.  Change the medium's
 * number before that write: the resumed kernel then drops all cached data.  Returns false if that
 * is not possible.
 */
static bool disown_image(struct nc_cache *c)
{
	compare_and_start(c);
	if (c->hot.state == NEARCACHE_BYPASS)
		return false;
	if (!nc_meta_mark_changed(c))
		return true;
	nc_health_bypass(c, NEARCACHE_REASON_WRITE_SUPER);
	return false;
}

/* After a resume the origin's network may be late: wait a while for the origin to be readable,
 * because a cache that cannot be compared has to drop all cached data.
 */
static void await_origin(struct nc_cache *c)
{
	bool late = true;
	u32 tries;

	for (tries = 0; late && tries < ORIGIN_TRIES; tries++) {
		if (tries)
			msleep(MSEC_PER_SEC);
		mutex_lock(&c->life.lock);
		late = nc_sleep_phase() == NC_SLEEP_AWAKE && c->life.active && !c->life.stopping &&
		       c->life.asleep && c->life.images != nc_sleep_images() &&
		       c->hot.state != NEARCACHE_BYPASS && nc_meta_ends_changed(c) < 0;
		mutex_unlock(&c->life.lock);
	}
}

/* nc_workers.wake: the system sleep is over, or a write waits for nc_intent_release().  Once
 * there is an image, a write that cannot be recorded waits for the end of the sleep: if it reached
 * the origin and the image was resumed, the resumed kernel would trust stale data.  Before there is
 * an image, the kernel may wait for the write: release it, as while the system is awake.
 */
void nc_cache_wake_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(work, struct nc_cache, workers.wake);
	unsigned int noio = memalloc_noio_save();
	bool release = true, refused, rests;
	unsigned int images;

	await_origin(c);
	mutex_lock(&c->life.lock);
	images = nc_sleep_images();
	refused = nc_intent_refuses(&c->intent);
	if (nc_sleep_phase() == NC_SLEEP_AWAKE) {
		if (c->life.active && !c->life.stopping && c->life.asleep)
			wake_cache(c);
	} else {
		rests = nc_sleep_phase() == NC_SLEEP_REST && c->life.active && !c->life.stopping;
		/* Writes of a bypassed cache do not wait for this: compare as early as possible. */
		if (rests && c->hot.state == NEARCACHE_BYPASS)
			compare_and_start(c);
		/* A write that fails changes nothing: fail it in any phase, because the kernel may
		 * wait for it before it freezes tasks.
		 */
		release = rests && nc_intent_any_held(&c->intent) &&
			  (disown_image(c) || !nc_sleep_has_image());
		release |= refused || nc_intent_refuses(&c->intent);
	}
	mutex_unlock(&c->life.lock);
	if (release)
		nc_intent_release(c, images);
	memalloc_noio_restore(noio);
}
