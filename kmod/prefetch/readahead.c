// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readahead windows.  A classifier (see stream.h) says how far ahead of a stream to read.  Such a
 * window becomes fills that no reader waits for.  A read can join them, and a write makes them
 * stale, like all fills.
 *
 * Windows do not yield to reads as prefetch jobs do, because the reader is about to request the
 * same data.  If the stream ends instead, no more than the window was read in vain.  Windows use at
 * most half of the fill memory, and no slot that a read could not get.  For a second after a large
 * write or an error, and while the cache is not in state normal, windows are ignored.
 */
#include <linux/blkdev.h>
#include <linux/sizes.h>

#include "evict/prefetch_reserve.h"
#include "cache.h"
#include "io/fill.h"
#include "io/miss.h"
#include "prefetch/prefetch.h"
#include "ranges/lookup.h"
#include "io/read.h"
#include "evict/free_slots.h"
#include "prefetch/readahead.h"

/* Most bytes that a window submits per turn. */
#define TURN_BYTES	SZ_1M
/* Most index look-ups per turn. */
#define TURN_STEPS	256U
/* Jiffies before the next attempt to get memory. */
#define SHORTAGE	max(1, HZ / 250)
/* Jiffies after a failed read during which windows are ignored. */
#define OUT_OF_ORDER	HZ

/* May windows be served now?  A hint. */
static bool windows_wanted(const struct nc_cache *c)
{
	return READ_ONCE(c->hot.state) == NEARCACHE_NORMAL &&
	       !atomic_read(&c->origin_retry.count) &&
	       !nc_demand_writes(&c->origin.demand) &&
	       !time_before(jiffies, READ_ONCE(c->readahead.failed) + OUT_OF_ORDER);
}

/**
 * nc_readahead_ask() - request a readahead window of a stream
 * @c: live cache
 * @window: sectors to bring
 *
 * Does nothing if readahead is not possible now: the data then misses when it is read.
 *
 * Context: map of a read.
 */
void nc_readahead_ask(struct nc_cache *c, const struct nc_readahead_window *window)
{
	struct nc_readahead *w = &c->readahead;
	u32 i;

	if (!windows_wanted(c))
		return;
	spin_lock(&w->lock);
	/* Find a queued window of the same stream, which @window continues. */
	for (i = 0; i < w->count; i++)
		if (w->window[i].end == window->first)
			break;
	if (!w->paused && i < w->count) {
		w->window[i].end = window->end;
		/* Skip sectors that fell behind: the reader itself has read them. */
		if (window->end - w->window[i].first > NEARCACHE_WINDOW_MAX)
			w->window[i].first = window->end - NEARCACHE_WINDOW_MAX;
	} else if (!w->paused && w->count < NC_READAHEAD_WINDOWS) {
		w->window[w->count++] = *window;
		mod_delayed_work(c->workers.origin, &w->work, 0);
	}
	spin_unlock(&w->lock);
}

static void window_fill_done(struct nc_fill *f, u64 bits, int error)
{
	struct nc_cache *c = f->target->cache;

	if (bits)
		nc_count(c, FILLS);
	nc_count_add(c, PREFETCHED_BYTES,
		     min_t(u64, hweight64(bits) * c->geo.subblock_size, f->bytes));
	if (error)
		WRITE_ONCE(c->readahead.failed, jiffies);
}

/* nc_miss_sent() counts the reads as users' reads, because users are about to read the data. */
static const struct nc_fill_ops window_fill_ops = {
	.ahead = true,
	.sent = nc_miss_sent,
	.read_done = nc_miss_read_done,
	.done = window_fill_done,
};

/* Bring the data at the start of @window if it is missing, and move the start behind it.  Returns
 * false, without a move, if memory is lacking.
 */
