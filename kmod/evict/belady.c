// SPDX-License-Identifier: GPL-2.0-only
/*
 * Belady's MIN: evict the cached block whose next use is farthest.  The plan holds, for each
 * block, the visit in which it is read next.  Each cached block sets one bit, at the position of
 * that visit, so the last set bit belongs to the farthest block.  A read of a cached block clears
 * the block's bit and sets the bit of its following visit, so the order stays right.
 *
 * Readers may deviate from the plan.  Several threads read ahead of each other, so a read counts
 * as the next visit of its block unless that visit is far ahead.  A visit that no reader makes
 * is skipped once readers are well beyond it.  One visit may consist of several reads, each of
 * sub-blocks not yet read in this visit.  If unexpected reads of planned blocks outnumber expected
 * ones, readers have moved to another place of the plan, and nc_belady_seek() finds this place.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "evict/belady.h"

/* Packed visit, from the lowest bit: number of the block, first sub-block, last sub-block. */
#define NUMBER_BITS	40U
#define SUB_BITS	6U
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
/* Surplus of unexpected reads that starts nc_belady_seek(); each search doubles it, up to _MAX. */
#define BEARABLE	24U
#define BEARABLE_MAX	1048576U
/* Visits made in a period after which nc_belady.bearable is BEARABLE again. */
#define SETTLED		1024U
/* Length of a place in visits, and how many of the recent unexpected reads must lie in it. */
#define PLACE		192U
#define PLACE_ENOUGH	14U
/* Least nc_belady.patience.  Over PATIENCE_RATIO stray reads per visit in a period end the plan. */
#define PATIENCE_MIN	1024U
#define PATIENCE_RATIO	8U

static u64 pack_visit(u64 number, u32 first, u32 last)
{
	return number | (u64)first << NUMBER_BITS | (u64)last << (NUMBER_BITS + SUB_BITS);
}

static u64 number_of(u64 visit)
{
	return visit & ((1ULL << NUMBER_BITS) - 1);
}

static u32 first_of(u64 visit)
{
	return visit >> NUMBER_BITS & ((1U << SUB_BITS) - 1);
}

static u32 last_of(u64 visit)
{
	return visit >> (NUMBER_BITS + SUB_BITS);
}

static u64 bit_range(u32 first, u32 last)
{
	return ~0ULL >> (63 - last) & ~0ULL << first;
}

static int grow_visits(struct nc_belady *plan)
{
	u32 room = plan->room ? 2 * plan->room : ROOM_MIN;
	u64 *visit = kvmalloc_array(room, sizeof(*visit), NC_BITTREE_GFP);

	if (!visit)
		return -ENOMEM;
	if (plan->room)
		memcpy(visit, plan->visit, plan->figures.visits * sizeof(*visit));
	kvfree(plan->visit);
	plan->visit = visit;
	plan->room = room;
	return 0;
}

/* Append a visit of sub-blocks of a block; extend the last visit if the sub-blocks continue it. */
static int append_visit(struct nc_belady *plan, u64 block, u32 first, u32 last)
{
	u32 n = plan->figures.visits;
	u64 *before = n ? &plan->visit[n - 1] : NULL;

	if (before && number_of(*before) == block &&
	    (first == last_of(*before) || first == last_of(*before) + 1)) {
		*before = pack_visit(block, first_of(*before), max(last, last_of(*before)));
		return 0;
	}
	if (n == NC_BELADY_VISITS_MAX)
		return -E2BIG;
	if (n == plan->room && grow_visits(plan))
		return -ENOMEM;
	plan->visit[plan->figures.visits++] = pack_visit(block, first, last);
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
		.last = visits ? plan->visit[visits - 1] : 0,
	};
}

/* Remove everything appended since @mark.  The plan is not built yet. */
void nc_belady_cut(struct nc_belady *plan, const struct nc_belady_mark *mark)
{
	plan->figures.ranges = mark->ranges;
	plan->figures.visits = mark->visits;
	if (mark->visits)
		plan->visit[mark->visits - 1] = mark->last;
}

