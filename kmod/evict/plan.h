/* SPDX-License-Identifier: GPL-2.0-only */
/* Foresight: the plan that a cache follows, while there is one. */
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
 * @lock: protects @plan and @paused; taken inside stripe locks; process context; innermost
 * @refs: of nc_foresight.now, and of the reclaim worker
 * @plan: it
 * @paused: the worker has @plan for itself, without the lock
 * @unscanned: the plan does not know yet what is cached; the worker's, set before others see it
 * @asked: the worker was asked to look after it; a hint
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
 * @lock: protects what is here, and nc_cache.checks; taken inside nc_cache.life
 * @now: the plan in force, or NULL; read under RCU
 * @coming: one that is being handed over, or NULL
 * @state: what became of the last one that was in force
 * @last: of that one, once it is not any more
 * @checked: hits are checked whether there is a plan or not
 * @strays: something may be cached that is not planned; a hint, without the lock
 * @late: the worker found @lock taken when it was to end the plan: who gives it back calls it
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

/* Is there a plan?  A hint, but for who holds the lock. */
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
