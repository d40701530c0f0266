/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Belady order: from the declared order of future reads (the plan), find the cached block whose
 * next read is farthest.  The plan is a sequence of visits: one visit is one planned read of one
 * block.  Pure arithmetic: kernel, unit tests and a simulator compile this source.
 */
#ifndef NEARCACHE_EVICT_BELADY_H
#define NEARCACHE_EVICT_BELADY_H

#include <linux/types.h>

#include "evict/bittree.h"
#include "evict/block_table.h"
#include "evict/open_visits.h"

/* Most visits of a plan.  Each takes up to 24 bytes (101 MB in all), also in the hand-over. */
#define NC_BELADY_VISITS_MAX	4194304U
#define NC_BELADY_NONE		NC_BLOCK_NONE
/* Surplus of unexpected reads that starts nc_belady_seek(). */
#define NC_BELADY_BEARABLE	24U
/* Number of recent unexpected reads to remember: nc_belady_seek() looks them up in the plan. */
#define NC_BELADY_RECENT		16U

/**
 * struct nc_belady_figures - statistics of a plan
 * @before: number of visits of earlier plans that were over when this plan continued them
 * @ranges: ranges submitted by user space, including those of the plans that this plan continues
 * @visits: visits of this plan, without @before
 * @blocks: different blocks of these visits
 * @position: first visit that was neither made nor skipped
 * @hits: visits whose first read was a hit
 * @misses: visits whose first read was not a hit
 * @skipped: visits that no reader made
 * @astray: reads that are part of no visit, or repeat a part of one
 * @refused: misses that nc_belady_admits() did not admit; the caller counts them
 * @sought: number of moves to another place in the plan
 * @memory: size of the plan in bytes
 */
