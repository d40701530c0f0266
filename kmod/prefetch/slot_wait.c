// SPDX-License-Identifier: GPL-2.0-only
/* Jobs that wait for a slot: how long, and how often they let reclaim look for one. */
#include "cache.h"
#include "evict/free_slots.h"
#include "evict/prefetch_reserve.h"
#include "prefetch/prefetch.h"
#include "prefetch/slot_wait.h"
#include "ranges/lookup.h"

/* In one tick, jobs let reclaim look for slots at most once in this interval, because a look may
 * visit all slots.  Pressed jobs do so once in NC_PRESSED if readers have finished no slot since.
 */
#define LOOK		(HZ / 2)
/* Interval in which a job looks for a slot although nc_reserve_wake() was not called. */
#define RECHECK		(60UL * HZ)

/* Jiffies until jobs may let reclaim look for slots again.  0: now, and the caller does so. */
static unsigned long look_delay(struct nc_cache *c, bool pressed)
{
	const struct nc_prefetch_reserve *r = &c->slots.reserve;
	struct nc_prefetch *p = &c->prefetch;
	unsigned long now = jiffies, next = p->asked + LOOK;
	u32 tick = READ_ONCE(c->hot.now);

	if (pressed && READ_ONCE(r->pressed) && !atomic_read(&r->over))
		next = p->asked + NC_PRESSED;
	if (tick == p->asked_tick && time_before(now, next))
		return next - now;
	p->asked = now;
	p->asked_tick = tick;
	return 0;
}

/* State the demand of the job for slots of the reserve, and let reclaim look for them.  If the job
 * is @pressed, reclaim may evict unread blocks of jobs that are over.
 */
static void ask_for_slots(struct nc_cache *c, struct nc_job *job, bool pressed)
{
	struct nc_prefetch *p = &c->prefetch;
	u32 reads = READ_ONCE(p->reads);
	u64 room;

	/* Without a read of a job since the last time, only an idle origin is a measurement. */
	if (reads != p->fitted || !nc_demand_reads(&c->origin.demand))
		nc_reserve_fit(c, READ_ONCE(p->pipe.full) && reads != p->fitted);
	p->fitted = reads;
	room = nc_reserve_room(c);
	if (pressed) {
		WRITE_ONCE(c->slots.reserve.pressed, true);
		nc_slots_look_again(c);
	}
	/* Without room, leave the demand of other jobs as it is. */
	if (room)
		nc_reserve_want(c, min(room, job->blocks));
	nc_reserve_look(c);
}

/* Set nc_job.waits, and count the jobs for which it is set. */
void nc_job_set_waits(struct nc_cache *c, struct nc_job *job, bool waits)
{
	struct nc_prefetch_reserve *r = &c->slots.reserve;

	if (likely(job->waits == waits))
		return;
	spin_lock(&c->prefetch.lock);
	job->waits = waits;
	job->waited = jiffies;
	spin_unlock(&c->prefetch.lock);
	WRITE_ONCE(r->waiters, waits ? r->waiters + 1 : r->waiters - 1);
}

/* Shall the job wait for a slot for @block, as none is free?  Sets job->due if so.  A job waits
 * until its deadline, or else without limit: its readers may start late.  nc_reserve_wake() ends
 * the wait early.  The first try of a wait is repeated, because a slot may have been freed just
 * before nc_prefetch_reserve.waiters was increased.
 */
bool nc_job_waits_for_slot(struct nc_cache *c, struct nc_job *job, u64 block)
{
	unsigned long now = jiffies, due = now + NC_SHORTAGE, delay;
	bool pressed;

	if (job->deadline && !time_before(now, job->deadline)) {
		nc_job_set_waits(c, job, false);
		return false;
	}
	if (job->waits)
		due = time_before(now, job->waited + NC_PRESSED) ? job->waited + NC_PRESSED :
								now + RECHECK;
	nc_job_set_waits(c, job, true);
	pressed = !time_before(now, job->waited + NC_PRESSED);
	if (!nc_ranges_pinned(c, block)) {
		delay = look_delay(c, pressed);
		if (!delay)
			ask_for_slots(c, job, pressed);
		else if (time_before(now + delay, due))
			due = now + delay;
	}
	nc_slots_check(c);
	if (job->deadline && time_before(job->deadline, due))
		due = job->deadline;
	spin_lock(&c->prefetch.lock);
	job->due = due ?: 1;
	spin_unlock(&c->prefetch.lock);
	return true;
}
