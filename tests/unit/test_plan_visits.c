// SPDX-License-Identifier: GPL-2.0-only
/* Visits of a plan (kmod/evict/belady.c), one by one: parts of blocks, what must be brought, a plan that
 * continues another one, and memory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/slab.h>

#include "helper/unit.h"
#include "evict/belady.h"

/* Argument @near of nc_belady_ahead(). */
#define ALL	NC_BELADY_NONE

static void add(struct nc_belady *p, u64 first, u64 last)
{
	assert_int_equal(nc_belady_append(p, first, last), 0);
}

/* Adjacent ranges in one block are one visit.  nc_belady_cut() removes the visits behind a mark. */
static void visits(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_mark mark;

	(void)unused;
	add(&p, 2, 3);
	add(&p, 4, 5);
	assert_int_equal(p.figures.visits, 1);
	add(&p, 2, 3);
	assert_int_equal(p.figures.visits, 2);
	mark = nc_belady_mark(&p);
	add(&p, 4, 25);
	assert_int_equal(p.figures.visits, 5);
	nc_belady_cut(&p, &mark);
	assert_int_equal(p.figures.visits, 2);
	assert_int_equal(nc_belady_mark(&p).part, mark.part);
	assert_int_equal(nc_belady_append(&p, 0, 8ULL * NC_BELADY_VISITS_MAX - 8), -E2BIG);
	nc_belady_cut(&p, &mark);
	assert_int_equal(nc_belady_append(&p, 0, ~0ULL), -E2BIG);
	assert_int_equal(p.figures.visits, 2);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	assert_int_equal(p.figures.blocks, 1);
	nc_belady_destroy(&p);
}

/* The ranges of nc_belady_next_left() make the same visits again, without those that were made. */
static void left_again(void **unused)
{
	struct nc_belady p = { .subs = 8 }, again = { .subs = 8 };
	struct nc_belady_piece piece = { .block = 1, .last = 7, .whole = true };
	struct nc_belady_piece half = { .block = 2, .last = 3, .whole = true };
	u32 v = 0, ranges = 0, i, k = 0;
	u64 first, last;

	(void)unused;
	/* Blocks 0 to 3, a part of block 9, and block 1 again. */
	add(&p, 0, 31);
	add(&p, 74, 76);
	add(&p, 8, 15);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	nc_belady_read(&p, &piece);
	/* Half of a visit: it is left as a whole. */
	nc_belady_read(&p, &half);
	while (nc_belady_next_left(&p, &v, 2, &first, &last)) {
		if (last + 1 == first)
			continue;
		add(&again, first, last);
		ranges++;
	}
	assert_int_equal(v, 6);
	assert_true(ranges >= 4);
	assert_int_equal(again.figures.visits, 5);
	assert_int_equal(nc_belady_build(&again, 1, 16), 0);
	for (i = 0; i < p.figures.visits; i++) {
		if (i == 1)
			continue;
		assert_int_equal(nc_block_at(&again.blocks, again.visit[k]),
				 nc_block_at(&p.blocks, p.visit[i]));
		assert_int_equal(again.part[k++], p.part[i]);
	}
	nc_belady_destroy(&again);
	nc_belady_destroy(&p);
}

/* Three visits of one block, read in halves: a visit is over when each half was read once. */
static void parts(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_piece low = { .last = 3, .whole = true };
	struct nc_belady_piece high = { .first = 4, .last = 7, .whole = true };
	struct nc_belady_piece start = { .last = 0 };

	(void)unused;
	add(&p, 0, 7);
	add(&p, 0, 7);
	add(&p, 0, 7);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	nc_belady_read(&p, &high);
	nc_belady_read(&p, &low);
	assert_int_equal(p.figures.position, 1);
	nc_belady_read(&p, &start);
	nc_belady_read(&p, &low);
	nc_belady_read(&p, &high);
	assert_int_equal(p.figures.position, 2);
	nc_belady_read(&p, &low);
	assert_true(nc_belady_over(&p));
	nc_belady_read(&p, &high);
	assert_int_equal(p.figures.astray, 0);
	nc_belady_read(&p, &high);
	assert_int_equal(p.figures.astray, 1);
	nc_belady_destroy(&p);
}

