/* SPDX-License-Identifier: GPL-2.0-only */
/* Plans: the order of future reads of the origin (not of evictions), declared by user space. */
#ifndef NEARCACHE_EVICT_READ_PLAN_H
#define NEARCACHE_EVICT_READ_PLAN_H

#include <linux/bits.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "nearcache.h"
#include "evict/belady.h"
#include "evict/read_notes.h"

struct bio;
struct nc_cache;
struct nc_span;

/* Flags of nc_plan_commit(): continue the plan in force; do not bring data before it is read. */
#define NC_PLAN_APPEND		BIT(0)
#define NC_PLAN_NO_PREFETCH	BIT(1)

/**
 * struct nc_active_plan - a plan in force
 * @lock: protects @order and @paused; taken inside bucket locks; process context; innermost, except
 *	that the lock of an old plan nests inside the lock of the plan that continues it
 * @refs: one reference of nc_plan.now, and one of each worker that uses the plan
 * @number: unique among the plans of the cache; constant
 * @order: the plan's data; nc_plan_admits() reads it without the lock
 * @notes: one ring for each processor, by its number: reads that are not applied to @order yet.  A
 *	reader writes to the ring of its processor; a task that holds @lock takes notes from any
 *	ring.  Not per-CPU memory: alloc_percpu() may fail instead of waiting for I/O
 * @batch: number of notes of a processor at which its reader queues the work to run at once;
 *	constant
 * @fresh: number of notes of a processor from which on a miss first applies the notes; constant
 * @applied: number of notes that works applied since nc_plan_apply() was called; a hint,
 *	without a lock
 * @paused: the reclaim worker uses @order without @lock, but under nc_plan.lock; others must not
 *	touch it
 * @unscanned: the reclaim worker has yet to report the cached blocks to @order.  Initialised
 *	before the plan is visible to others; then only the worker writes it
 * @asked: the reclaim worker is queued to run nc_plan_work() for this plan; protected by @lock
 */
struct nc_active_plan {
	spinlock_t lock;	/* see above */
	refcount_t refs;
	u64 number;
	struct nc_belady order;
	struct nc_notes *notes;
	u32 batch;
	u32 fresh;
	u32 applied;
	bool paused;
	bool unscanned;
	bool asked;
};

/**
 * struct nc_notes_work - work that applies the notes of one processor, and runs there
 * @work: runs notes_work()
 * @c: the cache
 * @cpu: the processor
 */
struct nc_notes_work {
	struct delayed_work work;
	struct nc_cache *c;
	int cpu;
};

/**
 * struct nc_plan - the plans of a cache
 * @lock: protects this structure and nc_hot.planned; taken inside nc_life.lock
 * @now: the plan in force, or NULL; read under RCU
 * @coming: a plan that user space is handing over in several requests, or NULL
 * @numbers: nc_active_plan.number of the plan that was put in force last
 * @state: state of @now, or the reason why the last plan ended
 * @last: figures of the last plan that ended
 * @no_prefetch: bring no data ahead of the reads of @now; changed under @lock, read without it
 * @strays: blocks that the plan does not contain, and that are not pinned, may be cached: reclaim
 *	evicts them first, and nc_plan_admits() relies on that; a hint, without the lock
 * @late: the reclaim worker has to end the plan or to move in it, but found @lock taken, so
 *	nc_plan_unlock() queues the worker again
 * @report_lock: protects @state, @last and @shown, which are changed under @lock as well, so that
 *	nc_plan_report() need not wait for @lock; nc_active_plan.lock nests inside
 * @shown: plan whose figures nc_plan_report() returns: @now, or an ended plan until its figures are
 *	in @last; NULL: @last
 * @at: ranges of @coming when @lock was released; read without a lock
 * @works: for each processor the work that applies its notes
 */
struct nc_plan {
	struct mutex lock;	/* see above */
	struct nc_active_plan __rcu *now;
	struct nc_belady *coming;
	u64 numbers;
	enum nearcache_plan_state state;
	struct nc_belady_figures last;
	bool no_prefetch;
	bool strays;
	bool late;
	spinlock_t report_lock;	/* see above */
	struct nc_active_plan *shown;
	u64 at;
	struct nc_notes_work __percpu *works;
};

