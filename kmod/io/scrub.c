// SPDX-License-Identifier: GPL-2.0-only
/*
 * A scrub looks at all that is cached, one piece after the other: what cannot be read,
 * does not fit its checksums, or (if asked for) is not what the origin has, is dropped
 * and filled again.  It goes on where it was after a suspend; it is over when the
 * cache is freed.
 */
#include <linux/ktime.h>

#include "cache.h"
#include "io/verify.h"
#include "io/fill.h"
#include "io/scrub.h"

/* Slots without anything valid that are passed by in one go. */
#define LOOK_AT		4096U
/* Until memory is looked for again. */
#define NO_MEMORY_DELAY	(HZ / 10)

/* What is valid at the place that the scrub has come to.  Returns false when there is
 * nothing in this slot any more.
 */
static bool find_span(struct nc_cache *c, struct nc_span *span)
{
	struct nc_scrub *s = &c->scrub;
	struct nc_slot *slot = &c->index.slots[s->slot];
	struct nc_stripe *stripe;
	u64 valid = 0, missing;

	if (s->sub >= c->geo.subblocks ||
	    !(READ_ONCE(slot->flags) & NC_SLOT_LINKED))
		return false;
	/* Racy: under the lock it can be told whether it is the slot's. */
	span->block = (u64)READ_ONCE(slot->block_hi) << 32 |
		      READ_ONCE(slot->block_lo);
	stripe = nc_index_stripe(&c->index, span->block);
	spin_lock(&stripe->lock);
	if (nc_index_find(&c->index, span->block) == s->slot)
		valid = slot->valid;
	spin_unlock(&stripe->lock);
	valid &= GENMASK_ULL(63, s->sub);
	if (!valid)
		return false;
	span->first = __ffs64(valid);
	missing = ~valid & GENMASK_ULL(63, span->first);
	span->last = (missing ? __ffs64(missing) : NEARCACHE_SUBBLOCKS_MAX) - 1;
	nc_fill_shorten(c, span, false);
	return true;
}

/* Returns false at the end, or when enough was passed by: then the span is empty. */
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

static void again(struct nc_cache *c, unsigned long delay)
{
	if (!READ_ONCE(c->scrub.paused))
		queue_delayed_work(c->cache_wq, &c->scrub.work, delay);
}

/* There was nothing to look at, or the rest is not to be used any more. */
static void pass_on(struct nc_cache *c)
{
	struct nc_scrub *s = &c->scrub;
	bool bypass = READ_ONCE(c->state) == NEARCACHE_BYPASS;

	if (s->slot < c->index.count && !bypass) {
		again(c, 0);
		return;
	}
	WRITE_ONCE(s->wanted, false);
	if (!bypass)
		nc_count(c, SCRUBS);
	DMINFO("%s: scrub %s", nc_cache_name(c),
	       bypass ? "given up: the cache device is bypassed" : "is over");
	nc_health_event(c, NEARCACHE_EVENT_SCRUB_OVER);
}

static void scrub_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work),
					  struct nc_cache, scrub.work);
	struct nc_scrub *s = &c->scrub;
	enum nc_check result;
	struct nc_span span;

	if (READ_ONCE(s->paused) || !READ_ONCE(s->wanted) || READ_ONCE(s->busy))
		return;
	if (READ_ONCE(c->state) == NEARCACHE_DEGRADED) {
		again(c, HZ);
		return;
	}
	if (READ_ONCE(c->state) == NEARCACHE_BYPASS || !next_span(c, &span)) {
		pass_on(c);
		return;
	}
	WRITE_ONCE(s->busy, true);
	s->sub = span.last + 1;
	/* Not paused: the table stays live while the check runs. */
	result = nc_check_scrub(READ_ONCE(c->active), &span, s->compare);
	if (result == NC_CHECK_STARTED)
		return;
	/* Not now, or no more as it was: look again. */
	s->sub = span.first;
	WRITE_ONCE(s->busy, false);
	again(c, result == NC_CHECK_MEMORY ? NO_MEMORY_DELAY : 0);
}

/**
 * nc_scrub_checked() - a piece was checked
 * @c: live cache
 * @bytes: of the cache device
 *
 * Context: completion worker.
 */
void nc_scrub_checked(struct nc_cache *c, u32 bytes)
{
	struct nc_scrub *s = &c->scrub;
	u64 now = ktime_get_ns();

	nc_count_add(c, SCRUBBED_BYTES, bytes);
	if (s->rate)
		s->due = max(s->due, now) +
			 div64_u64((u64)bytes * NSEC_PER_SEC, s->rate);
	WRITE_ONCE(s->busy, false);
	again(c, s->rate && s->due > now ? nsecs_to_jiffies(s->due - now) : 0);
}

/**
 * nc_scrub_start() - begin a pass
 * @c: live cache
 * @rate: bytes per second, 0: no limit
 * @compare: with the origin, too
 *
 * Context: may sleep.
 * Return: 0; -EBUSY when one is under way, or the device is suspended; -EIO when
 * the cache device is bypassed.
 */
int nc_scrub_start(struct nc_cache *c, u64 rate, bool compare)
{
	struct nc_scrub *s = &c->scrub;
	int r = 0;

	mutex_lock(&c->life);
	if (!c->active || s->wanted || READ_ONCE(s->busy)) {
		r = -EBUSY;
	} else if (READ_ONCE(c->state) == NEARCACHE_BYPASS) {
		r = -EIO;
	} else {
		cancel_delayed_work_sync(&s->work);
		s->compare = compare;
		s->rate = rate;
		s->due = 0;
		s->sub = 0;
		WRITE_ONCE(s->slot, 0);
		WRITE_ONCE(s->wanted, true);
		again(c, 0);
	}
	mutex_unlock(&c->life);
	return r;
}

/**
 * nc_scrub_stop() - give the pass up
 * @c: live cache
 *
 * Context: may sleep.
 * Return: 0, or -ENOENT when there is none.
 */
int nc_scrub_stop(struct nc_cache *c)
{
	int r = 0;

	mutex_lock(&c->life);
	if (READ_ONCE(c->scrub.wanted))
		WRITE_ONCE(c->scrub.wanted, false);
	else
		r = -ENOENT;
	mutex_unlock(&c->life);
	return r;
}

/**
 * nc_scrub_pause() - nothing new is looked at
 * @c: live cache, being suspended
 *
 * What is being looked at counts as a fill: it is over after nc_fill_drain().
 *
 * Context: may sleep.
 */
void nc_scrub_pause(struct nc_cache *c)
{
	WRITE_ONCE(c->scrub.paused, true);
	cancel_delayed_work_sync(&c->scrub.work);
}

/**
 * nc_scrub_resume() - go on
 * @c: live cache, live again
 */
void nc_scrub_resume(struct nc_cache *c)
{
	WRITE_ONCE(c->scrub.paused, false);
	if (READ_ONCE(c->scrub.wanted))
		again(c, 0);
}

/* Blocks that the pass under way has still to look at; 0 when there is none. */
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
