// SPDX-License-Identifier: GPL-2.0-only
/*
 * A new plan may continue the old one, the plan in force: it then begins with the visits of the old
 * plan that are left.  Readers follow the old plan while the new one is built.  The visits that
 * they make meanwhile are copied to the new plan, before and after it replaces the old one.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "evict/belady.h"

/**
 * nc_belady_left() - find the visits that are left
 * @plan: plan
 * @left: zeroed bitmap of nc_belady_words() words; the call sets the bits of the visits that were
 *	neither made nor skipped, and of open visits
 *
 * Takes up to 0.3 ms for the longest plan.
 *
 * Return: their number.
 */
u32 nc_belady_left(const struct nc_belady *plan, u64 *left)
{
	u32 visits = plan->figures.visits, position = plan->figures.position, word, i, count = 0;
	const struct nc_open_visit *open = plan->open.entry;

	for (word = position / 64; word < nc_belady_words(plan); word++)
		left[word] = ~plan->done[word];
	left[position / 64] &= ~0ULL << position % 64;
	left[visits / 64] &= (1ULL << visits % 64) - 1;
	for (i = 0; i < nc_open_size(&plan->open); i++)
		/* Free entries are complete as well. */
		if (open[i].seen != NC_OPEN_COMPLETE && open[i].visit + 2 * plan->lag >= position)
			left[open[i].visit / 64] |= 1ULL << open[i].visit % 64;
	for (word = 0; word < nc_belady_words(plan); word++)
		count += hweight64(left[word]);
	return count;
}

/* Is visit @v neither made nor skipped, or open?  As in nc_belady_left(). */
static bool is_left(const struct nc_belady *plan, u32 v)
{
	return !nc_belady_is_over(plan, v) || nc_belady_seen(plan, v) != NC_OPEN_COMPLETE;
}

/* The first sub-block of a visit, counted from the start of the origin. */
static u64 visit_start(const struct nc_belady *plan, u32 v)
{
	return nc_block_at(&plan->blocks, plan->visit[v]) * plan->subs +
	       nc_part_first(READ_ONCE(plan->part[v]));
}

/* Sub-blocks of a visit. */
static u32 visit_length(const struct nc_belady *plan, u32 v)
{
	u16 part = READ_ONCE(plan->part[v]);

	return nc_part_last(part) - nc_part_first(part) + 1;
}

/**
 * nc_belady_next_left() - list the visits that are left as ranges
 * @plan: plan
 * @v: visit to begin with, 0 in the first call; moved behind the range
 * @most: number of visits after which the range ends, and the search for one
 * @first: set to the first sub-block, counted from the start of the origin
 * @last: set to the last one, inclusive; less than *@first if the search found none so far
 *
 * nc_belady_append() of all ranges in order makes these visits again.  A range joins adjacent
 * visits.
 *
 * Return: false after the last visit; *@last is not set then.
 */
bool nc_belady_next_left(const struct nc_belady *plan, u32 *v, u32 most, u64 *first, u64 *last)
{
	u32 visits = plan->figures.visits, position = plan->figures.position;

	/* Older visits are not open any more. */
	if (*v + 2 * plan->lag < position)
		*v = position - 2 * plan->lag;
	while (*v < visits && most && !is_left(plan, *v)) {
		(*v)++;
		most--;
	}
	if (*v >= visits)
		return false;
	*first = visit_start(plan, *v);
	*last = *first - 1;
	while (*v < visits && most && is_left(plan, *v) && visit_start(plan, *v) == *last + 1) {
		*last += visit_length(plan, *v);
		(*v)++;
		most--;
	}
	return true;
}

/**
 * nc_belady_prepend() - put visits of an old plan before those of a plan that is not built yet
 * @plan: not built yet
 * @old: plan in force; the call reads only its constant fields, so it needs no lock
 * @left: of nc_belady_left(@old)
 * @count: its result
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or -E2BIG: too many visits.
 */
int nc_belady_prepend(struct nc_belady *plan, const struct nc_belady *old, const u64 *left,
		      u32 count)
{
	u32 own = plan->figures.visits, v, k = 0;
	u64 block;

	if (count > NC_BELADY_VISITS_MAX - own)
		return -E2BIG;
	if (count + own > plan->room && nc_belady_resize(plan, count + own))
		return -ENOMEM;
	memmove(plan->visit + count, plan->visit, own * sizeof(*plan->visit));
	memmove(plan->part + count, plan->part, own * sizeof(*plan->part));
	memmove(plan->high + count, plan->high, own * sizeof(*plan->high));
	for (v = 0; v < old->figures.visits; v++) {
		if (!(left[v / 64] >> v % 64 & 1))
			continue;
		block = nc_block_at(&old->blocks, old->visit[v]);
		plan->visit[k] = block;
		plan->high[k] = block >> 32;
		plan->part[k++] = READ_ONCE(old->part[v]);
	}
	plan->figures.visits += count;
	plan->figures.ranges += old->figures.ranges;
	return 0;
}

/* Add the change of the figures of @old since @seen to those of @plan, and update @seen. */
static void carry_figures(struct nc_belady *plan, const struct nc_belady *old,
			  struct nc_belady_figures *seen)
{
	struct nc_belady_figures *to = &plan->figures;
	const struct nc_belady_figures *from = &old->figures;

	to->hits += from->hits - seen->hits;
	to->misses += from->misses - seen->misses;
	to->skipped += from->skipped - seen->skipped;
	to->astray += from->astray - seen->astray;
	to->sought += from->sought - seen->sought;
	*seen = *from;
}

/**
 * nc_belady_catch_up() - copy the visits that readers have made from an old plan to a new one
 * @plan: built after nc_belady_prepend()
 * @old: plan that @plan continues
 * @left: of nc_belady_left(@old)
 * @join: zeroed before the first call for a pass over the old plan, except seen
 *
 * A call looks at 64 words of the bitmap only, because the caller holds the locks of both plans.  A
 * second pass copies only visits that were made after the first one.
 *
 * Return: false at the end of the pass.
 */
bool nc_belady_catch_up(struct nc_belady *plan, const struct nc_belady *old, const u64 *left,
			struct nc_belady_join *join)
{
	u32 end = min(join->word + 64, nc_belady_words(old));
	u64 word;

	for (; join->word < end; join->word++)
		for (word = left[join->word]; word; word &= word - 1, join->visit++) {
			u32 v = join->word * 64 + __ffs64(word);

			if (nc_belady_is_over(old, v))
				nc_belady_make(plan, join->visit, nc_belady_seen(old, v));
		}
	if (end < nc_belady_words(old))
		return true;
	carry_figures(plan, old, &join->seen);
	return false;
}
