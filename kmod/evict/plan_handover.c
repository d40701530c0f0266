// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hand-over of a plan.  User space sends the order of reads in several requests; the last one
 * builds the plan and puts it in force.  A new plan may continue the plan in force: it then begins
 * with the visits that are left of the old plan.  Readers follow the old plan meanwhile.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "cache.h"
#include "evict/free_slots.h"
#include "evict/read_plan.h"

/* Drop an unfinished plan, if any.  Context: nc_plan.lock is held, or no other task uses the cache.
 */
void nc_plan_drop_coming(struct nc_plan *f)
{
	if (!f->coming)
		return;
	nc_belady_destroy(f->coming);
	kfree(f->coming);
	f->coming = NULL;
}

/**
 * nc_plan_begin() - prepare for the next ranges of a plan
 * @c: live cache
 * @at: number of ranges handed over so far; 0: begin a new plan and drop an unfinished one
 *
 * Context: nc_plan.lock, as for the functions below; may sleep.
 * Return: 0, -ENOMEM, or -ESTALE if @at does not match.
 */
int nc_plan_begin(struct nc_cache *c, u64 at)
{
	struct nc_plan *f = &c->plan;

	lockdep_assert_held(&f->lock);
	if (at)
		return f->coming && f->coming->figures.ranges == at ? 0 : -ESTALE;
	nc_plan_drop_coming(f);
	f->coming = kzalloc(sizeof(*f->coming), GFP_KERNEL);
	if (!f->coming)
		return -ENOMEM;
	f->coming->subs = c->geo.block_size / c->geo.subblock_size;
	return 0;
}

/**
 * nc_plan_append() - append a range to the plan
 * @c: live cache
 * @first: first sector
 * @end: sector behind the last one
 *
 * Return: 0, -ENOMEM, or -E2BIG: the plan is too long.
 */
int nc_plan_append(struct nc_cache *c, u64 first, u64 end)
{
	struct nc_belady *plan = c->plan.coming;
	int r = nc_belady_append(plan, first >> c->hot.sub_shift, (end - 1) >> c->hot.sub_shift);

	lockdep_assert_held(&c->plan.lock);
	if (!r)
		plan->figures.ranges++;
	return r;
}

/* Least value of nc_active_plan.batch: a processor queues a work for each batch. */
#define BATCH_MIN	16U

/* Allocate a plan for the order that was handed over.  Returns NULL if out of memory. */
static struct nc_active_plan *alloc_plan(struct nc_cache *c)
{
	struct nc_active_plan *active = kzalloc(sizeof(*active), GFP_KERNEL);
	struct nc_belady *coming = c->plan.coming;
	int cpu;

	if (!active)
		return NULL;
	coming->late = BATCH_MIN * num_online_cpus();
	active->notes = kvcalloc(nr_cpu_ids, sizeof(*active->notes), GFP_KERNEL);
	if (!active->notes || nc_belady_build(coming, get_random_u64(), c->index.count)) {
		kvfree(active->notes);
		kfree(active);
		return NULL;
	}
	spin_lock_init(&active->lock);
	refcount_set(&active->refs, 1);
	active->order = *coming;
	active->order.figures.memory += nr_cpu_ids * sizeof(struct nc_notes);
	active->batch = clamp(coming->late / num_online_cpus(), BATCH_MIN, NC_NOTES / 2);
	active->fresh = clamp(coming->fresh / num_online_cpus(), 1U, active->batch);
	for_each_possible_cpu(cpu)
		nc_notes_init(&active->notes[cpu]);
	active->unscanned = true;
	return active;
}

/**
 * struct join - state while a plan that continues the plan in force is built
 * @old: plan in force, with a reference; NULL: there is none to continue
 * @left: bitmap of the visits of @old that the new plan begins with
 * @seen: figures of @old that are already included in those of the new plan
 */
struct join {
	struct nc_active_plan *old;
	u64 *left;
	struct nc_belady_figures seen;
};

/* Put the visits that are left of the plan in force before those of the submitted plan.
 * seek_position() cannot move the readers' position meanwhile, because it needs nc_plan.lock.
 * Returns 0, -ENOMEM or -E2BIG.
 */
static int begin_join(struct nc_plan *f, struct join *join)
{
	struct nc_active_plan *old = nc_plan_current(f);
	u32 count;

	if (!old)
		return 0;
	join->left = kvcalloc(nc_belady_words(&old->order), sizeof(*join->left), NC_BITTREE_GFP);
	if (!join->left)
		return -ENOMEM;
	refcount_inc(&old->refs);
	join->old = old;
	nc_plan_apply(old);
	spin_lock(&old->lock);
	count = nc_belady_left(&old->order, join->left);
	spin_unlock(&old->lock);
	f->coming->figures.before = old->order.figures.before + old->order.figures.visits - count;
	return nc_belady_prepend(f->coming, &old->order, join->left, count);
}

/* Copy the visits that readers have made in the old plan since begin_join() to the new plan. */
static void catch_up(struct nc_active_plan *active, struct join *join)
{
	struct nc_belady_join pass = { .seen = join->seen };
	bool more = join->old;

	while (more) {
		spin_lock(&active->lock);
		spin_lock_nested(&join->old->lock, SINGLE_DEPTH_NESTING);
		more = nc_belady_catch_up(&active->order, &join->old->order, join->left, &pass);
		spin_unlock(&join->old->lock);
		spin_unlock(&active->lock);
		cond_resched();
	}
	join->seen = pass.seen;
}

/* Copy the last visits and figures of the old plan.  The new plan is in force, so readers write no
 * notes for the old one.
 */
static void end_join(struct nc_active_plan *active, struct join *join)
{
	u64 refused;

	if (!join->old)
		return;
	catch_up(active, join);
	spin_lock(&join->old->lock);
	refused = nc_plan_figures(join->old).refused;
	spin_unlock(&join->old->lock);
	spin_lock(&active->lock);
	active->order.figures.refused += refused;
	spin_unlock(&active->lock);
}

static void drop_join(struct join *join)
{
	if (join->old)
		nc_plan_release(join->old);
	kvfree(join->left);
}

/* Put a built plan in force. */
static void begin_plan(struct nc_cache *c, struct nc_active_plan *active, bool no_prefetch)
{
	struct nc_plan *f = &c->plan;

	active->number = ++f->numbers;
	kfree(f->coming);
	f->coming = NULL;
	WRITE_ONCE(f->no_prefetch, no_prefetch);
	nc_plan_replace(c, active, 0);
}

/**
 * nc_plan_commit() - put the completely handed-over plan in force
 * @c: live cache; the plan has at least one visit
 * @flags: NC_PLAN_APPEND: continue the plan in force, if there is one.  NC_PLAN_NO_PREFETCH
 *
 * Return: 0, -ENOMEM, or -E2BIG: both plans together are too long; after an error the old plan
 * stays in force and the new one is dropped.
 */
int nc_plan_commit(struct nc_cache *c, unsigned int flags)
{
	struct nc_plan *f = &c->plan;
	struct nc_active_plan *active = NULL;
	struct join join = { };
	int r = 0;

	lockdep_assert_held(&f->lock);
	if (flags & NC_PLAN_APPEND)
		r = begin_join(f, &join);
	if (!r) {
		active = alloc_plan(c);
		r = active ? 0 : -ENOMEM;
	}
	if (r) {
		nc_plan_drop_coming(f);
	} else {
		catch_up(active, &join);
		begin_plan(c, active, flags & NC_PLAN_NO_PREFETCH);
		end_join(active, &join);
		nc_slots_look_again(c);
		nc_plan_kick(c);
	}
	drop_join(&join);
	return r;
}