static u32 head_of(const struct nc_belady *plan, u64 block)
{
	return hash_64(block ^ plan->seed, plan->head_bits);
}

static u32 next_head(const struct nc_belady *plan, u32 at)
{
	return (at + 1) & ((1U << plan->head_bits) - 1);
}

/* Number the different blocks from 0 and return how many there are.  Until name_blocks(), @after
 * holds the number of each visit's block, and @head the first visit of each block.
 */
static u32 number_blocks(struct nc_belady *plan)
{
	u32 v, at, blocks = 0;

	for (v = 0; v < plan->figures.visits; v++) {
		u64 block = number_of(plan->visit[v]);

		for (at = head_of(plan, block); plan->head[at] != NC_BELADY_NONE;
		     at = next_head(plan, at))
			if (number_of(plan->visit[plan->head[at]]) == block)
				break;
		if (plan->head[at] == NC_BELADY_NONE) {
			plan->head[at] = v;
			plan->after[v] = blocks++;
		} else {
			plan->after[v] = plan->after[plan->head[at]];
		}
		if (!(v % 4096))
			cond_resched();
	}
	return blocks;
}

/* Replace the origin blocks in @visit, and the first visits in @head, by the blocks' numbers. */
static void name_blocks(struct nc_belady *plan)
{
	u32 v, at;

	for (at = 0; at < 1U << plan->head_bits; at++)
		if (plan->head[at] != NC_BELADY_NONE)
			plan->head[at] = plan->after[plan->head[at]];
	for (v = 0; v < plan->figures.visits; v++) {
		u64 *visit = &plan->visit[v];

		plan->planned[plan->after[v]].block = number_of(*visit);
		*visit = pack_visit(plan->after[v], first_of(*visit), last_of(*visit));
		if (!(v % 4096))
			cond_resched();
	}
}

/* Forget all reads, and make each block's first visit at or behind @from its next visit.  A
 * repeated call writes the same values to @after as the first call.
 */
static void link_visits(struct nc_belady *plan, u32 from)
{
	u32 i, v;

	for (i = 0; i < plan->figures.blocks; i++) {
		plan->planned[i].next = NC_BELADY_NONE;
		plan->planned[i].at = NC_BELADY_NONE;
		plan->planned[i].seen = 0;
	}
	for (v = plan->figures.visits; v-- > from;) {
		struct nc_planned *planned = &plan->planned[number_of(plan->visit[v])];

		plan->after[v] = planned->next;
		planned->next = v;
		if (!(v % 4096))
			cond_resched();
	}
}

static int alloc_visits(struct nc_belady *plan)
{
	u32 visits = plan->figures.visits;

	plan->head_bits = ilog2(visits + visits / 2) + 1;
	plan->after = kvmalloc_array(visits, sizeof(*plan->after), NC_BITTREE_GFP);
	plan->head = kvmalloc_array(1U << plan->head_bits, sizeof(*plan->head),
				    NC_BITTREE_GFP);
	plan->done = kvcalloc(visits / 64 + 1, sizeof(*plan->done), NC_BITTREE_GFP);
	if (!plan->after || !plan->head || !plan->done)
		return -ENOMEM;
	memset(plan->head, 0xff, sizeof(*plan->head) << plan->head_bits);
	return 0;
}

/* Number of bits in @far. */
static u32 bits_of(const struct nc_belady *plan)
{
	return plan->figures.visits + plan->figures.blocks;
}