/* Check nc_belady_unread() of visit @v from @first on: the result is @are up to before @end. */
static void unread(const struct nc_belady *p, u32 v, u32 first, bool are, u32 end)
{
	u32 last = 7;

	assert_int_equal(nc_belady_unread(p, v, first, &last), are);
	assert_int_equal(last, end - 1);
}

/* nc_belady_unread() finds the parts of visits that the stream need not bring any more. */
static void read_before_stream(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_piece middle = { .block = 1, .first = 2, .last = 4, .whole = true };
	struct nc_belady_piece part = { .block = 1, .first = 5, .last = 5 };
	struct nc_belady_piece all = { .block = 2, .last = 7, .whole = true };

	(void)unused;
	add(&p, 0, 31);
	add(&p, 8, 15);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	unread(&p, 1, 0, true, 8);
	nc_belady_read(&p, &middle);
	nc_belady_read(&p, &all);
	assert_int_equal(p.figures.position, 0);
	unread(&p, 0, 0, true, 8);
	unread(&p, 1, 0, true, 2);
	unread(&p, 1, 2, false, 5);
	unread(&p, 1, 3, false, 5);
	unread(&p, 1, 5, true, 8);
	unread(&p, 2, 0, false, 8);
	/* A read that ends within a sub-block. */
	nc_belady_read(&p, &part);
	unread(&p, 1, 2, false, 5);
	/* The next visit of the block. */
	unread(&p, 4, 0, true, 8);
	nc_belady_destroy(&p);
}

/* Two samples of a block change places: the reader took the later one first, at the origin.  The
 * stream brings the other one, for which it has asked in the name of the first visit.
 */
static void exchanged_before_stream(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_piece later = { .first = 4, .last = 7, .whole = true };

	(void)unused;
	add(&p, 0, 3);
	add(&p, 8, 15);
	add(&p, 4, 7);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	nc_belady_read(&p, &later);
	assert_int_equal(p.figures.position, 1);
	unread(&p, 0, 0, true, 4);
	unread(&p, 0, 4, false, 8);
	nc_belady_destroy(&p);
}

/* Samples of a block, with those of other blocks between, are read as one: several visits. */
static void samples_at_once(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_piece first = { .last = 0, .whole = true, .hit = true };
	struct nc_belady_piece rest = { .first = 1, .last = 6, .hit = true };
	u32 i;

	(void)unused;
	for (i = 0; i < 8; i += 2) {
		add(&p, i, i + 1);
		add(&p, 8 + 8 * i, 15 + 8 * i);
	}
	assert_int_equal(p.figures.visits, 8);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	nc_belady_read(&p, &first);
	assert_int_equal(p.figures.hits, 1);
	/* To the middle of sub-block 6: the last visit is not complete. */
	nc_belady_read(&p, &rest);
	assert_int_equal(p.figures.hits, 4);
	assert_int_equal(p.figures.astray, 0);
	unread(&p, 4, 4, false, 6);
	assert_int_equal(nc_belady_seen(&p, 6), 0);
	nc_belady_destroy(&p);
}

/* A reader needs the end of a file first, and reads it again with the rest: one visit. */
static void end_first(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_piece end = { .first = 7, .last = 7, .whole = true };
	struct nc_belady_piece rest = { .last = 7, .whole = true };
	u64 left[4] = { 0 };
	u32 block;

	(void)unused;
	add(&p, 0, 7);
	add(&p, 8, 8 * 210 - 1);
	add(&p, 0, 7);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	nc_belady_read(&p, &end);
	assert_int_equal(p.figures.position, 1);
	nc_belady_read(&p, &rest);
	assert_int_equal(p.figures.position, 1);
	/* A plan that continues this one does not repeat the visit. */
	assert_int_equal(nc_belady_left(&p, left), 210);
	/* The next visit is 209 visits ahead: a third read of the block is astray. */
	nc_belady_read(&p, &end);
	assert_int_equal(p.front, 1);
	assert_int_equal(p.figures.hits + p.figures.misses, 1);
	assert_int_equal(p.figures.astray, 1);
	for (block = 1; block < 210; block++) {
		rest.block = block;
		nc_belady_read(&p, &rest);
	}
	assert_int_equal(p.figures.position, 210);
	/* Now the next visit is near: the read makes it. */
	nc_belady_read(&p, &end);
	assert_int_equal(p.figures.position, 211);
	assert_int_equal(p.figures.hits + p.figures.misses, 211);
	assert_int_equal(p.figures.skipped, 0);
	nc_belady_destroy(&p);
}

