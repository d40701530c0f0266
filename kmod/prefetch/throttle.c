// SPDX-License-Identifier: GPL-2.0-only
/*
 * Throttle of prefetch jobs, which yield to all other I/O.
 *   - Without other origin reads, jobs keep as many bytes in flight as arrive within DELAY_MAX
 *     on top of the origin's own latency.  A new read waits behind these, once.
 *   - With other origin reads, jobs take small turns at a rate.  It rises while the latency of the
 *     other reads is the same as without jobs, and falls otherwise.  To measure the latency
 *     without jobs, they pause for an eighth of a second every two seconds.
 *   - A reader of data that jobs bring waits for nothing but these jobs.  So jobs whose data was
 *     just read, or is waited for, do not yield to such readers: together they would get less
 *     than the origin's bandwidth.
 *   - For a second after a large write, or an error, jobs submit nothing.
 */
#include <linux/ktime.h>

#include "cache.h"
#include "io/fill.h"
#include "prefetch/throttle.h"

/* Time without other origin reads after which jobs have the origin to themselves. */
#define QUIET		(HZ / 10)
/* Pause after a large write, and after an error. */
#define CHECKPOINT	HZ
#define OUT_OF_ORDER	HZ
/* Most queueing time of data in flight, on top of the origin's own latency. */
#define DELAY_MAX	(80 * (u64)NSEC_PER_MSEC)
#define WINDOW_MIN	(2U << 20)
/* Bytes per second, while others read. */
#define RATE_FIRST	(4ULL << 20)
#define RATE_MIN	(RATE_FIRST / 4)
#define RATE_MAX	(64ULL << 30)
#define RATE_STEP	(4ULL << 20)
#define RATE_PERIOD	max(1, HZ / 10)
/* Latency without jobs is measurable only after this long without a fill of a job in flight: the
 * storage server may be catching up.  Length and interval of the pauses that make this possible.
 */
#define CLEAN		(30 * (u64)NSEC_PER_MSEC)
#define PROBE		max(1, HZ / 8)
#define PROBE_EVERY	(2 * HZ)
/* Weight of a sample in a smoothed value: 1/32. */
#define SMOOTH		5
/* The minimum latency rises by 1/256 with each read, so that an old one is forgotten. */
#define FORGET		8
/* Interval of the comparison of others' reads with jobs; earlier counts are halved. */
#define WEIGH		max(1, HZ / 10)

/* Are there, or were there until just now, other origin reads?  Context: any; a hint. */
bool nc_pace_is_shared(const struct nc_prefetch *p)
{
	return atomic_read(&p->demand) ||
	       time_before(jiffies, READ_ONCE(p->demand_last) + QUIET);
}

/* Other reads have begun: forget old measurements. */
static void begin_shared(struct nc_prefetch *p)
{
	lockdep_assert_held(&p->lock);
	p->rate = RATE_FIRST;
	memset(&p->clean, 0, sizeof(p->clean));
	memset(&p->beside, 0, sizeof(p->beside));
	p->looked = jiffies;
	p->probed = jiffies - PROBE_EVERY;
}

/* Pause to measure; halve the weight of old samples. */
static void begin_probe(struct nc_prefetch *p)
{
	lockdep_assert_held(&p->lock);
	p->probed = jiffies;
	p->due = jiffies + PROBE;
	p->clean.sum /= 2;
	p->clean.count /= 2;
}

/* Was there a large write within CHECKPOINT?  Context: any; a hint. */
bool nc_prefetch_holds(const struct nc_cache *c)
{
	return time_before(jiffies, READ_ONCE(c->prefetch.wrote) + CHECKPOINT);
}

/* Do the other readers mostly read the data that jobs bring?  @p is locked. */
static bool is_followed(struct nc_prefetch *p)
{
	lockdep_assert_held(&p->lock);
	if (!time_before(jiffies, p->weighed + WEIGH)) {
		u64 asked = atomic64_read(&p->asked), met = atomic64_read(&p->met);

		p->followed = met && met >= asked / 2;
		atomic64_sub(asked - asked / 2, &p->asked);
		atomic64_sub(met - met / 2, &p->met);
		p->weighed = jiffies;
	}
	return p->followed;
}

/* Jiffies that jobs have to wait because of other I/O; 0: none.  Context: the prefetch worker. */
unsigned long nc_pace_wait(struct nc_cache *c)
{
	struct nc_prefetch *p = &c->prefetch;
	unsigned long now = jiffies, wait = 0;
	bool shared;

	if (READ_ONCE(c->state) != NEARCACHE_NORMAL || atomic_read(&c->outage.count))
		return OUT_OF_ORDER;
	if (nc_prefetch_holds(c))
		return READ_ONCE(p->wrote) + CHECKPOINT - now;
	spin_lock(&p->lock);
	shared = nc_pace_is_shared(p) && !is_followed(p);
	if (time_before(now, p->failed + OUT_OF_ORDER))
		wait = p->failed + OUT_OF_ORDER - now;
	if (shared && !p->shared)
		begin_shared(p);
	p->shared = shared;
	if (shared && !time_before(now, p->probed + PROBE_EVERY))
		begin_probe(p);
	if (shared && time_before(now, p->due))
		wait = max(wait, p->due - now);
	spin_unlock(&p->lock);
	return wait;
}