static u64 visits_memory(const struct nc_belady *plan)
{
	return (u64)plan->room * sizeof(*plan->visit) +
	       (u64)plan->figures.visits * sizeof(*plan->after) +
	       (sizeof(*plan->head) << plan->head_bits) +
	       (plan->figures.visits / 64 + 1) * sizeof(*plan->done) +
	       plan->figures.blocks * sizeof(*plan->planned) + nc_bittree_memory(&plan->far);
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

	plan->seed = seed;
	if (alloc_visits(plan))
		return -ENOMEM;
	plan->figures.blocks = number_blocks(plan);
	plan->planned = kvmalloc_array(plan->figures.blocks, sizeof(*plan->planned),
				       NC_BITTREE_GFP);
	if (!plan->planned || nc_bittree_init(&plan->far, bits_of(plan)))
		return -ENOMEM;
	name_blocks(plan);
	link_visits(plan, 0);
	plan->farthest = NC_BITTREE_NONE;
	plan->lag = clamp(visits / LAG_PARTS, LAG_MIN, LAG_MAX);
	plan->late = max(plan->lag / LATE_PARTS, LATE_MIN);
	plan->lag += plan->late;
	/* Not much of the cache: admission compares with the next uses of cached blocks. */
	plan->fresh = min(plan->late, max(slots / 64, FRESH_MIN));
	plan->bearable = BEARABLE;
	plan->patience = max(slots, PATIENCE_MIN);
	memset(plan->recent, 0xff, sizeof(plan->recent));
	plan->figures.memory = visits_memory(plan);
	return 0;
}

void nc_belady_destroy(struct nc_belady *plan)
{
	kvfree(plan->visit);
	kvfree(plan->after);
	kvfree(plan->planned);
	kvfree(plan->head);
	kvfree(plan->done);
	nc_bittree_destroy(&plan->far);
}

/* Return the index of an origin block in @planned, or NC_BELADY_NONE. */
static u32 find_block(const struct nc_belady *plan, u64 block)
{
	u32 at = head_of(plan, block), i;

	for (; (i = plan->head[at]) != NC_BELADY_NONE; at = next_head(plan, at))
		if (plan->planned[i].block == block)
			break;
	return i;
}

/* Bit of @far for block @i: that of its next visit, or without one a bit behind all visits. */
static u32 bit_of(const struct nc_belady *plan, u32 i)
{
	u32 next = plan->planned[i].next;

	return next != NC_BELADY_NONE ? next : plan->figures.visits + i;
}

static bool is_done(const struct nc_belady *plan, u32 v)
{
	return plan->done[v / 64] >> v % 64 & 1;
}

/* First visit that is too far ahead: a read makes its block's next visit only if it is earlier. */
static u32 expected_end(const struct nc_belady *plan)
{
	return READ_ONCE(plan->figures.position) + 2 * (plan->lag - plan->late);
}

/* May further reads belong to the latest visit of the block, because it still lacks sub-blocks? */
static bool visit_is_open(const struct nc_belady *plan, const struct nc_planned *planned)
{
	u32 at = READ_ONCE(planned->at);
	u64 visit;

	if (at == NC_BELADY_NONE || at + 2 * plan->lag < READ_ONCE(plan->figures.position))
		return false;
	visit = plan->visit[at];
	return bit_range(first_of(visit), last_of(visit)) & ~READ_ONCE(planned->seen);
}

/* Does a read of the sub-blocks @touched continue the latest visit of its block?  It may repeat a
 * part: a reader that needs the end of a file first reads this end again later.
 */
static bool goes_on(const struct nc_belady *plan, const struct nc_planned *planned, u64 touched)
{
	u64 visit;

	if (!visit_is_open(plan, planned))
		return false;
	visit = plan->visit[planned->at];
	return touched & ~planned->seen & bit_range(first_of(visit), last_of(visit));
}

static void set_far(struct nc_belady *plan, u32 bit)
{
	nc_bittree_set(&plan->far, bit);
	if (plan->farthest == NC_BITTREE_NONE || bit > plan->farthest)
		WRITE_ONCE(plan->farthest, bit);
}