/* Two files share a block: a read of one of them is not a visit of the other one. */
static void shared_block(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_piece first = { .last = 3, .whole = true };
	struct nc_belady_piece end = { .first = 7, .last = 7, .whole = true };
	struct nc_belady_piece second = { .first = 4, .last = 7, .whole = true };
	struct nc_belady_piece other = { .block = 1, .last = 7, .whole = true };

	(void)unused;
	add(&p, 0, 3);
	add(&p, 8, 15);
	add(&p, 4, 7);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	/* A second reader needs the end of its file before the first one has read its own. */
	nc_belady_read(&p, &end);
	nc_belady_read(&p, &first);
	nc_belady_read(&p, &other);
	assert_true(nc_belady_over(&p));
	assert_int_equal(p.figures.skipped, 0);
	assert_int_equal(p.figures.astray, 0);
	/* The rest of its file, whose visit was made by the first read. */
	nc_belady_read(&p, &second);
	assert_int_equal(p.figures.astray, 1);
	nc_belady_destroy(&p);
}

/* A read of a part of a block that no visit reads is no visit. */
static void other_part(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_piece outside = { .first = 4, .last = 7, .whole = true };

	(void)unused;
	add(&p, 0, 3);
	add(&p, 8, 15);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	nc_belady_read(&p, &outside);
	assert_int_equal(p.figures.position, 0);
	assert_int_equal(p.figures.astray, 1);
	nc_belady_destroy(&p);
}

/* Samples of an eighth of a block, shuffled within chunks of four blocks.  Two readers take samples
 * in turn, and the second one may be first: nearly each read is a visit.
 */
