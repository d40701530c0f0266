// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hand-over of a plan, and the memory of its data: 10 to 12 bytes for each visit and less than
 * 12 for each block, so about 22 bytes for each visit if all blocks differ.  Memory is at most 24
 * bytes for each visit at any time, so large arrays are freed before others are allocated.
 */
#include <linux/bitmap.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "evict/belady.h"

#define ROOM_MIN	1024U
/* Tolerated reordering of reads, in visits: 1 / LAG_PARTS of the plan, but within LAG_MIN to
 * LAG_MAX.  1 / LATE_PARTS of that, but at least LATE_MIN, is added for the reordering of reports.
 */
#define LAG_PARTS	16U
#define LAG_MIN		128U
#define LAG_MAX		16384U
#define LATE_PARTS	16U
#define LATE_MIN	32U
/* Least nc_belady.fresh. */
#define FRESH_MIN	16U
/* Least nc_belady.patience. */
#define PATIENCE_MIN	1024U
/* Open visits to remember: 1 / OPEN_PARTS of the visits, but at least OPEN_MIN, and at most twice
 * the lag.
 */
#define OPEN_MIN	16U
#define OPEN_PARTS	16U

static u16 pack_part(u32 first, u32 last)
{
	return first | last << NC_PART_BITS;
}

/* Change the length of an array.  Returns false if out of memory: then the array is unchanged. */
static bool resize_array(void **array, u32 used, u32 room, u32 size)
{
	void *bigger = kvmalloc_array(room, size, NC_BITTREE_GFP);

	if (!bigger)
		return false;
	if (used)
		memcpy(bigger, *array, (size_t)used * size);
	kvfree(*array);
	*array = bigger;
	return true;
}

/* Change the length of the arrays of a plan that is not built yet.  Returns 0 or -ENOMEM. */
int nc_belady_resize(struct nc_belady *plan, u32 room)
{
	u32 used = plan->figures.visits;

	/* Until all arrays are larger, @room is the length of the shortest one. */
	plan->room = min(plan->room, room);
	if (!resize_array((void **)&plan->visit, used, room, sizeof(*plan->visit)) ||
	    !resize_array((void **)&plan->part, used, room, sizeof(*plan->part)) ||
	    !resize_array((void **)&plan->high, used, room, sizeof(*plan->high)))
		return -ENOMEM;
	plan->room = room;
	return 0;
}

/* The origin block of a visit, before nc_belady_build(). */
static u64 block_of(const struct nc_belady *plan, u32 v)
{
	return (u64)plan->high[v] << 32 | plan->visit[v];
}

/* Append a visit of sub-blocks of a block; extend the last visit if the sub-blocks continue it. */
static int append_visit(struct nc_belady *plan, u64 block, u32 first, u32 last)
{
	u32 n = plan->figures.visits, before = n ? nc_part_last(plan->part[n - 1]) : 0;

	if (n && block_of(plan, n - 1) == block && (first == before || first == before + 1)) {
		plan->part[n - 1] = pack_part(nc_part_first(plan->part[n - 1]), max(last, before));
		return 0;
	}
	if (n == NC_BELADY_VISITS_MAX)
		return -E2BIG;
	if (n == plan->room && nc_belady_resize(plan, n ? 2 * n : ROOM_MIN))
		return -ENOMEM;
	plan->visit[n] = block;
	plan->high[n] = block >> 32;
	plan->part[n] = pack_part(first, last);
	plan->figures.visits++;
	return 0;
}

/**
 * nc_belady_append() - append a range to the reading order
 * @plan: before the first call zeroed except subs; not built yet
 * @first: first sub-block of the origin
 * @last: last sub-block, inclusive
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or -E2BIG: too many visits.  After an error call nc_belady_cut().
 */
int nc_belady_append(struct nc_belady *plan, u64 first, u64 last)
{
	u32 shift = ilog2(plan->subs), mask = plan->subs - 1;
	u64 block = first >> shift, end = last >> shift;
	int r = 0;

	if (end - block > NC_BELADY_VISITS_MAX)
		return -E2BIG;
	for (; block <= end && !r; block++) {
		r = append_visit(plan, block, block == first >> shift ? first & mask : 0,
				 block == end ? last & mask : mask);
		if (!(block % 4096))
			cond_resched();
	}
	return r;
}

/* Return the present end of a plan that is not built yet, for nc_belady_cut(). */
struct nc_belady_mark nc_belady_mark(const struct nc_belady *plan)
{
	u32 visits = plan->figures.visits;

	return (struct nc_belady_mark) {
		.ranges = plan->figures.ranges,
		.visits = visits,
		.part = visits ? plan->part[visits - 1] : 0,
	};
}

/* Remove everything appended since @mark.  The plan is not built yet. */
void nc_belady_cut(struct nc_belady *plan, const struct nc_belady_mark *mark)
{
	plan->figures.ranges = mark->ranges;
	plan->figures.visits = mark->visits;
	if (mark->visits)
		plan->part[mark->visits - 1] = mark->part;
}

/* Give the different blocks entries of a table that is large enough for any plan of this length,
 * and name the blocks of the visits by these entries.  Returns 0 or -ENOMEM.
 */