struct nc_belady_figures {
	u64 before;
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
 * struct nc_belady - a plan
 * @subs: sub-blocks of a block
 * @visit: visits in reading order: the entry of the visit's block in @blocks; before
 *	nc_belady_build() the low 32 bits of the origin block
 * @part: for each visit, first and last sub-block, packed
 * @high: before nc_belady_build(): for each visit, the high 8 bits of the origin block
 * @room: number of entries allocated for @visit, @part and @high
 * @after: for each visit, the next visit of the same block, or NC_BELADY_NONE
 * @blocks: the different blocks of the plan; nc_block.next is the next visit of the block, or
 *	NC_BELADY_NONE
 * @open: visits that readers make by several reads, open or complete, see open_visits.h; at most
 *	one for each block
 * @done: bitmap of the visits that were made
 * @far: bitmap of the visits in which a cached block is read next; so the last set bit belongs to
 *	the block whose next use is farthest.  A cached block without another visit, or in @spare,
 *	has a bit behind the bits of all visits
 * @absent: bitmap of the visits that miss under MIN, see nc_belady_schedule()
 * @spare: bitmap of the blocks, by entry, that MIN evicts before their next visit.  In @far they
 *	count as blocks without another visit.  A new fill of the block clears its bit, and so does
 *	nc_belady_ahead() if the block is still cached
 * @spares: number of set bits of @far behind the bits of all visits
 * @farthest: last set bit of @far, or NC_BITTREE_NONE
 * @front: one behind the farthest visit that was made; ignores single visits far ahead of the
 *	others
 * @lag: a visit that is more than @lag visits behind @front is skipped; includes @late
 * @late: number of reads by which reports may come late or out of order; before nc_belady_build()
 *	its least value
 * @fresh: number of unreported reads from which on the caller should report them before it calls
 *	nc_belady_admits()
 * @unexpected: number of reads of planned blocks that match no expected visit, minus the number of
 *	reads that match one
 * @bearable: value of @unexpected that starts a search for the readers' place
 * @recent: the latest unexpected reads, as entries of @blocks; a ring
 * @recent_at: number of entries written to @recent so far
 * @expected: visits made in this period
 * @others: reads in this period that are part of no visit
 * @patience: value of @others that ends the period
 * @lost: in some period less than one visit was made per 8 @others
 * @figures: statistics
 *
 * @visit, @after and the blocks are constant after nc_belady_build(); a read of sub-blocks of a
 * later visit than the next one of its block exchanges the values of @part of both.
 *
 * The caller serialises all calls, with three exceptions.  nc_belady_admits() may run at any time:
 * it reads @farthest, figures.position, @absent, @part and the state of one block, and its result
 * is a hint.  nc_belady_schedule() may run at any time, once at a time: it writes only @absent,
 * with atomic operations.  nc_belady_prepend() reads @part of the old plan: if two values are
 * exchanged meanwhile, one of these reads may count as astray in the new plan.
 */
struct nc_belady {
	u32 subs;
	u32 *visit;
	u16 *part;
	u8 *high;
	u32 room;
	u32 *after;
	struct nc_block_table blocks;
	struct nc_open_visits open;
	u64 *done;
	struct nc_bittree far;
	unsigned long *absent;
	unsigned long *spare;
	u32 spares;
	u32 farthest;
	u32 front;
	u32 lag;
	u32 late;
	u32 fresh;
	u32 unexpected;
	u32 bearable;
	u32 recent[NC_BELADY_RECENT];
	u32 recent_at;
	u32 expected;
	u32 others;
	u32 patience;
	bool lost;
	struct nc_belady_figures figures;
};

/**
 * struct nc_belady_mark - where a growing plan ended at some time, for nc_belady_cut()
 * @ranges: ranges so far
 * @visits: visits so far
 * @part: sub-blocks of the last visit, because a later range may extend this visit
 */
struct nc_belady_mark {
	u64 ranges;
	u32 visits;
	u16 part;
};

/**
 * struct nc_belady_join - progress of nc_belady_catch_up()
 * @word: next word of the bitmap
 * @visit: number in the new plan of the next visit in the bitmap
 * @seen: figures of the old plan that are already included in those of the new plan
 */
struct nc_belady_join {
	u32 word;
	u32 visit;
	struct nc_belady_figures seen;
};

/**
 * struct nc_belady_piece - the part of a read that lies in one block
 * @block: origin block
 * @first: first sub-block
 * @last: last sub-block, inclusive
 * @whole: the read covers the last sector of @last
 * @hit: the read is a hit
 */
struct nc_belady_piece {
	u64 block;
	u32 first;
	u32 last;
	bool whole;
	bool hit;
};

int nc_belady_append(struct nc_belady *plan, u64 first, u64 last);
struct nc_belady_mark nc_belady_mark(const struct nc_belady *plan);
void nc_belady_cut(struct nc_belady *plan, const struct nc_belady_mark *mark);
int nc_belady_build(struct nc_belady *plan, u64 seed, u32 slots);
void nc_belady_destroy(struct nc_belady *plan);
void nc_belady_link(struct nc_belady *plan, u32 from);
void nc_belady_read(struct nc_belady *plan, const struct nc_belady_piece *piece);
bool nc_belady_admits(const struct nc_belady *plan, u64 block, u32 left, u32 low, bool strays);
bool nc_belady_took(struct nc_belady *plan, u64 block, bool brought);
void nc_belady_gone(struct nc_belady *plan, u64 block);
bool nc_belady_holds(const struct nc_belady *plan, u64 block);
bool nc_belady_farthest(struct nc_belady *plan, u32 *end, u64 *block);
int nc_belady_schedule(struct nc_belady *plan, u32 most, const bool *stop);
bool nc_belady_mark_spare(struct nc_belady *plan, u32 *entry);
u32 nc_belady_ahead(struct nc_belady *plan, u32 *at, u32 end, u32 near, bool full,
		    struct nc_belady_piece *piece);
bool nc_belady_astray(const struct nc_belady *plan);
void nc_belady_seek(struct nc_belady *plan);

/* Return the high water mark of free slots while a plan is in force.  @low: low water mark of a
 * cache without a plan, with the limit of a plan.  The result is small, because each free slot
 * costs the farthest cached block.  At least 32, because all reads in flight may need a slot during
 * a round of reclaim.
 */
static inline u32 nc_belady_enough(u32 low)
{
	return low > 32 ? low : 32;
}

/* Return the low water mark of free slots while a plan is in force.  @low: see above. */
static inline u32 nc_belady_low(u32 low)
{
	return nc_belady_enough(low) * 2 / 3;
}

bool nc_belady_is_over(const struct nc_belady *plan, u32 v);
u64 nc_belady_seen(const struct nc_belady *plan, u32 v);
bool nc_belady_unread(const struct nc_belady *plan, u32 v, u32 first, u32 *last);
void nc_belady_make(struct nc_belady *plan, u32 v, u64 seen);

int nc_belady_resize(struct nc_belady *plan, u32 room);
u32 nc_belady_left(const struct nc_belady *plan, u64 *left);
bool nc_belady_next_left(const struct nc_belady *plan, u32 *v, u32 most, u64 *first, u64 *last);
int nc_belady_prepend(struct nc_belady *plan, const struct nc_belady *old, const u64 *left,
		      u32 count);
bool nc_belady_catch_up(struct nc_belady *plan, const struct nc_belady *old, const u64 *left,
			struct nc_belady_join *join);

/* Length of a bitmap of all visits, in words. */
static inline u32 nc_belady_words(const struct nc_belady *plan)
{
	return plan->figures.visits / 64 + 1;
}

/* Packed sub-blocks of a visit. */
#define NC_PART_BITS	6U

static inline u32 nc_part_first(u16 part)
{
	return part & ((1U << NC_PART_BITS) - 1);
}

static inline u32 nc_part_last(u16 part)
{
	return part >> NC_PART_BITS;
}

/* Was every visit of the plan made or skipped? */
static inline bool nc_belady_over(const struct nc_belady *plan)
{
	return plan->figures.position == plan->figures.visits;
}

#endif /* NEARCACHE_EVICT_BELADY_H */
