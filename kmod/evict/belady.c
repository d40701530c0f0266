// SPDX-License-Identifier: GPL-2.0-only
/*
 * Belady's MIN: evict the cached block whose next use is farthest.  The plan holds, for each block,
 * the visit in which it is read next.  Each cached block sets one bit, at the position of that
 * visit, so the last set bit belongs to the farthest block.  A read of a cached block clears the
 * block's bit and sets the bit of the block's next visit.
 *
 * Readers may deviate from the plan.  Several threads read ahead of each other, so a read counts
 * as the next visit of its block if that visit covers a sub-block of the read and is not far ahead.
 * A visit that no reader makes is skipped once readers are well beyond it.  One visit may consist
 * of several reads, and a read may repeat a part of the visit.  If unexpected reads of planned
 * blocks outnumber expected ones, readers have moved to another place of the plan, and
 * nc_belady_seek() finds this place.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "evict/belady.h"

/* Each search doubles nc_belady.bearable, from NC_BELADY_BEARABLE up to this. */
#define BEARABLE_MAX	1048576U
/* Visits made in a period after which nc_belady.bearable is NC_BELADY_BEARABLE again. */
#define SETTLED		1024U
/* Length of a place in visits, and how many of the recent unexpected reads must lie in it. */
#define PLACE		192U
#define PLACE_ENOUGH	14U
/* Most visits of a block that takes_part() looks at. */
#define PARTS_SOON	16U
/* More stray reads than this per visit in a period end the plan. */
#define PATIENCE_RATIO	8U

static u64 bit_range(u32 first, u32 last)
{
	return ~0ULL >> (63 - last) & ~0ULL << first;
}

/* Bitmap of the sub-blocks of visit @v. */
static u64 part_bits(const struct nc_belady *plan, u32 v)
{
	u16 part = READ_ONCE(plan->part[v]);

	return bit_range(nc_part_first(part), nc_part_last(part));
}

/* Bit of @far for block @i: that of its next visit; behind all visits if there is none, or if MIN
 * evicts the block before.
 */
static u32 bit_of(const struct nc_belady *plan, u32 i)
{
	u32 next = plan->blocks.entry[i].next;

	return next != NC_BELADY_NONE && !test_bit(i, plan->spare) ? next :
								    plan->figures.visits + i;
}

static bool is_done(const struct nc_belady *plan, u32 v)
{
	return plan->done[v / 64] >> v % 64 & 1;
}

/* A read counts as the next visit of its block only if that visit comes before the result. */
static u32 expected_end(const struct nc_belady *plan)
{
	return READ_ONCE(plan->figures.position) + 2 * (plan->lag - plan->late);
}

/* Return the latest visit of block @i if further reads may belong to it, else NULL. */
static struct nc_open_visit *open_visit(const struct nc_belady *plan, u32 i)
{
	struct nc_open_visit *visit = nc_open_find(&plan->open, i);

	if (visit && (READ_ONCE(visit->seen) == NC_OPEN_COMPLETE ||
		      READ_ONCE(visit->visit) + 2 * plan->lag < READ_ONCE(plan->figures.position)))
		return NULL;
	return visit;
}

static u32 front_distance(const struct nc_belady *plan, u32 v)
{
	return v > plan->front ? v - plan->front : plan->front - v;
}

/* Does a read of the sub-blocks @touched of block @i repeat a part of the block's latest visit?  A
 * reader may read the end of a file first, and again with the rest.  The hits of a read of which a
 * part was missing are reported after the missing part.  True if the next visit is at least PLACE
 * visits ahead of @front, and farther from @front than the latest visit.  The caller counts such a
 * read as astray.
 */
static bool is_repeated(const struct nc_belady *plan, u32 i, u64 touched)
{
	const struct nc_open_visit *last = nc_open_find(&plan->open, i);
	u32 next = plan->blocks.entry[i].next;

	return last && touched & part_bits(plan, last->visit) &&
	       next != NC_BELADY_NONE && next >= plan->front + PLACE &&
	       front_distance(plan, last->visit) < next - plan->front;
}

/* Does a read of the sub-blocks @touched continue an open visit?  It may repeat a part: a reader
 * that needs the end of a file first reads this end again later.
 */
static bool goes_on(const struct nc_belady *plan, const struct nc_open_visit *open, u64 touched)
{
	return open && touched & ~open->seen & part_bits(plan, open->visit);
}

/* Record that the sub-blocks @seen of visit @v of block @i were read. */
static void see_part(struct nc_belady *plan, u32 i, u32 v, u64 seen)
{
	struct nc_open_visit *open;

	if (part_bits(plan, v) & ~seen) {
		nc_open_set(&plan->open, i, v, seen);
		return;
	}
	open = nc_open_find(&plan->open, i);
	if (!open)
		return;
	WRITE_ONCE(open->visit, v);
	WRITE_ONCE(open->seen, NC_OPEN_COMPLETE);
}