static int name_blocks(struct nc_belady *plan, u64 seed)
{
	u32 v;

	if (nc_block_table_init(&plan->blocks, plan->figures.visits, seed))
		return -ENOMEM;
	for (v = 0; v < plan->figures.visits; v++) {
		u32 i = nc_block_find(&plan->blocks, block_of(plan, v));

		if (i == NC_BLOCK_NONE) {
			i = nc_block_add(&plan->blocks, block_of(plan, v));
			plan->figures.blocks++;
		}
		plan->visit[v] = i;
		if (!(v % 4096))
			cond_resched();
	}
	kvfree(plan->high);
	plan->high = NULL;
	return 0;
}

/* Replace the table by one that is not larger than the blocks need.  Returns 0 or -ENOMEM. */
static int shrink_blocks(struct nc_belady *plan)
{
	struct nc_block_table *old = &plan->blocks, table;
	u32 i, v;

	if (nc_block_table_init(&table, plan->figures.blocks, old->seed)) {
		nc_block_table_destroy(&table);
		return -ENOMEM;
	}
	for (i = 0; i < old->size; i++) {
		if (!nc_block_is_free(old, i))
			old->entry[i].next = nc_block_add(&table, nc_block_at(old, i));
		if (!(i % 4096))
			cond_resched();
	}
	for (v = 0; v < plan->figures.visits; v++)
		plan->visit[v] = old->entry[plan->visit[v]].next;
	nc_block_table_destroy(old);
	plan->blocks = table;
	return 0;
}

/* Forget all reads.  The next visit of each block becomes its first visit from @from on.  A
 * repeated call writes the same values to @after as the first call.
 */
void nc_belady_link(struct nc_belady *plan, u32 from)
{
	struct nc_block *entry = plan->blocks.entry;
	u32 i, v;

	nc_open_empty(&plan->open);
	bitmap_zero(plan->spare, plan->blocks.size);
	for (i = 0; i < plan->blocks.size; i++)
		if (!nc_block_is_free(&plan->blocks, i))
			WRITE_ONCE(entry[i].next, NC_BELADY_NONE);
	for (v = plan->figures.visits; v-- > from;) {
		plan->after[v] = entry[plan->visit[v]].next;
		WRITE_ONCE(entry[plan->visit[v]].next, v);
		if (!(v % 4096))
			cond_resched();
	}
}

static int alloc_state(struct nc_belady *plan)
{
	u32 visits = plan->figures.visits;
	u32 open = min(2 * plan->lag, max(visits / OPEN_PARTS, OPEN_MIN));

	plan->after = kvmalloc_array(visits, sizeof(*plan->after), NC_BITTREE_GFP);
	plan->done = kvcalloc(nc_belady_words(plan), sizeof(*plan->done), NC_BITTREE_GFP);
	plan->absent = kvcalloc(BITS_TO_LONGS(visits), sizeof(long), NC_BITTREE_GFP);
	plan->spare = kvcalloc(BITS_TO_LONGS(plan->blocks.size), sizeof(long), NC_BITTREE_GFP);
	if (!plan->after || !plan->done || !plan->absent || !plan->spare ||
	    nc_open_init(&plan->open, open))
		return -ENOMEM;
	return nc_bittree_init(&plan->far, visits + plan->blocks.size);
}

static u64 plan_memory(const struct nc_belady *plan)
{
	u64 visits = plan->figures.visits;

	return visits * (sizeof(*plan->visit) + sizeof(*plan->part) + sizeof(*plan->after)) +
	       nc_belady_words(plan) * sizeof(*plan->done) +
	       (BITS_TO_LONGS(visits) + BITS_TO_LONGS(plan->blocks.size)) * sizeof(long) +
	       nc_block_table_memory(&plan->blocks) +
	       nc_open_size(&plan->open) * sizeof(*plan->open.entry) +
	       nc_bittree_memory(&plan->far);
}

/**
 * nc_belady_build() - make a plan usable after the last nc_belady_append()
 * @plan: with at least one visit; the caller destroys it, also after an error
 * @seed: random
 * @slots: number of slots of the cache
 *
 * Context: may sleep; takes up to a second.
 * Return: 0 or -ENOMEM.
 */
int nc_belady_build(struct nc_belady *plan, u64 seed, u32 slots)
{
	u32 visits = plan->figures.visits;

	plan->lag = clamp(visits / LAG_PARTS, LAG_MIN, LAG_MAX);
	plan->late = max3(plan->late, plan->lag / LATE_PARTS, LATE_MIN);
	plan->lag += plan->late;
	/* Small against the cache: nc_belady_admits() compares with the next visits of cached
	 * blocks, which unreported reads make stale.
	 */
	plan->fresh = min(plan->late, max(slots / 64, FRESH_MIN));
	plan->bearable = NC_BELADY_BEARABLE;
	plan->patience = max(slots, PATIENCE_MIN);
	memset(plan->recent, 0xff, sizeof(plan->recent));
	plan->farthest = NC_BITTREE_NONE;
	if (nc_belady_resize(plan, visits) || name_blocks(plan, seed))
		return -ENOMEM;
	if (plan->figures.blocks <= visits / 2 && shrink_blocks(plan))
		return -ENOMEM;
	if (alloc_state(plan))
		return -ENOMEM;
	nc_belady_link(plan, 0);
	plan->figures.memory = plan_memory(plan);
	return 0;
}

void nc_belady_destroy(struct nc_belady *plan)
{
	kvfree(plan->visit);
	kvfree(plan->part);
	kvfree(plan->high);
	kvfree(plan->after);
	kvfree(plan->done);
	kvfree(plan->absent);
	kvfree(plan->spare);
	nc_block_table_destroy(&plan->blocks);
	nc_open_destroy(&plan->open);
	nc_bittree_destroy(&plan->far);
}
