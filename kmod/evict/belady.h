/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan: the order in which the origin will be read, and from it the cached block whose next
 * use is farthest.  Pure arithmetic: kernel, unit tests and a simulator compile this source.
 */
#ifndef NEARCACHE_EVICT_BELADY_H
#define NEARCACHE_EVICT_BELADY_H

#include <linux/types.h>

#include "evict/bittree.h"

/* A visit takes up to 49 bytes of memory, and up to 24 more during the hand-over: 206 MB. */
#define NC_PLAN_VISITS_MAX	4194304U
/* No visit. */
#define NC_PLAN_NONE		0xffffffffU
/* Number of recent unexpected reads to remember, for the search for the place. */
#define NC_PLAN_RECENT		16U

/**
 * struct nc_planned - a block of the plan
 * @block: origin block
 * @seen: sub-blocks read to their end in visit @at
 * @next: visit in which it is read next; NC_PLAN_NONE: none
 * @at: visit in which it was read last, or NC_PLAN_NONE
 */
struct nc_planned {
	u64 block;
	u64 seen;
	u32 next;
	u32 at;
};

/**
 * struct nc_plan_figures - statistics of a plan
 * @ranges: ranges handed over
 * @visits: visits of blocks that they contain
 * @blocks: different blocks
 * @position: first visit that is not over
 * @hits: visits whose first read was a hit
 * @misses: visits whose first read was not a hit
 * @skipped: visits that no reader made
 * @astray: reads that are part of no visit
 * @refused: misses not cached because no cached block is used later than the missing one
 * @sought: number of moves to another place in the plan
 * @memory: bytes
 */
struct nc_plan_figures {
	u64 ranges;
	u32 visits;
	u32 blocks;
	u32 position;
	u64 hits;
	u64 misses;
	u64 skipped;
	u64 astray;
	u64 refused;
	u64 sought;
	u64 memory;
};

/**
 * struct nc_plan - a plan
 * @subs: sub-blocks of a block
 * @visit: in reading order: index of the block in @planned, and sub-blocks; before
 *	nc_plan_build() the origin block instead of the index
 * @room: allocated visits, before nc_plan_build()
 * @after: of each visit: the next one of the same block, or NC_PLAN_NONE
 * @planned: blocks
 * @head: hash table of @planned with open addressing; NC_PLAN_NONE: free
 * @head_bits: log2 of its length
 * @seed: of the hash, so that a crafted plan cannot make all blocks collide
 * @done: bit per visit: it is over
 * @far: bit per visit: a cached block is read next in it; so the last set bit belongs to the
 *	block whose next use is farthest.  Blocks without another visit have bits of their own
 *	behind those of all visits
 * @front: one behind the last visit that was made
 * @lag: visits behind @front after which a visit is skipped
 * @unexpected: reads of planned blocks that match no expected visit, less those that match
 * @bearable: value of @unexpected that starts a search for the readers' place
 * @recent: the latest unexpected reads, as indices of @planned; a ring
 * @recent_at: next entry of it
 * @expected: planned reads of this period
 * @others: unplanned reads of this period
 * @patience: number of @others that ends the period
 * @lost: in a period hardly any read was planned
 * @figures: statistics
 *
 * @visit, @after and planned.block are constant after nc_plan_build().  The caller serialises
 * all calls.
 */
struct nc_plan {
	u32 subs;
	u64 *visit;
	u32 room;
	u32 *after;
	struct nc_planned *planned;
	u32 *head;
	u32 head_bits;
	u64 seed;
	u64 *done;
	struct nc_bittree far;
	u32 front;
	u32 lag;
	u32 unexpected;
	u32 bearable;
	u32 recent[NC_PLAN_RECENT];
	u32 recent_at;
	u32 expected;
	u32 others;
	u32 patience;
	bool lost;
	struct nc_plan_figures figures;
};

/**
 * struct nc_plan_mark - a state of a plan that is being appended to
 * @ranges: ranges so far
 * @visits: visits so far
 * @last: the last visit, which a later range may extend
 */
struct nc_plan_mark {
	u64 ranges;
	u32 visits;
	u64 last;
};

/**
 * struct nc_plan_piece - a read of a block
 * @block: origin block
 * @first: first sub-block
 * @last: last sub-block, inclusive
 * @whole: it reads @last to its end
 * @hit: it is a hit
 * @cached: the block has a slot, perhaps only since this read
 */
struct nc_plan_piece {
	u64 block;
	u32 first;
	u32 last;
	bool whole;
	bool hit;
	bool cached;
};

int nc_plan_append(struct nc_plan *plan, u64 first, u64 last);
struct nc_plan_mark nc_plan_mark(const struct nc_plan *plan);
void nc_plan_cut(struct nc_plan *plan, const struct nc_plan_mark *mark);
int nc_plan_build(struct nc_plan *plan, u64 seed, u32 slots);
void nc_plan_destroy(struct nc_plan *plan);
void nc_plan_read(struct nc_plan *plan, const struct nc_plan_piece *piece);
bool nc_plan_admits(struct nc_plan *plan, u64 block, u32 left, u32 low);
bool nc_plan_took(struct nc_plan *plan, u64 block);
void nc_plan_gone(struct nc_plan *plan, u64 block);
bool nc_plan_holds(const struct nc_plan *plan, u64 block);
bool nc_plan_farthest(struct nc_plan *plan, u32 *end, u64 *block);
bool nc_plan_astray(const struct nc_plan *plan);
void nc_plan_seek(struct nc_plan *plan);

/* High and low water mark with a plan.  They are low, because reclaim evicts the farthest block
 * before it knows which block takes the slot.  But a round of reclaim (hits, commit) may take
 * longer than an origin read: meanwhile all reads in flight may need a slot.
 * @low: low water mark without a plan.
 */
static inline u32 nc_plan_enough(u32 low)
{
	return low > 32 ? low : 32;
}

static inline u32 nc_plan_low(u32 low)
{
	return nc_plan_enough(low) * 2 / 3;
}

/* All visits are over. */
static inline bool nc_plan_over(const struct nc_plan *plan)
{
	return plan->figures.position == plan->figures.visits;
}

#endif /* NEARCACHE_EVICT_BELADY_H */
