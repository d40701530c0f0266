/* SPDX-License-Identifier: GPL-2.0-only */
/* The plan that a cache follows, while there is one. */
#ifndef NEARCACHE_EVICT_PLAN_H
#define NEARCACHE_EVICT_PLAN_H

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "nearcache.h"
#include "evict/belady.h"

struct nc_cache;
struct nc_span;

/**
 * struct nc_foreseen - a plan in force
 * @lock: protects @plan and @paused; taken inside bucket locks; process context; innermost
 * @refs: one of nc_foresight.now, one of the reclaim worker
 * @plan: the plan
 * @paused: the worker uses @plan without the lock; all others must not
 * @unscanned: the worker has yet to report the cached blocks; set before publication
 * @asked: the worker was queued for the plan; a hint
 */
struct nc_foreseen {
	spinlock_t lock;	/* see above */
	refcount_t refs;
	struct nc_plan plan;
	bool paused;
	bool unscanned;
	bool asked;
};

/**
 * struct nc_foresight - the plans of a cache
 * @lock: protects the fields here, and nc_cache.checks; taken inside nc_cache.life
 * @now: the plan in force, or NULL; read under RCU
 * @coming: the plan that is being handed over, or NULL
 * @state: final state of the last plan in force
 * @last: statistics of that plan after its end
 * @checked: hits are checked for reasons other than a plan
 * @strays: blocks outside the plan may be cached; a hint, without the lock
 * @late: the worker found @lock taken when it had to end the plan; the unlock queues it again
 */
struct nc_foresight {
	struct mutex lock;	/* see above */
	struct nc_foreseen __rcu *now;
	struct nc_plan *coming;
	enum nearcache_plan_state state;
	struct nc_plan_figures last;
	bool checked;
	bool strays;
	bool late;
};

/* Is a plan in force?  A hint, except under nc_foresight.lock. */
#define nc_foresight_any(c)	(!!rcu_access_pointer((c)->foresight.now))

void nc_foresight_init(struct nc_cache *c);
void nc_foresight_destroy(struct nc_cache *c);
void nc_foresight_lock(struct nc_cache *c);
void nc_foresight_unlock(struct nc_cache *c);
void nc_foresight_checks(struct nc_cache *c, bool checked);

int nc_foresight_begin(struct nc_cache *c, u64 at);
int nc_foresight_append(struct nc_cache *c, u64 first, u64 end);
int nc_foresight_commit(struct nc_cache *c);
void nc_foresight_drop(struct nc_cache *c);
bool nc_foresight_clear(struct nc_cache *c);
void nc_foresight_figures(struct nc_cache *c, struct nc_plan_figures *figures);

void nc_foresight_read(struct nc_cache *c, const struct nc_span *span, sector_t first,
		       sector_t end, bool hit);
bool nc_foresight_admits(struct nc_cache *c, u64 block, u32 left, u32 low);
void nc_foresight_took(struct nc_cache *c, u64 block);
void nc_foresight_gone(struct nc_cache *c, u64 block);
bool nc_foresight_is_stray(struct nc_cache *c, u64 block);
void nc_foresight_stray(struct nc_cache *c);
void nc_foresight_no_strays(struct nc_cache *c);
bool nc_foresight_farthest(struct nc_cache *c, u32 *end, u64 *block);
void nc_foresight_kick(struct nc_cache *c);
void nc_foresight_work(struct nc_cache *c);

#endif /* NEARCACHE_EVICT_PLAN_H */
