// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readahead windows.  A classifier says how far ahead of a stream to read.  The window becomes
 * fills without readers.  Under the bucket lock they are ordinary fills: a read joins them, and
 * a write makes them stale.
 *
 * Prefetch jobs (see prefetch.c) yield to reads.  Windows do not, because the reader is about to
 * request the same data.  But a window never exceeds the length that was requested for its stream,
 * even if the stream ends; windows use at most half of the fill memory, and no slot that reads
 * would not get.  For a second after a large write or an error, and while the cache is not in
 * state normal, new windows are ignored.
 */
#include <linux/blkdev.h>
#include <linux/sizes.h>

#include "evict/prefetched.h"
#include "cache.h"
#include "io/fill.h"
#include "io/miss.h"
#include "prefetch/prefetch.h"
#include "ranges/lookup.h"
#include "io/read.h"
#include "evict/reclaim.h"
#include "prefetch/readahead.h"

/* Most bytes that a window submits per turn. */
#define TURN_BYTES	SZ_1M
/* Most index look-ups per turn. */
#define TURN_STEPS	256U
/* Delay before the next attempt to get memory. */
#define SHORTAGE	max(1, HZ / 250)
#define OUT_OF_ORDER	HZ

/* May windows be served now?  A hint. */
static bool is_open(const struct nc_cache *c)
{
	return READ_ONCE(c->state) == NEARCACHE_NORMAL && !atomic_read(&c->outage.count) &&
	       !nc_prefetch_holds(c) &&
	       !time_before(jiffies, READ_ONCE(c->windows.failed) + OUT_OF_ORDER);
}

/**
 * nc_window_ask() - request a readahead window of a stream
 * @c: live cache
 * @window: sectors to bring
 *
 * Ignored if readahead is not possible now; then the data misses when it is read.
 *
 * Context: map of a read.
 */
void nc_window_ask(struct nc_cache *c, const struct nc_window *window)
{
	struct nc_windows *w = &c->windows;
	u32 i;

	if (!is_open(c))
		return;
	spin_lock(&w->lock);
	/* The window may continue one that is still queued. */
	for (i = 0; i < w->count; i++)
		if (w->window[i].end == window->first)
			break;
	if (!w->paused && i < w->count) {
		w->window[i].end = window->end;
		/* The reader itself has read the part that fell behind. */
		if (window->end - w->window[i].first > NEARCACHE_WINDOW_MAX)
			w->window[i].first = window->end - NEARCACHE_WINDOW_MAX;
	} else if (!w->paused && w->count < NC_WINDOWS) {
		w->window[w->count++] = *window;
		mod_delayed_work(c->origin_wq, &w->work, 0);
	}
	spin_unlock(&w->lock);
}

/* Bring missing data at the start of @window and advance behind it.  Returns false without
 * memory.
 */
static bool step(struct nc_cache *c, struct nc_window *window, u32 *sent)
{
	sector_t most = min_t(sector_t, window->end - window->first, TURN_BYTES >> SECTOR_SHIFT);
	struct bvec_iter iter = {
		.bi_sector = window->first,
		.bi_size = most << SECTOR_SHIFT,
	};
	struct nc_span span = nc_read_span(c, &iter);

	if (!nc_read_cached(c, &span) &&
	    !(nc_ranges_any(c) && nc_ranges_bypassed(c, &span)))
		switch (nc_miss_prefetch(c->active, &span, NULL)) {
		case NC_MISS_STARTED:
			*sent += nc_fill_span_bytes(c, &span);
			break;
		case NC_MISS_MEMORY:
			return false;
		case NC_MISS_FULL:
			/* The rest would find no slot either. */
			window->first = window->end;
			return true;
		default:
			break;
		}
	window->first = (span.block << c->block_shift) +
			((sector_t)(span.last + 1) << c->sub_shift);
	return true;
}

/* Returns false if the next turn has to wait for memory. */
static bool take_turn(struct nc_cache *c, struct nc_window *window)
{
	struct blk_plug plug;
	bool memory = true;
	u32 sent = 0, steps;

	blk_start_plug(&plug);
	for (steps = 0; memory && steps < TURN_STEPS && sent < TURN_BYTES &&
	     window->first < window->end && !READ_ONCE(c->windows.paused); steps++)
		memory = step(c, window, &sent);
	blk_finish_plug(&plug);
	return memory;
}

/* Pick the window whose turn it is.  Returns false if there is none. */
static bool pick(struct nc_windows *w, struct nc_window *window)
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

/* A reader may have extended the window meanwhile. */
static void put_back(struct nc_windows *w, const struct nc_window *window)
{
	struct nc_window *there;

	spin_lock(&w->lock);
	if (w->count) {
		there = &w->window[w->turn];
		there->first = max(there->first, window->first);
		if (there->first >= there->end)
			*there = w->window[--w->count];
	}
	spin_unlock(&w->lock);
}

static void drop_all(struct nc_windows *w)
{
	spin_lock(&w->lock);
	w->count = 0;
	spin_unlock(&w->lock);
}

static void work(struct work_struct *work)
{
	struct nc_windows *w = container_of(to_delayed_work(work), struct nc_windows, work);
	struct nc_cache *c = container_of(w, struct nc_cache, windows);
	struct nc_window window;
	bool memory = true;

	while (memory && pick(w, &window)) {
		if (!is_open(c)) {
			drop_all(w);
			return;
		}
		memory = take_turn(c, &window);
		put_back(w, &window);
		cond_resched();
	}
	nc_reclaim_check(c);
	if (!memory)
		queue_delayed_work(c->origin_wq, &w->work, SHORTAGE);
}

/**
 * nc_window_done() - account a completed fill of a window
 * @c: live cache
 * @f: fill, off its list
 * @bits: sub-blocks that became valid
 * @error: 0 or an error code
 *
 * Context: process.
 */
void nc_window_done(struct nc_cache *c, const struct nc_fill *f, u64 bits, int error)
{
	nc_count_add(c, PREFETCHED_BYTES,
		     min_t(u64, hweight64(bits) * c->geo.subblock_size, f->bytes));
	if (error)
		WRITE_ONCE(c->windows.failed, jiffies);
}

/*
 * Drop all windows, before a table is suspended.  May sleep, also for a request to the
 * origin.
 */
void nc_windows_pause(struct nc_cache *c)
{
	struct nc_windows *w = &c->windows;

	spin_lock(&w->lock);
	WRITE_ONCE(w->paused, true);
	w->count = 0;
	spin_unlock(&w->lock);
	cancel_delayed_work_sync(&w->work);
}

/* Accept windows, once a table is live. */
void nc_windows_resume(struct nc_cache *c)
{
	spin_lock(&c->windows.lock);
	WRITE_ONCE(c->windows.paused, false);
	spin_unlock(&c->windows.lock);
}

void nc_windows_init(struct nc_cache *c)
{
	struct nc_windows *w = &c->windows;

	spin_lock_init(&w->lock);
	INIT_DELAYED_WORK(&w->work, work);
	w->paused = true;
	w->failed = jiffies - OUT_OF_ORDER;
}