static void clear_far(struct nc_belady *plan, u32 bit)
{
	nc_bittree_clear(&plan->far, bit);
	if (bit == plan->farthest)
		WRITE_ONCE(plan->farthest, nc_bittree_last(&plan->far, bit));
}

/* Set the next visit of block @i to its visit after @v. */
static void step_block(struct nc_belady *plan, u32 i, u32 v)
{
	bool held = nc_bittree_test(&plan->far, bit_of(plan, i));

	if (held)
		clear_far(plan, bit_of(plan, i));
	WRITE_ONCE(plan->planned[i].next, plan->after[v]);
	if (held)
		set_far(plan, bit_of(plan, i));
}

/* No reader made visit @v in time: skip it. */
static void skip_visit(struct nc_belady *plan, u32 v)
{
	u32 i = number_of(plan->visit[v]);

	if (plan->planned[i].next == v)
		step_block(plan, i, v);
	plan->figures.skipped++;
}

static void advance_position(struct nc_belady *plan)
{
	u32 position = plan->figures.position;

	for (; position < plan->figures.visits; position++) {
		if (is_done(plan, position))
			continue;
		if (plan->front < position || plan->front - position <= plan->lag)
			break;
		skip_visit(plan, position);
	}
	WRITE_ONCE(plan->figures.position, position);
}

/* Count a read of block @i that suggests that readers have moved. */
static void count_unexpected(struct nc_belady *plan, u32 i)
{
	plan->unexpected++;
	plan->recent[plan->recent_at++ % NC_BELADY_RECENT] = i;
}

/* Record that a read makes visit @v, the next visit of block @i; @seen: see struct nc_planned. */
static void make_visit(struct nc_belady *plan, u32 i, u32 v, u64 seen)
{
	step_block(plan, i, v);
	WRITE_ONCE(plan->planned[i].at, v);
	WRITE_ONCE(plan->planned[i].seen, seen);
	plan->done[v / 64] |= 1ULL << v % 64;
	if (++plan->expected == SETTLED)
		plan->bearable = BEARABLE;
	/* A visit far ahead may be a repeated read: if readers were there, more would follow. */
	if (v >= plan->front + max(plan->lag / 2, PLACE)) {
		count_unexpected(plan, i);
		return;
	}
	plan->front = max(plan->front, v + 1);
	advance_position(plan);
	if (plan->unexpected)
		plan->unexpected--;
}

static void begin_period(struct nc_belady *plan)
{
	plan->expected = 0;
	plan->others = 0;
}

/* Count a read that is part of no visit; @i: index of its block, or NC_BELADY_NONE.  Mark the plan
 * as lost if nearly all reads of the period are part of no visit.
 */
static void count_stray(struct nc_belady *plan, u32 i)
{
	plan->figures.astray++;
	if (i != NC_BELADY_NONE)
		count_unexpected(plan, i);
	if (++plan->others < plan->patience)
		return;
	if (plan->expected < plan->others / PATIENCE_RATIO)
		plan->lost = true;
	begin_period(plan);
}

/* Report the part of a read that lies in one block: advances the plan and the statistics. */
void nc_belady_read(struct nc_belady *plan, const struct nc_belady_piece *piece)
{
	u64 touched = bit_range(piece->first, piece->last);
	u64 seen = piece->whole ? touched : touched & ~(1ULL << piece->last);
	u32 i = find_block(plan, piece->block), v;

	if (i == NC_BELADY_NONE) {
		count_stray(plan, i);
		return;
	}
	v = plan->planned[i].next;
	if (goes_on(plan, &plan->planned[i], touched)) {
		WRITE_ONCE(plan->planned[i].seen, plan->planned[i].seen | seen);
	} else if (v < expected_end(plan)) {
		make_visit(plan, i, v, seen);
		if (piece->hit)
			plan->figures.hits++;
		else
			plan->figures.misses++;
	} else {
		count_stray(plan, i);
	}
}