/* Fit the window of bytes in flight.  The latency above its minimum is queueing behind jobs' own
 * fills.  The minimum itself may grow with the origin's latency, so fit it as well.
 */
static void fit_window(struct nc_cache *c, u64 took)
{
	struct nc_prefetch *p = &c->prefetch;
	u64 queued;

	lockdep_assert_held(&p->lock);
	p->least = p->least ? min(took, p->least + (p->least >> FORGET)) : took;
	queued = took - p->least;
	p->delay += (s64)(queued - p->delay) >> SMOOTH;
	if (p->delay > DELAY_MAX) {
		p->window = max_t(u64, p->window - p->window / 4, WINDOW_MIN);
		/* Data already in flight must not shrink the window once more. */
		p->delay = DELAY_MAX / 2;
	} else if (p->flying + p->window / 4 > p->window) {
		p->window = min(p->window + (64U << 10), READ_ONCE(c->fill_memory_max) / 2);
	}
}

static void fit_rate(struct nc_prefetch *p, u64 took, bool alone)
{
	struct nc_latency *l = alone ? &p->clean : &p->beside;
	u64 base, latency;

	lockdep_assert_held(&p->lock);
	l->sum += took;
	l->count++;
	if (time_before(jiffies, p->looked + RATE_PERIOD))
		return;
	p->looked = jiffies;
	if (!p->beside.count)
		return;
	latency = div_u64(p->beside.sum, p->beside.count);
	base = p->clean.count ? div_u64(p->clean.sum, p->clean.count) : 0;
	memset(&p->beside, 0, sizeof(p->beside));
	if (latency > base + base / 32)
		p->rate = max(p->rate - p->rate / 4, RATE_MIN);
	else
		p->rate = min(p->rate + RATE_STEP, RATE_MAX);
}

/* Another read goes to the origin, or completes, as a bypass.  Context: any. */
void nc_prefetch_demand(struct nc_cache *c)
{
	if (unlikely(nc_prefetch_any(&c->prefetch)))
		WRITE_ONCE(c->prefetch.demand_last, jiffies);
}

/**
 * nc_prefetch_read_sent() - measure an origin read, while there are jobs
 * @c: live cache
 * @f: fill, of a job or of a reader, about to be submitted
 *
 * nc_prefetch_read_done() must follow.
 *
 * Context: any except interrupts.
 */
void nc_prefetch_read_sent(struct nc_cache *c, struct nc_fill *f)
{
	f->since = ktime_get_ns();
	if (f->job)
		return;
	atomic64_add(f->bytes, &c->prefetch.asked);
	f->alone = !READ_ONCE(c->prefetch.flying) &&
		   f->since - READ_ONCE(c->prefetch.landed) >= CLEAN;
	atomic_inc(&c->prefetch.demand);
}

/* The origin completed a read after nc_prefetch_read_sent().  Context: process. */
void nc_prefetch_read_done(struct nc_cache *c, struct nc_fill *f)
{
	u64 took = max(ktime_get_ns() - f->since, 1ULL);
	struct nc_prefetch *p = &c->prefetch;

	if (!f->job) {
		WRITE_ONCE(p->demand_last, jiffies);
		atomic_dec(&p->demand);
	}
	spin_lock(&p->lock);
	if (f->job)
		fit_window(c, took);
	else
		fit_rate(p, took, f->alone);
	spin_unlock(&p->lock);
}

/* A write of @bytes arrives.  Context: any. */
void nc_prefetch_wrote(struct nc_cache *c, u32 bytes)
{
	if (bytes >= NC_PREFETCH_CHECKPOINT)
		WRITE_ONCE(c->prefetch.wrote, jiffies);
}

/*
 * A job met data that was read just before, or a read waits for data that a job brings.
 * Context: any.
 */
void nc_pace_met(struct nc_cache *c, u64 bytes)
{
	atomic64_add(bytes, &c->prefetch.met);
}

/* See struct nc_prefetch. */
void nc_pace_init(struct nc_prefetch *p)
{
	p->window = WINDOW_MIN;
	p->rate = RATE_FIRST;
	/* Long ago. */
	p->demand_last = jiffies - QUIET;
	p->wrote = jiffies - CHECKPOINT;
	p->failed = jiffies - OUT_OF_ORDER;
	p->weighed = jiffies;
}