static bool window_step(struct nc_cache *c, struct nc_readahead_window *window, u32 *sent)
{
	sector_t most = min_t(sector_t, window->end - window->first, TURN_BYTES >> SECTOR_SHIFT);
	struct bvec_iter iter = {
		.bi_sector = window->first,
		.bi_size = most << SECTOR_SHIFT,
	};
	struct nc_span span = nc_bio_span(&c->hot, &iter);
	struct nc_fill *f;

	if (!nc_read_cached(c, &span) &&
	    !(nc_ranges_any(c) && nc_ranges_bypassed(c, &span)))
		switch (nc_miss_prefetch(c->life.active, &span, &window_fill_ops, &f)) {
		case NC_MISS_STARTED:
			nc_fill_start(f, false);
			nc_slots_check(c);
			*sent += nc_fill_span_bytes(c, &span);
			break;
		case NC_MISS_MEMORY:
			return false;
		case NC_MISS_FULL:
			/* Give the window up, as its other blocks would find no slot either. */
			window->first = window->end;
			return true;
		default:
			break;
		}
	window->first = (span.block << c->hot.block_shift) +
			((sector_t)(span.last + 1) << c->hot.sub_shift);
	return true;
}

/* Bring up to TURN_BYTES of @window.  Returns false if the next turn has to wait for memory. */
static bool window_turn(struct nc_cache *c, struct nc_readahead_window *window)
{
	struct blk_plug plug;
	bool memory = true;
	u32 sent = 0, steps;

	blk_start_plug(&plug);
	for (steps = 0; memory && steps < TURN_STEPS && sent < TURN_BYTES &&
	     window->first < window->end && !READ_ONCE(c->readahead.paused); steps++)
		memory = window_step(c, window, &sent);
	blk_finish_plug(&plug);
	return memory;
}

/* Copy the window whose turn it is to @window.  Returns false if no window is queued. */
static bool pick_window(struct nc_readahead *w, struct nc_readahead_window *window)
{
	bool any;

	spin_lock(&w->lock);
	any = w->count && !w->paused;
	if (any) {
		w->turn = (w->turn + 1) % w->count;
		*window = w->window[w->turn];
	}
	spin_unlock(&w->lock);
	return any;
}

/* Update the start of the queued window after a turn.  A reader may have moved the window's end. */
static void put_back(struct nc_readahead *w, const struct nc_readahead_window *window)
{
	struct nc_readahead_window *there;

	spin_lock(&w->lock);
	if (w->count) {
		there = &w->window[w->turn];
		there->first = max(there->first, window->first);
		if (there->first >= there->end)
			*there = w->window[--w->count];
	}
	spin_unlock(&w->lock);
}

static void drop_windows(struct nc_readahead *w)
{
	spin_lock(&w->lock);
	w->count = 0;
	spin_unlock(&w->lock);
}

static void readahead_work(struct work_struct *work)
{
	struct nc_readahead *w = container_of(to_delayed_work(work), struct nc_readahead, work);
	struct nc_cache *c = container_of(w, struct nc_cache, readahead);
	struct nc_readahead_window window;
	bool memory = true;

	while (memory && pick_window(w, &window)) {
		if (!windows_wanted(c)) {
			drop_windows(w);
			return;
		}
		memory = window_turn(c, &window);
		put_back(w, &window);
		cond_resched();
	}
	nc_slots_check(c);
	if (!memory)
		queue_delayed_work(c->workers.origin, &w->work, SHORTAGE);
}

/* Drop all windows, and accept none until nc_readahead_resume().  Does not wait for the work.
 * Context: process.
 */
void nc_readahead_rest(struct nc_cache *c)
{
	struct nc_readahead *w = &c->readahead;

	spin_lock(&w->lock);
	WRITE_ONCE(w->paused, true);
	w->count = 0;
	spin_unlock(&w->lock);
}

/* Drop all windows, before the table is suspended.  May wait for a request to the origin. */
void nc_readahead_pause(struct nc_cache *c)
{
	nc_readahead_rest(c);
	cancel_delayed_work_sync(&c->readahead.work);
}

/* Accept windows after a dm table went live. */
void nc_readahead_resume(struct nc_cache *c)
{
	spin_lock(&c->readahead.lock);
	WRITE_ONCE(c->readahead.paused, false);
	spin_unlock(&c->readahead.lock);
}

void nc_readahead_init(struct nc_cache *c)
{
	struct nc_readahead *w = &c->readahead;

	spin_lock_init(&w->lock);
	INIT_DELAYED_WORK(&w->work, readahead_work);
	w->paused = true;
	w->failed = jiffies - OUT_OF_ORDER;
}