/**
 * struct nc_plan_report - state of the plans of a cache
 * @at: ranges received so far of a plan that is being handed over
 * @state: state of the plan in force, or the reason why the last plan ended
 * @no_prefetch: the plan in force, or else the last one, was submitted with NC_PLAN_NO_PREFETCH
 * @figures: figures of this plan
 */
struct nc_plan_report {
	u64 at;
	enum nearcache_plan_state state;
	bool no_prefetch;
	struct nc_belady_figures figures;
};

/**
 * struct nc_plan_cursor - a position ahead of the readers of the plan in force
 * @number: nc_active_plan.number of the plan that @at belongs to
 * @sought: its nc_belady_figures.sought when @at was set
 * @at: visit to look at next
 * @visits: number of visits of the plan
 * @position: first visit that readers have neither made nor skipped
 * @front: one behind the farthest visit that readers made
 * @spare: nc_belady.spares: cached blocks that MIN evicts before their next visit, or that have
 *	none
 * @scheduled: nc_plan_schedule() has run since this plan came into force and since readers jumped
 * @foreseen: the last nc_plan_schedule() succeeded: nc_belady.absent says which visits miss
 * @made: number of visits that readers have made
 * @astray: number of reads that are part of no visit
 */
struct nc_plan_cursor {
	u64 number;
	u64 sought;
	u32 at;
	u32 visits;
	u32 position;
	u32 front;
	u32 spare;
	bool scheduled;
	bool foreseen;
	u64 made;
	u64 astray;
};

/* Is a plan in force?  A hint, except under nc_plan.lock. */
#define nc_plan_any(c)	(!!rcu_access_pointer((c)->plan.now))

void nc_plan_init(struct nc_cache *c);
void nc_plan_destroy(struct nc_cache *c);
void nc_plan_lock(struct nc_cache *c);
void nc_plan_unlock(struct nc_cache *c);

struct nc_active_plan *nc_plan_current(struct nc_plan *f);
void nc_plan_release(struct nc_active_plan *active);
void nc_plan_replace(struct nc_cache *c, struct nc_active_plan *active,
		     enum nearcache_plan_state state);
struct nc_active_plan *nc_plan_hold(struct nc_cache *c);
u32 nc_plan_apply(struct nc_active_plan *active);
void nc_plan_apply_now(struct nc_cache *c);
struct nc_belady_figures nc_plan_figures(const struct nc_active_plan *active);
void nc_plan_drop_coming(struct nc_plan *f);

int nc_plan_begin(struct nc_cache *c, u64 at);
int nc_plan_append(struct nc_cache *c, u64 first, u64 end);
int nc_plan_commit(struct nc_cache *c, unsigned int flags);
bool nc_plan_clear(struct nc_cache *c);
void nc_plan_report(struct nc_cache *c, struct nc_plan_report *report);

void nc_plan_hit(struct nc_cache *c, const struct bio *bio);
void nc_plan_read(struct nc_cache *c, const struct nc_span *span, sector_t first,
		  sector_t end, bool hit);
void nc_plan_refresh(struct nc_cache *c);
bool nc_plan_admits(struct nc_cache *c, u64 block, u32 left, u32 low);
void nc_plan_took(struct nc_cache *c, u64 block, bool brought, bool pinned);
void nc_plan_gone(struct nc_cache *c, u64 block);
bool nc_plan_is_stray(struct nc_cache *c, u64 block);
void nc_plan_stray(struct nc_cache *c);
void nc_plan_no_strays(struct nc_cache *c);
bool nc_plan_farthest(struct nc_cache *c, u32 *end, u64 *block);
bool nc_plan_look(struct nc_cache *c, struct nc_plan_cursor *cursor);
void nc_plan_schedule(struct nc_cache *c, struct nc_plan_cursor *cursor, const bool *stop);
bool nc_plan_ahead(struct nc_cache *c, struct nc_plan_cursor *cursor, u32 end, u32 near, bool full,
		   struct nc_span *span);
bool nc_plan_unread(struct nc_cache *c, const struct nc_plan_cursor *cursor, u32 v,
		    struct nc_span *span);
int nc_plan_alloc_works(struct nc_cache *c);
void nc_plan_stop_works(struct nc_cache *c);
void nc_plan_kick(struct nc_cache *c);
void nc_plan_work(struct nc_cache *c);

#endif /* NEARCACHE_EVICT_READ_PLAN_H */