static void samples_out_of_order(void **unused)
{
	struct nc_belady p = { .subs = 64 };
	struct nc_belady_piece piece = { .whole = true };
	static u32 order[32 * 64];
	u32 count = sizeof(order) / sizeof(*order), i, k, random = 7;

	(void)unused;
	for (i = 0; i < count; i++) {
		order[i] = i;
		random = random * 1664525 + 1013904223;
		k = i / 32 * 32 + (random >> 16) % (i % 32 + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (i = 0; i < count; i++)
		add(&p, order[i] * 8, order[i] * 8 + 7);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	for (i = 0; i < count; i++) {
		k = order[i ^ (i / 2 % 2)];
		piece.block = k / 8;
		piece.first = k % 8 * 8;
		piece.last = piece.first + 7;
		nc_belady_read(&p, &piece);
		assert_false(nc_belady_astray(&p));
	}
	assert_true(nc_belady_over(&p));
	assert_int_equal(p.figures.skipped, 0);
	assert_int_equal(p.figures.hits + p.figures.misses, p.figures.visits);
	/* Two samples that follow each other are one visit, which another read may interrupt. */
	assert_true(p.figures.astray * 100 <= p.figures.visits);
	nc_belady_destroy(&p);
}

/* Blocks 0 to 9 in order, twice. */
static void ahead(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_piece piece;
	u32 at = 0;

	(void)unused;
	add(&p, 0, 77);
	add(&p, 0, 79);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	/* Block 0 was read and is cached, block 1 is cached. */
	nc_belady_took(&p, 0, true);
	nc_belady_read(&p, &(struct nc_belady_piece) { .last = 7, .whole = true });
	nc_belady_took(&p, 1, true);
	assert_int_equal(nc_belady_ahead(&p, &at, 2, ALL, false, &piece), NC_BELADY_NONE);
	assert_int_equal(at, 2);
	assert_int_equal(nc_belady_ahead(&p, &at, 10, ALL, false, &piece), 2);
	assert_int_equal(at, 3);
	assert_int_equal(piece.block, 2);
	assert_int_equal(piece.first, 0);
	assert_int_equal(piece.last, 7);
	at = 9;
	assert_int_equal(nc_belady_ahead(&p, &at, 20, ALL, false, &piece), 9);
	assert_int_equal(piece.block, 9);
	assert_int_equal(piece.last, 5);
	/* Later visits of the same blocks come after the first ones. */
	assert_int_equal(nc_belady_ahead(&p, &at, 20, ALL, false, &piece), NC_BELADY_NONE);
	assert_int_equal(at, 20);
	/* In a full cache, block 2 takes the slot of block 0, which is read in visit 10. */
	at = 2;
	assert_int_equal(nc_belady_ahead(&p, &at, 20, ALL, true, &piece), 2);
	/* Without block 0, only the slot of block 1 is left, which is needed earlier. */
	nc_belady_gone(&p, 0);
	assert_int_equal(nc_belady_ahead(&p, &at, 20, ALL, true, &piece), NC_BELADY_NONE);
	assert_int_equal(at, 3);
	/* MIN has the blocks cached: those from @near on wait until they are near. */
	at = 2;
	assert_int_equal(nc_belady_ahead(&p, &at, 9, 5, false, &piece), 2);
	assert_int_equal(nc_belady_ahead(&p, &at, 9, 3, false, &piece), NC_BELADY_NONE);
	assert_int_equal(at, 9);
	/* Visit 6 misses under MIN. */
	p.absent[0] |= 1UL << 6;
	at = 3;
	assert_int_equal(nc_belady_ahead(&p, &at, 9, 3, false, &piece), 6);
	/* Nothing behind the end. */
	at = 20;
	assert_int_equal(nc_belady_ahead(&p, &at, 100, ALL, false, &piece), NC_BELADY_NONE);
	assert_int_equal(at, 20);
	nc_belady_destroy(&p);
}

/* Make @plan, which is not built yet, continue @old; returns the bitmap for caught_up(). */
static u64 *joined(struct nc_belady *plan, const struct nc_belady *old)
{
	u64 *left = calloc(nc_belady_words(old), sizeof(*left));
	u32 count = nc_belady_left(old, left);

	assert_int_equal(nc_belady_prepend(plan, old, left, count), 0);
	assert_int_equal(nc_belady_build(plan, 1, 16), 0);
	return left;
}

/* Pass over the old plan once. */
static void caught_up(struct nc_belady *plan, const struct nc_belady *old, const u64 *left,
		      struct nc_belady_figures *seen)
{
	struct nc_belady_join join = { .seen = *seen };

	while (nc_belady_catch_up(plan, old, left, &join))
		;
	*seen = join.seen;
}

static void read_whole(struct nc_belady *plan, u64 block)
{
	nc_belady_read(plan, &(struct nc_belady_piece) {
		.block = block, .last = 7, .whole = true, .hit = true });
}

/* Blocks 0 to 299 twice, then 0 to 299 again in an appended plan.  Readers go on while the new plan
 * is built, and after the first pass over the old one.
 */
static void appended(void **unused)
{
	struct nc_belady old = { .subs = 8 }, new = { .subs = 8 };
	struct nc_belady_figures seen = { };
	u32 i;
	u64 *left;

	(void)unused;
	add(&old, 0, 8 * 300 - 1);
	add(&old, 0, 8 * 300 - 1);
	add(&new, 0, 8 * 300 - 1);
	assert_int_equal(nc_belady_build(&old, 1, 16), 0);
	/* Visits 0 to 99 and 110 to 119 are made, 120 in part. */
	for (i = 0; i < 120; i++)
		if (i < 100 || i >= 110)
			read_whole(&old, i);
	nc_belady_read(&old, &(struct nc_belady_piece) { .block = 120, .last = 3, .whole = true });
	left = joined(&new, &old);
	assert_int_equal(new.figures.visits, 600 - 110 + 300);
	assert_int_equal(new.figures.blocks, 300);
	/* While the new plan is built, readers go on in another order. */
	for (i = 109; i >= 100; i--)
		read_whole(&old, i);
	read_whole(&old, 121);
	caught_up(&new, &old, left, &seen);
	assert_int_equal(new.figures.position, 12);
	assert_int_equal(new.figures.hits, 121);
	assert_int_equal(new.figures.misses, 1);
	read_whole(&old, 122);
	caught_up(&new, &old, left, &seen);
	assert_int_equal(new.figures.position, 13);
	/* The rest of the open visit is part of it. */
	nc_belady_read(&new, &(struct nc_belady_piece) { .block = 120, .first = 4, .last = 7,
							 .whole = true, .hit = true });
	for (i = 123; i < 900; i++)
		read_whole(&new, i % 300);
	assert_true(nc_belady_over(&new));
	assert_int_equal(new.figures.hits, 899);
	assert_int_equal(new.figures.misses, 1);
	assert_int_equal(new.figures.astray + new.figures.skipped, 0);
	free(left);
	nc_belady_destroy(&old);
	nc_belady_destroy(&new);
}

/* If all visits of a plan were made or skipped, a plan that continues it has only its own visits;
 * both together may be too long.
 */
static void appended_at_the_end(void **unused)
{
	struct nc_belady old = { .subs = 8 }, new = { .subs = 8 };
	u64 left[6] = { };
	u32 i;

	(void)unused;
	add(&old, 0, 8 * 320 - 1);
	assert_int_equal(nc_belady_build(&old, 1, 16), 0);
	assert_int_equal(nc_belady_left(&old, left), 320);
	for (i = 1; i < 320; i++)
		read_whole(&old, i);
	memset(left, 0, sizeof(left));
	assert_int_equal(old.figures.skipped, 1);
	assert_int_equal(nc_belady_left(&old, left), 0);
	add(&new, 0, 7);
	assert_int_equal(nc_belady_prepend(&new, &old, left, NC_BELADY_VISITS_MAX), -E2BIG);
	assert_int_equal(nc_belady_prepend(&new, &old, left, 0), 0);
	assert_int_equal(new.figures.visits, 1);
	nc_belady_destroy(&old);
	nc_belady_destroy(&new);
}

/* Build a plan of @visits visits of @blocks blocks in turn.  Its memory is bounded, also in the
 * hand-over, and it is the memory that the plan reports.
 */
static void bounded(u32 visits, u32 blocks)
{
	struct nc_belady p = { .subs = 1 };
	size_t before = unit_memory, most;
	u32 i;

	unit_memory_most = before;
	for (i = 0; i < visits; i++)
		add(&p, (u64)(i % blocks) * 1024, (u64)(i % blocks) * 1024);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	most = unit_memory_most - before;
	printf("# %u visits of %u blocks: %.1f bytes per visit, in the hand-over %.1f\n", visits, blocks,
	       (double)p.figures.memory / visits, (double)most / visits);
	assert_int_equal(p.figures.blocks, blocks);
	assert_true(p.figures.memory <= 24ULL * visits);
	assert_true(most <= 24ULL * visits + 4096);
	assert_in_range(unit_memory - before, p.figures.memory, p.figures.memory + 4096);
	nc_belady_destroy(&p);
	assert_int_equal(unit_memory, before);
}

/* Several visits read parts of a block: each part is brought, cached or not, and does not wait for the
 * visits before.  A visit waits for an earlier visit of its block if MIN evicts the block between.
 */
static void ahead_of_parts(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_piece piece;
	u32 at = 0;

	(void)unused;
	add(&p, 0, 2);
	add(&p, 8, 15);
	add(&p, 3, 5);
	add(&p, 8, 15);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	assert_int_equal(nc_belady_ahead(&p, &at, 4, ALL, false, &piece), 0);
	nc_belady_took(&p, 0, true);
	assert_int_equal(nc_belady_ahead(&p, &at, 4, ALL, false, &piece), 1);
	nc_belady_took(&p, 1, true);
	assert_int_equal(nc_belady_ahead(&p, &at, 4, ALL, false, &piece), 2);
	assert_int_equal(piece.block, 0);
	assert_int_equal(piece.first, 3);
	assert_int_equal(piece.last, 5);
	/* Whole block 1 is cached, and stays for visit 3. */
	assert_int_equal(nc_belady_ahead(&p, &at, 4, ALL, false, &piece), NC_BELADY_NONE);
	assert_int_equal(at, 4);
	/* Visit 2 is the next one of its block now: its part is still missing. */
	nc_belady_read(&p, &(struct nc_belady_piece) { .last = 2, .whole = true });
	at = 2;
	assert_int_equal(nc_belady_ahead(&p, &at, 4, ALL, false, &piece), 2);
	at = 3;
	p.absent[0] |= 1UL << 3;
	assert_int_equal(nc_belady_ahead(&p, &at, 4, ALL, false, &piece), NC_BELADY_NONE);
	assert_int_equal(at, 3);
	nc_belady_destroy(&p);
}

/* The slot of a block is spare only when its visit is over: the reader needs its other parts. */
static void spare_after_all_parts(void **unused)
{
	struct nc_belady p = { .subs = 8 };
	struct nc_belady_piece part = { .first = 7, .last = 7, .whole = true };

	(void)unused;
	add(&p, 0, 7);
	add(&p, 8, 15);
	add(&p, 0, 7);
	assert_int_equal(nc_belady_build(&p, 1, 16), 0);
	p.absent[0] |= 1UL << 2;
	nc_belady_took(&p, 0, true);
	nc_belady_read(&p, &part);
	assert_int_equal(p.spares, 0);
	part = (struct nc_belady_piece) { .last = 3, .whole = true };
	nc_belady_read(&p, &part);
	assert_int_equal(p.spares, 0);
	part = (struct nc_belady_piece) { .first = 4, .last = 7, .whole = true };
	nc_belady_read(&p, &part);
	assert_int_equal(p.spares, 1);
	/* It is brought for its next visit. */
	nc_belady_took(&p, 0, true);
	assert_int_equal(p.spares, 0);
	nc_belady_destroy(&p);
}

/* Check the bound given in belady.h: a plan that reads each block once needs the most. */
static void memory_is_bounded(void **unused)
{
	static const u32 visits[] = { 1024, 1025, 4112, 16384, 16385, 131088, 262144, 1 << 20 };
	u32 i;

	(void)unused;
	for (i = 0; i < sizeof(visits) / sizeof(*visits); i++) {
		bounded(visits[i], visits[i]);
		bounded(visits[i], visits[i] / 2 + 1);
		bounded(visits[i], visits[i] / 2);
		bounded(visits[i], visits[i] / 10);
	}
	bounded(NC_BELADY_VISITS_MAX, NC_BELADY_VISITS_MAX);
}

/* Make a plan whose allocation @allowed, from 0, fails (-1: none fails).  Return the error. */
static int made(struct nc_belady *p, int allowed)
{
	u32 i;
	int r = 0;

	memset(p, 0, sizeof(*p));
	p->subs = 8;
	unit_allocations = allowed;
	for (i = 0; i < 3000 && !r; i++)
		r = nc_belady_append(p, i % 1000 * 16, i % 1000 * 16 + 7);
	if (!r)
		r = nc_belady_build(p, 1, 16);
	return r;
}

/* Fail each allocation in turn: the caller gets -ENOMEM, can free the plan, and can try again. */
static void without_memory(void **unused)
{
	struct nc_belady p;
	int n, r;

	(void)unused;
	for (n = 0; (r = made(&p, n)); n++) {
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(unit_allocations, -1);
		nc_belady_destroy(&p);
		assert_int_equal(made(&p, -1), 0);
		assert_int_equal(p.figures.blocks, 1000);
		nc_belady_destroy(&p);
	}
	unit_allocations = -1;
	nc_belady_destroy(&p);
	printf("# allocations per plan: %d\n", n);
	/* 3 arrays grow 3 times and shrink once; 2 tables of blocks take 2 each; then next links,
	 * done bits, absent and spare blocks, open visits and tree.
	 */
	assert_int_equal(n, 3 * 4 + 2 * 2 + 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(visits),
		cmocka_unit_test(left_again),
		cmocka_unit_test(parts),
		cmocka_unit_test(read_before_stream),
		cmocka_unit_test(exchanged_before_stream),
		cmocka_unit_test(samples_at_once),
		cmocka_unit_test(end_first),
		cmocka_unit_test(shared_block),
		cmocka_unit_test(other_part),
		cmocka_unit_test(samples_out_of_order),
		cmocka_unit_test(ahead),
		cmocka_unit_test(ahead_of_parts),
		cmocka_unit_test(spare_after_all_parts),
		cmocka_unit_test(appended),
		cmocka_unit_test(appended_at_the_end),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(without_memory),
	};

	return RUN(tests);
}
