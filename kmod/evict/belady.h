/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan: in which order the origin will be read, and so which of the cached blocks is read again
 * last.  Pure arithmetic: the kernel, the unit tests and a simulator compile this very source.
 */
#ifndef NEARCACHE_EVICT_BELADY_H
#define NEARCACHE_EVICT_BELADY_H

#include <linux/types.h>

#include "evict/bittree.h"

/* A visit takes up to 49 bytes of memory, and while the plan is handed over up to 24: 206 MB. */
#define NC_PLAN_VISITS_MAX	4194304U
/* No visit. */
#define NC_PLAN_NONE		0xffffffffU
/* Of so many reads that were not expected it is kept what they were, to find the place. */
#define NC_PLAN_RECENT		16U

/**
 * struct nc_planned - a block of the plan
 * @block: origin block
 * @seen: sub-blocks that were read to their end in visit @at
 * @next: visit in which it is read next, NC_PLAN_NONE: not any more
 * @at: visit in which it was read last, or NC_PLAN_NONE
 */
struct nc_planned {
	u64 block;
	u64 seen;
	u32 next;
	u32 at;
};

/**
 * struct nc_plan_figures - what became of a plan
 * @ranges: that were handed over
 * @visits: of blocks that they come to
 * @blocks: different ones
 * @position: visits that are over
 * @hits: visits whose first read was a hit
 * @misses: visits whose first read was none
 * @skipped: visits that nobody made
 * @astray: reads that are part of no visit
 * @refused: misses for which none of the cached blocks would have been better put out
 * @sought: how often the place in the plan was found anew
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
 * @visit: in reading order: number of the block in @planned, and sub-blocks; before
 *	nc_plan_build(), the origin block itself in place of the number
 * @room: visits for which there is memory, before nc_plan_build()
 * @after: of each visit: the next one of the same block, or NC_PLAN_NONE
 * @planned: blocks
 * @head: hash heads with open addressing, NC_PLAN_NONE: free
 * @head_bits: log2 of how many
 * @seed: of the hash, so that nobody can prepare blocks that all meet
 * @done: bit per visit: it is over
 * @far: of what is cached, each block's bit of the visit that reads it next, so that the last bit
 *	is that of the block whose next use is farthest.  For a block that no visit reads any more
 *	that is a bit of its own, behind those of all visits
 * @front: behind the last visit that was made
 * @lag: a visit that is so far behind @front is not made any more
 * @unexpected: reads of planned blocks that no visit expected, less those that one did
 * @bearable: of these so many are borne before the place is looked for
 * @recent: the last ones of these, as numbers of @planned; a ring
 * @recent_at: next of it
 * @expected: of the reads of this period, those that were part of the plan
 * @others: those that were not
 * @patience: so many of these end the period
 * @lost: in a period hardly any read was part of the plan
 * @figures: see there; position is the first visit that is not over
 *
 * What nc_plan_build() makes of visit, after, and planned.block does not change any more. For the
 * rest the caller sees to it that calls do not overlap.
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
 * struct nc_plan_mark - what was appended until some moment
 * @ranges: that many
 * @visits: and visits
 * @last: of these the last one, to which more may be added
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
 * @hit: it is one
 * @cached: the block has a slot, or was just given one
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

/* Free slots up to which some are made, and below which: what is farthest goes for them before it
 * is known what comes in its place, so they are few.  But to wait for hits and to commit may take
 * longer than reads of an origin: meanwhile as many come as are in flight, and some are cached.
 * @low: as without a plan.
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
