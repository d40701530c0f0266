// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pace of prefetch jobs: others come first.
 *   - While nobody else reads from the origin, so much is on its way as comes within
 *     DELAY_MAX and the origin's own latency: that is what who comes to read waits behind, once.
 *   - While somebody does, small turns go at a rate that rises while the latency of the others'
 *     reads is as it is without us, and falls when it is not.  To know how it is without us,
 *     nothing goes for an eighth of a second, every two seconds.
 *   - But who reads what is brought for him waits for nothing else: jobs that come across what was
 *     just read, or are waited for, do not give way to those readers.  They all would get less
 *     than the origin has.
 *   - A second after a large write, or an error, nothing is sent.
 */
#include <linux/ktime.h>

#include "cache.h"
#include "io/fill.h"
#include "prefetch/throttle.h"

/* Others have gone when nothing of them was seen for so long. */
#define QUIET		(HZ / 10)
/* So long nothing is sent after a large write, and after an error. */
#define CHECKPOINT	HZ
#define OUT_OF_ORDER	HZ
/* Time that what is on its way may take to come, beside the origin's latency. */
#define DELAY_MAX	(80 * (u64)NSEC_PER_MSEC)
#define WINDOW_MIN	(2U << 20)
/* Bytes per second, while others read. */
#define RATE_FIRST	(4ULL << 20)
#define RATE_MIN	(RATE_FIRST / 4)
#define RATE_MAX	(64ULL << 30)
#define RATE_STEP	(4ULL << 20)
#define RATE_PERIOD	max(1, HZ / 10)
/* What others' reads take without us shows only when nothing of ours was on its way for so long:
 * who stores the data may make up for it later.  So nothing is sent for a while, so often.
 */
#define CLEAN		(30 * (u64)NSEC_PER_MSEC)
#define PROBE		max(1, HZ / 8)
#define PROBE_EVERY	(2 * HZ)
/* A sample is worth 1/32 of what is smoothed. */
#define SMOOTH		5
/* The shortest latency that was seen is forgotten by 1/256 with each read. */
#define FORGET		8
/* So often it is looked who the others are; what was seen before counts half. */
#define WEIGH		max(1, HZ / 10)

/* Others read from the origin, or did so just now.  Context: any; a hint. */
bool nc_pace_is_shared(const struct nc_prefetch *p)
{
	return atomic_read(&p->demand) ||
	       time_before(jiffies, READ_ONCE(p->demand_last) + QUIET);
}

/* Others' reads have begun: nothing is known of them. */
static void begin_shared(struct nc_prefetch *p)
{
	lockdep_assert_held(&p->lock);
	p->rate = RATE_FIRST;
	memset(&p->clean, 0, sizeof(p->clean));
	memset(&p->beside, 0, sizeof(p->beside));
	p->looked = jiffies;
	p->probed = jiffies - PROBE_EVERY;
}

/* Send nothing for a while; what was learnt before counts half. */
static void begin_probe(struct nc_prefetch *p)
{
	lockdep_assert_held(&p->lock);
	p->probed = jiffies;
	p->due = jiffies + PROBE;
	p->clean.sum /= 2;
	p->clean.count /= 2;
}

/**
 * nc_prefetch_holds() - is what may be a checkpoint being written?
 * @c: cache
 *
 * Context: any; a hint.
 */
bool nc_prefetch_holds(const struct nc_cache *c)
{
	return time_before(jiffies, READ_ONCE(c->prefetch.wrote) + CHECKPOINT);
}

/* Are those who read the ones for whom jobs bring it?  @p is locked. */
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

/**
 * nc_pace_wait() - how long to wait because of others
 * @c: live cache
 *
 * Context: the prefetch worker.
 * Return: jiffies.
 */
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

/* What of ours flies shows in how long it takes to come, but for the origin's own latency: that
 * is the same with less on the way.  It may have grown: what is taken for it does so, too.
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
		/* What is on its way already is not to make it smaller once more. */
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

/**
 * nc_prefetch_demand() - somebody reads, or has read, from the origin past the cache
 * @c: live cache
 *
 * Context: any.
 */
void nc_prefetch_demand(struct nc_cache *c)
{
	if (unlikely(nc_prefetch_any(&c->prefetch)))
		WRITE_ONCE(c->prefetch.demand_last, jiffies);
}

/**
 * nc_prefetch_read_sent() - a fill is about to read from the origin, while there are jobs
 * @c: live cache
 * @f: fill, of a job or of a reader
 *
 * nc_prefetch_read_done() follows.
 *
 * Context: any but interrupts.
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

/**
 * nc_prefetch_read_done() - the origin has answered
 * @c: live cache
 * @f: fill, after nc_prefetch_read_sent()
 *
 * Context: process.
 */
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

/**
 * nc_prefetch_wrote() - somebody writes
 * @c: live cache
 * @bytes: how much
 *
 * Context: any.
 */
void nc_prefetch_wrote(struct nc_cache *c, u32 bytes)
{
	if (bytes >= NC_PREFETCH_CHECKPOINT)
		WRITE_ONCE(c->prefetch.wrote, jiffies);
}

/**
 * nc_pace_met() - a job came across what was read just before, or a reader waits for what it brings
 * @c: live cache
 * @bytes: how much
 *
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
