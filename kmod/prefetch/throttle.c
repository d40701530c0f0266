// SPDX-License-Identifier: GPL-2.0-only
/*
 * Throttle of prefetch jobs, which yield to all other I/O.  Without other origin reads, jobs keep
 * as many bytes in flight as pipe.c allows.  With other origin reads, jobs take small turns at
 * a limited rate.  The rate rises while the latency of the other reads is the same as without jobs,
 * and falls otherwise.  To measure the latency without jobs, jobs pause for an eighth of a second
 * every two seconds.  Jobs do not yield to a reader of the data that they are bringing: reader and
 * job would wait for each other, and leave a part of the origin's bandwidth unused.  For a second
 * after a large write or an error, jobs submit nothing.
 */
#include <linux/ktime.h>

#include "cache.h"
#include "io/fill.h"
#include "prefetch/throttle.h"

/* Jiffies after an error during which jobs submit nothing. */
#define OUT_OF_ORDER	HZ
/* nc_prefetch.rate while other readers read, bytes per second; adjusted every RATE_PERIOD. */
#define RATE_FIRST	(4ULL << 20)
#define RATE_MIN	(RATE_FIRST / 4)
#define RATE_MAX	(64ULL << 30)
#define RATE_STEP	(4ULL << 20)
#define RATE_PERIOD	max(1, HZ / 10)
/* Jobs pause for PROBE every PROBE_EVERY to measure undisturbed reads, see NC_DEMAND_CLEAN. */
#define PROBE		max(1, HZ / 8)
#define PROBE_EVERY	(2 * HZ)
/* Interval in which is_followed() compares users' reads with jobs and halves the counts. */
#define WEIGH		max(1, HZ / 10)

/* Start again with the first rate and without measurements, as other reads have begun. */
static void begin_shared(struct nc_prefetch *p)
{
	lockdep_assert_held(&p->lock);
	p->rate = RATE_FIRST;
	memset(&p->clean, 0, sizeof(p->clean));
	memset(&p->beside, 0, sizeof(p->beside));
	p->looked = jiffies;
	p->probed = jiffies - PROBE_EVERY;
}

/* Let jobs pause for PROBE, to measure undisturbed reads; halve the weight of old samples. */
static void begin_probe(struct nc_prefetch *p)
{
	lockdep_assert_held(&p->lock);
	p->probed = jiffies;
	p->due = jiffies + PROBE;
	p->clean.sum /= 2;
	p->clean.count /= 2;
}

/* Do jobs bring at least half of the data that other readers want?  Context: @p->lock is held. */
static bool is_followed(struct nc_prefetch *p, struct nc_demand *d)
{
	lockdep_assert_held(&p->lock);
	if (!time_before(jiffies, p->weighed + WEIGH)) {
		u64 asked = atomic64_read(&d->asked), met = atomic64_read(&d->met);

		p->followed = met && met >= asked / 2;
		atomic64_sub(asked - asked / 2, &d->asked);
		atomic64_sub(met - met / 2, &d->met);
		p->weighed = jiffies;
	}
	return p->followed;
}

/* Return for how many jiffies jobs must yield to users' I/O.  Context: the prefetch worker. */
unsigned long nc_throttle_wait(struct nc_cache *c)
{
	struct nc_demand *d = &c->origin.demand;
	struct nc_prefetch *p = &c->prefetch;
	unsigned long now = jiffies, wait = 0;
	bool shared;

	if (READ_ONCE(c->hot.state) != NEARCACHE_NORMAL || atomic_read(&c->origin_retry.count))
		return OUT_OF_ORDER;
	if (nc_demand_writes(d))
		return READ_ONCE(d->wrote) + NC_DEMAND_HOLD - now;
	spin_lock(&p->lock);
	/* Readers of a plan do not read elsewhere; other jobs must yield to them. */
	shared = nc_demand_reads(d) && !is_followed(p, d) &&
		 !(p->stream.leads && p->jobs.count == 1);
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

/* Set the cap of the fill memory to twice the window, as jobs may use half of it, but not below
 * twice the memory that they use.  Call this when the window, the bounds of the cap, or the number
 * of jobs has changed.  Context: nc_prefetch.lock.
 */
void nc_throttle_fit_memory(struct nc_cache *c)
{
	struct nc_prefetch *p = &c->prefetch;
	u64 want = p->jobs.count ? 2 * max(nc_pipe_size(&p->pipe), p->flying) : 0;

	lockdep_assert_held(&p->lock);
	WRITE_ONCE(c->fills.memory_max, clamp(want, p->memory_least, p->memory_most));
}

/* Adjust the rate of jobs after a user's read of @took ns; @alone: no job disturbed that read. */
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

/* Account a user's read of the origin that took @took ns.  Context: process. */
void nc_throttle_measure_user(struct nc_demand *d, u64 took, bool undisturbed)
{
	struct nc_cache *c = container_of(d, struct nc_cache, origin.demand);

	spin_lock(&c->prefetch.lock);
	fit_rate(&c->prefetch, took, undisturbed);
	spin_unlock(&c->prefetch.lock);
}

/**
 * nc_throttle_see_read() - account a job's read of the origin
 * @c: cache
 * @bytes: length of the read
 * @took: time until it ended, ns
 * @success: it succeeded; the time until an error says nothing about the origin
 *
 * Context: process.
 */
void nc_throttle_see_read(struct nc_cache *c, u32 bytes, u64 took, bool success)
{
	struct nc_prefetch *p = &c->prefetch;

	spin_lock(&p->lock);
	if (success) {
		nc_pipe_see_read(&p->pipe, ktime_get_ns(), took, bytes, p->reading,
				 p->memory_most / 2);
		nc_throttle_fit_memory(c);
		WRITE_ONCE(p->reads, p->reads + 1);
	}
	p->reading -= bytes;
	nc_prefetch_kick(p);
	spin_unlock(&p->lock);
}

/**
 * nc_throttle_set_memory() - set the bounds of the cap of the fill memory
 * @c: live cache
 * @least: lowest cap, bytes
 * @most: highest cap, bytes; @least if the operator has set the cap
 *
 * Context: process.
 */
void nc_throttle_set_memory(struct nc_cache *c, u64 least, u64 most)
{
	spin_lock(&c->prefetch.lock);
	c->prefetch.memory_least = least;
	c->prefetch.memory_most = most;
	nc_throttle_fit_memory(c);
	spin_unlock(&c->prefetch.lock);
}

void nc_throttle_init(struct nc_prefetch *p)
{
	nc_pipe_init(&p->pipe);
	p->rate = RATE_FIRST;
	/* At first, as if the latest failure was long ago. */
	p->failed = jiffies - OUT_OF_ORDER;
	p->weighed = jiffies;
}
