// SPDX-License-Identifier: GPL-2.0-only
/*
 * A scrub reads all cached data, one piece after the other.  It invalidates and refills pieces that
 * cannot be read, do not match their checksums, or (if requested) differ from the origin.  After a
 * suspend it continues where it stopped; it ends when the cache is freed.
 */
#include <linux/ktime.h>

#include "cache.h"
#include "io/verify.h"
#include "io/fill.h"
#include "io/scrub.h"

/* Most slots without valid data that one run of the work skips. */
#define LOOK_AT		4096U
/* Delay before the next attempt to allocate memory. */
#define NO_MEMORY_DELAY	(HZ / 10)

/* Find the next valid run in the scrub's current slot.  Returns false if there is none left. */
static bool find_span(struct nc_cache *c, struct nc_span *span)
{
	struct nc_scrub *s = &c->scrub;
	struct nc_slot *slot = &c->index.slots[s->slot];
	struct nc_bucket_lock *bucket;
	u64 valid = 0, missing;

	if (s->sub >= c->geo.subblocks ||
	    !(READ_ONCE(slot->flags) & NC_SLOT_LINKED))
		return false;
	/* Racy: nc_index_find() under the lock confirms that the slot still holds the block. */
	span->block = (u64)READ_ONCE(slot->block_hi) << 32 |
		      READ_ONCE(slot->block_lo);
	bucket = nc_index_bucket(&c->index, span->block);
	spin_lock(&bucket->lock);
	if (nc_index_find(&c->index, span->block) == s->slot)
		valid = slot->valid;
	spin_unlock(&bucket->lock);
	valid &= GENMASK_ULL(63, s->sub);
	if (!valid)
		return false;
	span->first = __ffs64(valid);
	missing = ~valid & GENMASK_ULL(63, span->first);
	span->last = (missing ? __ffs64(missing) : NEARCACHE_SUBBLOCKS_MAX) - 1;
	nc_fill_shorten(c, span, false);
	return true;
}

/* Find the next valid run.  Returns false, @span undefined, at the end or after LOOK_AT slots. */
static bool next_span(struct nc_cache *c, struct nc_span *span)
{
	struct nc_scrub *s = &c->scrub;
	u32 looked;

	for (looked = 0; looked < LOOK_AT && s->slot < c->index.count; looked++) {
		if (find_span(c, span))
			return true;
		WRITE_ONCE(s->slot, s->slot + 1);
		s->sub = 0;
	}
	return false;
}

static void scrub_again(struct nc_cache *c, unsigned long delay)
{
	if (!READ_ONCE(c->scrub.paused))
		queue_delayed_work(c->workers.cache, &c->scrub.work, delay);
}

/* Continue after next_span() found nothing: with the next slots, or by ending the pass. */
static void pass_on(struct nc_cache *c)
{
	struct nc_scrub *s = &c->scrub;
	bool bypass = READ_ONCE(c->hot.state) == NEARCACHE_BYPASS;

	if (s->slot < c->index.count && !bypass) {
		scrub_again(c, 0);
		return;
	}
	WRITE_ONCE(s->wanted, false);
	if (!bypass)
		nc_count(c, SCRUBS);
	DMINFO("%s: scrub %s", nc_cache_name(c),
	       bypass ? "stopped: the cache device is bypassed" : "completed");
	nc_health_event(c, NEARCACHE_EVENT_SCRUB_OVER);
}

/* Account a checked piece, and schedule the next by nc_scrub.rate.  Context: completion worker. */
static void scrub_piece_done(struct nc_cache *c, u32 bytes)
{
	struct nc_scrub *s = &c->scrub;
	u64 now = ktime_get_ns();

	nc_count_add(c, SCRUBBED_BYTES, bytes);
	if (s->rate)
		s->due = max(s->due, now) +
			 div64_u64((u64)bytes * NSEC_PER_SEC, s->rate);
	WRITE_ONCE(s->busy, false);
	scrub_again(c, s->rate && s->due > now ? nsecs_to_jiffies(s->due - now) : 0);
}