/* Next visit of block @i after the read in progress, which nc_belady_read() has not seen yet. */
static u32 next_visit(const struct nc_belady *plan, u32 i)
{
	u32 next = READ_ONCE(plan->planned[i].next);

	if (next < expected_end(plan) && !visit_is_open(plan, &plan->planned[i]))
		next = plan->after[next];
	return next;
}

/**
 * nc_belady_admits() - decide whether to cache a missing block that is being read
 * @plan: plan
 * @block: origin block
 * @left: number of free slots that @block may use
 * @low: the low water mark that applies when there is no plan, for nc_belady_enough()
 * @strays: the cache may contain blocks outside the plan
 *
 * With more than nc_belady_enough() free slots a fill costs no eviction: admit @block.  With fewer,
 * a fill makes reclaim evict a block outside the plan, or if there is none, the cached block whose
 * next use is farthest.  So admit only a planned block, and without @strays only if its next use
 * comes before that farthest use.  Other tasks may change the plan meanwhile.
 */
bool nc_belady_admits(const struct nc_belady *plan, u64 block, u32 left, u32 low, bool strays)
{
	u32 i, next;

	if (left > nc_belady_enough(low) || !left)
		return left;
	i = find_block(plan, block);
	next = i != NC_BELADY_NONE ? next_visit(plan, i) : NC_BELADY_NONE;
	/* NC_BITTREE_NONE is greater than each visit. */
	return next != NC_BELADY_NONE && (strays || READ_ONCE(plan->farthest) > next);
}

/* Count a block, which has a slot, as cached.  Returns false if the block is not in the plan. */
bool nc_belady_took(struct nc_belady *plan, u64 block)
{
	u32 i = find_block(plan, block);

	if (i == NC_BELADY_NONE)
		return false;
	set_far(plan, bit_of(plan, i));
	return true;
}

/* Count a block, which lost its slot, as not cached. */
void nc_belady_gone(struct nc_belady *plan, u64 block)
{
	u32 i = find_block(plan, block);

	if (i != NC_BELADY_NONE)
		clear_far(plan, bit_of(plan, i));
}

/* Does the plan count the block as cached, so that nc_belady_farthest() may find it? */
bool nc_belady_holds(const struct nc_belady *plan, u64 block)
{
	u32 i = find_block(plan, block);

	return i != NC_BELADY_NONE && nc_bittree_test(&plan->far, bit_of(plan, i));
}

/**
 * nc_belady_farthest() - find the cached block with the farthest next use
 * @plan: plan; no longer counts the found block as cached
 * @end: NC_BELADY_NONE for the first call, which sets it; each later call finds a block with a
 *	nearer next use, even if the caller gave the found block back with nc_belady_took()
 * @block: result, an origin block
 *
 * Return: false if no planned block is cached.
 */
bool nc_belady_farthest(struct nc_belady *plan, u32 *end, u64 *block)
{
	u32 far = nc_bittree_last(&plan->far, min(*end, bits_of(plan))), i;

	if (far == NC_BITTREE_NONE)
		return false;
	*end = far;
	i = far < plan->figures.visits ? number_of(plan->visit[far]) : far - plan->figures.visits;
	clear_far(plan, far);
	*block = plan->planned[i].block;
	return true;
}

/**
 * nc_belady_ahead() - find the next visit whose block must still be brought
 * @plan: plan
 * @at: first visit to look at; set to the one after the last visit that was looked at
 * @end: visit at which to stop
 * @full: a block takes the slot of the cached block whose next use is farthest: stop at a visit
 *	that comes after that use, and leave @at there
 * @piece: set to the block and the sub-blocks of the visit
 *
 * Leaves out visits that were made, and those of blocks that are cached or have an earlier visit.
 *
 * Return: the visit, or NC_BELADY_NONE.
 */
u32 nc_belady_ahead(const struct nc_belady *plan, u32 *at, u32 end, bool full,
		    struct nc_belady_piece *piece)
{
	u32 far = full ? plan->farthest : NC_BITTREE_NONE, v, i;

