/* SPDX-License-Identifier: GPL-2.0-only */
/* State of prefetched blocks until readers have used them, and the prefetch reserve. */
#ifndef NEARCACHE_EVICT_PREFETCH_RESERVE_H
#define NEARCACHE_EVICT_PREFETCH_RESERVE_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "core/index.h"

struct bio;
struct nc_cache;
struct nc_span;

/* nc_tag.ahead: state of a slot's prefetched data */
#define NC_AHEAD_UNREAD		0x80	/* no reader has used the data yet */
/* 0: slot not in the reserve; n > 0: slot in the reserve, n - 1 of its sub-blocks read so far */
#define NC_AHEAD_RESERVE	0x7f

/* Numbers of unfinished jobs, from 1; the last number is for all jobs that find no other. */
#define NC_RESERVE_JOBS		32U

/**
 * struct nc_prefetch_reserve - slots of a full cache for data that is prefetched and read once
 * @used: number of slots of the reserve that hold a block
 * @held: the same for each job number
 * @jobs: number of unfinished jobs of each job number
 * @joined: tick in which the first unfinished job of each job number joined
 * @cancelled: bit n is set if the last job of number n was cancelled
 * @last: job number that was given last
 * @taker: number of the job that takes slots now; for the prefetch worker only
 * @need: number of blocks that this job still has to bring, the present one included; for the
 *	prefetch worker only
 * @over: number of slots that readers finished since nc_reserve_look() last ran
 * @limit: maximum size of the reserve in slots; reserve_size() raises it to the minimum size
 * @queued: nc_reserve_fit() last found that reads of jobs queued at the origin
 * @shrunk: jiffies at that time
 * @own: number of slots that belong to the reserve, in use or free.  Reclaim raises it; the
 *	prefetch worker raises it, or lowers it when the reserve shrinks.  Both write without a
 *	lock: a lost update gives a few slots to reads, or keeps them, until the next one
 * @wanted: number of slots that jobs need and did not find; a hint, without a lock
 * @pressed: a job has waited long, so reclaim may evict unread blocks of jobs that are over
 * @waiters: number of jobs that wait for a slot
 * @tick: tick in which nc_slots_stamp() last called nc_reserve_wake(); a hint, without a lock
 * @woken: nc_reserve_wake() has called @wake, and the prefetch worker has not yet tried again
 * @wake: makes the jobs that wait try again; any context
 * @lost: an unread block of an unfinished job was evicted; reclaim's context
 *
 * Only the prefetch worker writes @limit, @queued, @shrunk, @waiters, and the fields from @jobs to
 * @need.  Others read these without a lock, as hints.
 */
struct nc_prefetch_reserve {
	atomic_t used;
	atomic_t held[NC_RESERVE_JOBS];
	u32 jobs[NC_RESERVE_JOBS];
	u32 joined[NC_RESERVE_JOBS];
	u32 cancelled;
	u32 last;
	u32 taker;
	u64 need;
	atomic_t over;
	u32 limit;
	bool queued;
	unsigned long shrunk;
	u32 own;
	u32 wanted;
	bool pressed;
	u32 waiters;
	u32 tick;
	atomic_t woken;
	void (*wake)(struct nc_cache *c);
	void (*lost)(struct nc_cache *c, u32 number, u64 bytes);
};

void nc_prefetched_begin(struct nc_cache *c, struct nc_slot *slot, bool reserve);
void nc_prefetched_refill(struct nc_cache *c, struct nc_slot *slot);
void nc_prefetched_window(struct nc_slot *slot);
void nc_prefetched_read(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
			const struct nc_span *span);
void nc_prefetched_joined(struct nc_cache *c, struct nc_slot *slot, const struct bio *bio,
			  const struct nc_span *span);
void nc_prefetched_came(struct nc_cache *c, struct nc_slot *slot);
bool nc_prefetched_is_over(const struct nc_slot *slot);
bool nc_prefetched_is_left(const struct nc_cache *c, const struct nc_slot *slot, u32 ticks);
void nc_prefetched_stays(struct nc_cache *c, struct nc_slot *slot);
void nc_prefetched_gone(struct nc_cache *c, struct nc_slot *slot, u64 block);
u32 nc_reserve_due(const struct nc_cache *c);
u32 nc_reserve_kept(const struct nc_cache *c);
void nc_reserve_fit(struct nc_cache *c, bool queue);
void nc_reserve_gain(struct nc_cache *c, u32 used, u32 freed);
void nc_reserve_want(struct nc_cache *c, u64 slots);
void nc_reserve_look(struct nc_cache *c);
void nc_reserve_wake(struct nc_cache *c);
u32 nc_reserve_join(struct nc_cache *c);
void nc_reserve_leave(struct nc_cache *c, u32 number, bool cancelled);
u32 nc_reserve_room(const struct nc_cache *c);

#endif /* NEARCACHE_EVICT_PREFETCH_RESERVE_H */