static void scrub_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work),
					  struct nc_cache, scrub.work);
	struct nc_scrub *s = &c->scrub;
	enum nc_verify result;
	struct nc_span span;

	if (READ_ONCE(s->paused) || !READ_ONCE(s->wanted) || READ_ONCE(s->busy))
		return;
	if (READ_ONCE(c->hot.state) == NEARCACHE_DEGRADED) {
		scrub_again(c, HZ);
		return;
	}
	if (READ_ONCE(c->hot.state) == NEARCACHE_BYPASS || !next_span(c, &span)) {
		pass_on(c);
		return;
	}
	WRITE_ONCE(s->busy, true);
	s->sub = span.last + 1;
	/* The dm table stays live: nc_scrub_pause() waits for this work before a suspend. */
	result = nc_verify_scrub(READ_ONCE(c->life.active), &span, s->compare,
				 scrub_piece_done);
	if (result == NC_VERIFY_STARTED)
		return;
	/* No memory, or the span is not valid any more: look at the same place again. */
	s->sub = span.first;
	WRITE_ONCE(s->busy, false);
	scrub_again(c, result == NC_VERIFY_MEMORY ? NO_MEMORY_DELAY : 0);
}

/**
 * nc_scrub_start() - begin a pass over all cached data
 * @c: live cache
 * @rate: most bytes per second; 0: no limit
 * @compare: also compare the data with the origin
 *
 * Context: may sleep.
 * Return: 0; -EBUSY if a pass is under way or the device is suspended; -EIO if the cache
 * device is bypassed.
 */
int nc_scrub_start(struct nc_cache *c, u64 rate, bool compare)
{
	struct nc_scrub *s = &c->scrub;
	int r = 0;

	mutex_lock(&c->life.lock);
	if (!c->life.active || s->wanted || READ_ONCE(s->busy)) {
		r = -EBUSY;
	} else if (READ_ONCE(c->hot.state) == NEARCACHE_BYPASS) {
		r = -EIO;
	} else {
		cancel_delayed_work_sync(&s->work);
		s->compare = compare;
		s->rate = rate;
		s->due = 0;
		s->sub = 0;
		WRITE_ONCE(s->slot, 0);
		WRITE_ONCE(s->wanted, true);
		scrub_again(c, 0);
	}
	mutex_unlock(&c->life.lock);
	return r;
}

/* Cancel the pass, but not a check under way.  May sleep.  Returns 0, or -ENOENT without a pass. */
int nc_scrub_stop(struct nc_cache *c)
{
	int r = 0;

	mutex_lock(&c->life.lock);
	if (READ_ONCE(c->scrub.wanted))
		WRITE_ONCE(c->scrub.wanted, false);
	else
		r = -ENOENT;
	mutex_unlock(&c->life.lock);
	return r;
}

/* Start no further check until nc_scrub_resume().  Does not wait for the work.  Context: any. */
void nc_scrub_rest(struct nc_cache *c)
{
	WRITE_ONCE(c->scrub.paused, true);
}

/*
 * Start no further check, because the cache is being suspended.  Does not wait for a check under
 * way: it counts as a fill, so nc_fill_drain() waits for it.  May sleep.
 */
void nc_scrub_pause(struct nc_cache *c)
{
	nc_scrub_rest(c);
	cancel_delayed_work_sync(&c->scrub.work);
}

/* Continue after a resume. */
void nc_scrub_resume(struct nc_cache *c)
{
	WRITE_ONCE(c->scrub.paused, false);
	if (READ_ONCE(c->scrub.wanted))
		scrub_again(c, 0);
}

/* Number of slots that the pass under way has yet to visit; 0 without a pass. */
u32 nc_scrub_left(const struct nc_cache *c)
{
	if (!READ_ONCE(c->scrub.wanted))
		return 0;
	return max(c->index.count - READ_ONCE(c->scrub.slot), 1U);
}

void nc_scrub_init(struct nc_scrub *s)
{
	s->paused = true;
	INIT_DELAYED_WORK(&s->work, scrub_work);
}