static void set_far(struct nc_belady *plan, u32 bit)
{
	if (bit >= plan->figures.visits && !nc_bittree_test(&plan->far, bit))
		plan->spares++;
	nc_bittree_set(&plan->far, bit);
	if (plan->farthest == NC_BITTREE_NONE || bit > plan->farthest)
		WRITE_ONCE(plan->farthest, bit);
}

static void clear_far(struct nc_belady *plan, u32 bit)
{
	if (bit >= plan->figures.visits && nc_bittree_test(&plan->far, bit))
		plan->spares--;
	nc_bittree_clear(&plan->far, bit);
	if (bit == plan->farthest)
		WRITE_ONCE(plan->farthest, nc_bittree_last(&plan->far, bit));
}

/* Set the next visit of block @i.  @spare: MIN evicts the block before that visit. */
static void move_block(struct nc_belady *plan, u32 i, u32 next, bool spare)
{
	bool held = nc_bittree_test(&plan->far, bit_of(plan, i));

	if (held)
		clear_far(plan, bit_of(plan, i));
	WRITE_ONCE(plan->blocks.entry[i].next, next);
	__assign_bit(i, plan->spare, spare);
	if (held)
		set_far(plan, bit_of(plan, i));
}

/* Does visit @v miss under MIN?  True for NC_BELADY_NONE, the value of no visit. */
static bool is_absent(const struct nc_belady *plan, u32 v)
{
	return v == NC_BELADY_NONE || test_bit(v, plan->absent);
}

/* Set the next visit of block @i to its visit after @v.  @over: no more reads belong to @v. */
static void step_block(struct nc_belady *plan, u32 i, u32 v, bool over)
{
	move_block(plan, i, plan->after[v], over && is_absent(plan, plan->after[v]));
}