	end = min(end, plan->figures.visits);
	for (v = *at; v < end; v++) {
		if (is_done(plan, v))
			continue;
		i = number_of(plan->visit[v]);
		if (plan->planned[i].next != v || nc_bittree_test(&plan->far, v))
			continue;
		*at = v;
		if (far != NC_BITTREE_NONE && far <= v)
			return NC_BELADY_NONE;
		*at = v + 1;
		*piece = (struct nc_belady_piece) {
			.block = plan->planned[i].block,
			.first = first_of(plan->visit[v]),
			.last = last_of(plan->visit[v]),
		};
		return v;
	}
	*at = v;
	return NC_BELADY_NONE;
}

/* Do the unexpected reads suggest that readers moved: should the caller run nc_belady_seek()? */
bool nc_belady_astray(const struct nc_belady *plan)
{
	return plan->unexpected >= plan->bearable && plan->recent_at >= NC_BELADY_RECENT;
}

/* Return a bitmap of the entries of @recent that name the block of visit @v. */
static u32 recent_of(const struct nc_belady *plan, u32 v)
{
	u32 i = number_of(plan->visit[v]), at, found = 0;

	for (at = 0; at < NC_BELADY_RECENT; at++)
		found |= (plan->recent[at] == i) << at;
	return found;
}

static u32 visit_distance(const struct nc_belady *plan, u32 v)
{
	u32 position = plan->figures.position;

	return v > position ? v - position : position - v;
}

/* Return the first visit of the place that visits most blocks of @recent; if several do, of the
 * nearest.  NC_BELADY_NONE: no place.  Places overlap: each is the union of two adjacent halves.
 */
static u32 find_place(const struct nc_belady *plan)
{
	u32 start, v, best = NC_BELADY_NONE, most = PLACE_ENOUGH - 1, before = 0, half;

	for (start = 0; start < plan->figures.visits; start += PLACE / 2) {
		u32 end = min(start + PLACE / 2, plan->figures.visits), from, count;

		for (half = 0, v = start; v < end; v++)
			half |= recent_of(plan, v);
		count = hweight32(half | before);
		from = start ? start - PLACE / 2 : 0;
		if (count > most || (count == most && best != NC_BELADY_NONE &&
				     visit_distance(plan, from) < visit_distance(plan, best))) {
			most = count;
			best = from;
		}
		before = half;
		cond_resched();
	}
	return best;
}

/* Move the position to visit @place, and count the reads in @recent as visits made there. */
static void go_to(struct nc_belady *plan, u32 place)
{
	u32 v, end = min(place + PLACE, plan->figures.visits), i;

	link_visits(plan, place);
	nc_bittree_empty(&plan->far);
	plan->farthest = NC_BITTREE_NONE;
	memset(plan->done, 0, (plan->figures.visits / 64 + 1) * sizeof(*plan->done));
	plan->figures.position = place;
	plan->front = place;
	for (v = place; v < end; v++) {
		i = number_of(plan->visit[v]);
		if (recent_of(plan, v) && plan->planned[i].next == v)
			make_visit(plan, i, v, 0);
	}
}

/**
 * nc_belady_seek() - find the readers' place in the plan
 * @plan: is nc_belady_astray(); the caller must report all cached blocks again by nc_belady_took()
 *
 * Doubles the number of unexpected reads that start the next search.
 *
 * Context: may sleep; takes up to a second.
 */
void nc_belady_seek(struct nc_belady *plan)
{
	u32 place = find_place(plan);

	plan->unexpected = 0;
	plan->recent_at = 0;
	plan->bearable = min(2 * plan->bearable, BEARABLE_MAX);
	if (place == NC_BELADY_NONE)
		return;
	plan->figures.sought++;
	begin_period(plan);
	go_to(plan, place);
}