/* No reader made visit @v in time: skip it. */
static void skip_visit(struct nc_belady *plan, u32 v)
{
	u32 i = plan->visit[v];

	if (plan->blocks.entry[i].next == v)
		step_block(plan, i, v, true);
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

/* Record that visit @v, the next one of block @i, was made.  @seen: sub-blocks that were read. */
static void make_visit(struct nc_belady *plan, u32 i, u32 v, u64 seen)
{
	step_block(plan, i, v, !(part_bits(plan, v) & ~seen));
	see_part(plan, i, v, seen);
	plan->done[v / 64] |= 1ULL << v % 64;
	if (++plan->expected == SETTLED)
		plan->bearable = NC_BELADY_BEARABLE;
	/* A visit far ahead may be a repeated read: leave it to nc_belady_seek() to move @front. */
	if (v >= plan->front + max(plan->lag / 2, PLACE)) {
		count_unexpected(plan, i);
		return;
	}
	plan->front = max(plan->front, v + 1);
	advance_position(plan);
	if (plan->unexpected)
		plan->unexpected--;
}

/* Was visit @v made or skipped? */
bool nc_belady_is_over(const struct nc_belady *plan, u32 v)
{
	return v < plan->figures.position || is_done(plan, v);
}

/* Bitmap of the sub-blocks of a visit that were read; all ones if the visit is not open. */
u64 nc_belady_seen(const struct nc_belady *plan, u32 v)
{
	const struct nc_open_visit *open = open_visit(plan, plan->visit[v]);

	return open && open->visit == v ? open->seen : ~0ULL;
}

/* Is sub-block @first of visit @v still to be read?  Lowers *@last so that the result holds for all
 * sub-blocks from @first to *@last.  Also true outside of the visit: takes_part() may have given
 * the sub-blocks to another visit.
 */
bool nc_belady_unread(const struct nc_belady *plan, u32 v, u32 first, u32 *last)
{
	u64 seen = nc_belady_is_over(plan, v) ? nc_belady_seen(plan, v) & part_bits(plan, v) : 0;
	bool unread = !(seen >> first & 1);
	u64 other = (unread ? seen : ~seen) >> first;

	if (other)
		*last = min_t(u32, *last, first + __ffs64(other) - 1);
	return unread;
}

/* Record that visit @v was made, if it is the next one of its block.  @seen: its sub-blocks that
 * were read.
 */
void nc_belady_make(struct nc_belady *plan, u32 v, u64 seen)
{
	u32 i = plan->visit[v];

	if (plan->blocks.entry[i].next == v)
		make_visit(plan, i, v, seen);
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

/* Record that the sub-blocks @seen of the open visit @v of block @i were read. */
static void go_on(struct nc_belady *plan, u32 i, u32 v, u64 seen)
{
	see_part(plan, i, v, seen);
	if (!(part_bits(plan, v) & ~seen) && plan->blocks.entry[i].next == plan->after[v])
		step_block(plan, i, v, true);
}

/* Does a read of the sub-blocks @touched belong to the next visit @v of its block, or to a later
 * one that comes soon?  Several readers make such visits in any order: then exchange the sub-blocks
 * of both visits, so that @v is the one that was made.
 */
static bool takes_part(struct nc_belady *plan, u32 v, u64 touched)
{
	u32 w = v, steps;

	for (steps = 0; w != NC_BELADY_NONE && steps < PARTS_SOON; w = plan->after[w], steps++) {
		if (w != v && w >= plan->front + PLACE)
			break;
		if (touched & part_bits(plan, w)) {
			u16 part = plan->part[v];

			/* nc_belady_prepend() reads them without a lock. */
			WRITE_ONCE(plan->part[v], plan->part[w]);
			WRITE_ONCE(plan->part[w], part);
			return true;
		}
	}
	return false;
}

/* Apply the sub-blocks @touched of a read of block @i to one visit.  @seen: those of them that were
 * read to their end.  Returns the sub-blocks of this visit, or 0 if the read belongs to none.
 */
static u64 read_visit(struct nc_belady *plan, u32 i, u64 touched, u64 seen, bool hit)
{
	struct nc_open_visit *open = open_visit(plan, i);
	u32 v = plan->blocks.entry[i].next;
	u64 part;

	if (goes_on(plan, open, touched)) {
		part = part_bits(plan, open->visit);
		go_on(plan, i, open->visit, open->seen | seen);
		return part;
	}
	if (v >= expected_end(plan) || is_repeated(plan, i, touched) ||
	    !takes_part(plan, v, touched))
		return 0;
	part = part_bits(plan, v);
	make_visit(plan, i, v, seen);
	if (hit)
		plan->figures.hits++;
	else
		plan->figures.misses++;
	return part;
}

/* Report the part of a read that lies in one block: advances the plan and the statistics.  A read
 * makes several visits of a block if they come soon: samples that were read one after the other.
 */
void nc_belady_read(struct nc_belady *plan, const struct nc_belady_piece *piece)
{
	u64 touched = bit_range(piece->first, piece->last), part;
	u64 seen = piece->whole ? touched : touched & ~(1ULL << piece->last);
	u32 i = nc_block_find(&plan->blocks, piece->block);
	bool any = false;

	while (i != NC_BELADY_NONE && touched) {
		part = read_visit(plan, i, touched, seen, piece->hit);
		if (!part)
			break;
		any = true;
		touched &= ~part;
		seen &= ~part;
	}
	if (!any)
		count_stray(plan, i);
}

/* Next visit of block @i after the read in progress, which nc_belady_read() has not seen yet.
 * NC_BELADY_NONE also if MIN evicts the block before that visit.
 */
static u32 next_visit(const struct nc_belady *plan, u32 i)
{
	u32 next = READ_ONCE(plan->blocks.entry[i].next);

	if (next < expected_end(plan) && !open_visit(plan, i))
		next = plan->after[next];
	return is_absent(plan, next) ? NC_BELADY_NONE : next;
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
	i = nc_block_find(&plan->blocks, block);
	next = i != NC_BELADY_NONE ? next_visit(plan, i) : NC_BELADY_NONE;
	/* NC_BITTREE_NONE is greater than each visit. */
	return next != NC_BELADY_NONE && (strays || READ_ONCE(plan->farthest) > next);
}

/* Count a block as cached.  @brought: a fill is about to bring its data, so it stays until its next
 * visit.  Returns false if the block is not in the plan.
 */
bool nc_belady_took(struct nc_belady *plan, u64 block, bool brought)
{
	u32 i = nc_block_find(&plan->blocks, block);

	if (i == NC_BELADY_NONE)
		return false;
	if (brought)
		move_block(plan, i, plan->blocks.entry[i].next, false);
	set_far(plan, bit_of(plan, i));
	return true;
}

/* Apply a new schedule to the cached blocks of some entries, from @entry on; advances @entry.
 * Returns false at the end.
 */
bool nc_belady_mark_spare(struct nc_belady *plan, u32 *entry)
{
	u32 end = min(*entry + 256, plan->blocks.size), i, next;

	for (i = *entry; i < end; i++) {
		next = plan->blocks.entry[i].next;
		if (next < plan->figures.visits && nc_bittree_test(&plan->far, next) &&
		    is_absent(plan, next))
			move_block(plan, i, next, true);
	}
	*entry = end;
	return end < plan->blocks.size;
}

/* Count a block as not cached: it lost its slot, or all valid data in the slot. */
void nc_belady_gone(struct nc_belady *plan, u64 block)
{
	u32 i = nc_block_find(&plan->blocks, block);

	if (i != NC_BELADY_NONE)
		clear_far(plan, bit_of(plan, i));
}

/* Does the plan count the block as cached, so that nc_belady_farthest() may find it? */
bool nc_belady_holds(const struct nc_belady *plan, u64 block)
{
	u32 i = nc_block_find(&plan->blocks, block);

	return i != NC_BELADY_NONE && nc_bittree_test(&plan->far, bit_of(plan, i));
}

/**
 * nc_belady_farthest() - find the cached block with the farthest next use
 * @plan: plan; the call removes the found block from the cached blocks
 * @end: NC_BELADY_NONE for the first call, which sets it; each later call finds a block with a
 *	nearer next use, even if the caller gave the found block back with nc_belady_took()
 * @block: result, an origin block
 *
 * Return: false if no planned block is cached.
 */
bool nc_belady_farthest(struct nc_belady *plan, u32 *end, u64 *block)
{
	u32 far = *end == NC_BELADY_NONE ? plan->farthest : nc_bittree_last(&plan->far, *end), i;

	if (far == NC_BITTREE_NONE)
		return false;
	*end = far;
	i = far < plan->figures.visits ? plan->visit[far] : far - plan->figures.visits;
	clear_far(plan, far);
	*block = nc_block_at(&plan->blocks, i);
	return true;
}

/* Does visit @v read a whole block? */
static bool is_whole(const struct nc_belady *plan, u32 v)
{
	return nc_part_first(plan->part[v]) == 0 && nc_part_last(plan->part[v]) == plan->subs - 1;
}

/* Must the data of visit @v still be brought, as far as is known now?  If the block is cached, this
 * keeps it for the visit; the parts of a visit of parts may be missing nevertheless.
 */
static bool is_missing(struct nc_belady *plan, u32 v)
{
	u32 i = plan->visit[v];
	bool held = nc_bittree_test(&plan->far, bit_of(plan, i));

	/* The block comes for an earlier visit, and stays. */
	if (plan->blocks.entry[i].next != v)
		return held && !is_whole(plan, v);
	if (held)
		move_block(plan, i, v, false);
	return !held || !is_whole(plan, v);
}

/**
 * nc_belady_ahead() - find the next visit whose data must still be brought
 * @plan: plan
 * @at: first visit to look at; set to the first visit that this call did not look at
 * @end: first visit not to look at
 * @near: from this visit on, leave out visits that hit under MIN.  Their blocks were evicted, or
 *	are cached in part; the caller looks at these visits again when readers are near
 * @full: a block takes the slot of the cached block whose next use is farthest: stop at a visit
 *	that comes after that use, and leave @at there
 * @piece: set to the block and the sub-blocks of the visit
 *
 * Leaves out visits that were made, and those of blocks that are cached, or will be since an
 * earlier visit.  Also stops at a visit whose block MIN evicts after an earlier visit that is not
 * made yet.
 *
 * Return: the visit, or NC_BELADY_NONE.
 */
u32 nc_belady_ahead(struct nc_belady *plan, u32 *at, u32 end, u32 near, bool full,
		    struct nc_belady_piece *piece)
{
	u32 far = full ? plan->farthest : NC_BITTREE_NONE, v, i;

	end = min(end, plan->figures.visits);
	for (v = *at; v < end; v++) {
		i = plan->visit[v];
		if (is_done(plan, v))
			continue;
		*at = v;
		if (plan->blocks.entry[i].next != v && is_absent(plan, v))
			return NC_BELADY_NONE;
		if (!is_missing(plan, v) || (v >= near && !is_absent(plan, v)))
			continue;
		if (!nc_bittree_test(&plan->far, bit_of(plan, i)) && far != NC_BITTREE_NONE &&
		    far <= v)
			return NC_BELADY_NONE;
		*at = v + 1;
		*piece = (struct nc_belady_piece) {
			.block = nc_block_at(&plan->blocks, i),
			.first = nc_part_first(plan->part[v]),
			.last = nc_part_last(plan->part[v]),
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
	u32 i = plan->visit[v], at, found = 0;

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

	nc_belady_link(plan, place);
	nc_bittree_empty(&plan->far);
	plan->farthest = NC_BITTREE_NONE;
	plan->spares = 0;
	memset(plan->done, 0, nc_belady_words(plan) * sizeof(*plan->done));
	plan->figures.position = place;
	plan->front = place;
	for (v = place; v < end; v++) {
		i = plan->visit[v];
		if (recent_of(plan, v) && plan->blocks.entry[i].next == v)
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
