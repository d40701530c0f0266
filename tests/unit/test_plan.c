// SPDX-License-Identifier: GPL-2.0-only
/* Plan mode (kmod/evict/belady.c) gets nearly as many hits as Belady's MIN (of the actual reads) in
 * patterns where MIN beats never evicting.  It finds the new position of readers that jump.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/bitmap.h>
#include <linux/slab.h>

#include "helper/unit.h"
#include "evict/belady.h"

#define BLOCKS	1000U
#define EPOCHS	6U
#define READS_MAX	(2 * EPOCHS * BLOCKS)
#define SUBS	64U
#define SEEDS	3U
#define NEAR	0.99
/* Simulated processors, each with its own notes. */
#define CPUS	4U
#define NOTES	128U

static const double fractions[] = { 0.1, 0.25, 0.5, 0.75 };

#define for_each_fraction(f) \
	for (f = fractions; f < fractions + sizeof(fractions) / sizeof(*fractions); f++)

/**
 * struct reads - a sequence of reads
 * @block: block numbers in order
 * @count: entries in @block
 */
struct reads {
	u32 block[READS_MAX];
	u32 count;
};

static u64 state;
/* Are reads reported to the plan late and out of order? */
static bool late;

static u32 chance(u32 below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

static void shuffle(u32 *order, u32 count)
{
	u32 i, j, other;

	for (i = count; i-- > 1;) {
		j = chance(i + 1);
		other = order[j];
		order[j] = order[i];
		order[i] = other;
	}
}

/* Add reads of @part different blocks in random order. */
static void add_epoch(struct reads *reads, u32 part)
{
	u32 order[BLOCKS], i;

	for (i = 0; i < BLOCKS; i++)
		order[i] = i;
	shuffle(order, BLOCKS);
	memcpy(reads->block + reads->count, order, part * sizeof(*order));
	reads->count += part;
}

static void reshuffled(struct reads *reads)
{
	u32 n;

	for (n = 0; n < EPOCHS; n++)
		add_epoch(reads, BLOCKS);
}

static void same_order(struct reads *reads)
{
	for (; reads->count < EPOCHS * BLOCKS; reads->count++)
		reads->block[reads->count] = reads->count % BLOCKS;
}

static void random_half(struct reads *reads)
{
	u32 n;

	for (n = 0; n < 2 * EPOCHS; n++)
		add_epoch(reads, BLOCKS / 2);
}

/* Interleave two jobs at random; the first job is a third of an epoch ahead. */
static void two_jobs(struct reads *reads)
{
	static struct reads a, b;
	u32 at[2] = { 0, 0 };

	a.count = 0;
	b.count = 0;
	reshuffled(&a);
	reshuffled(&b);
	while (at[0] < a.count || at[1] < b.count) {
		bool first = at[0] < BLOCKS / 3 || at[1] == b.count ||
			     (at[0] < a.count && chance(2));

		reads->block[reads->count++] = first ? a.block[at[0]++] : b.block[at[1]++];
	}
}

/* Per epoch: 10 % of the blocks 4 times, 30 % twice, a random half of the other 60 % once. */
static void mixture(struct reads *reads)
{
	static u32 order[2 * BLOCKS];
	u32 n, i, times, count;

	for (n = 0; n < EPOCHS; n++) {
		for (count = 0, i = 0; i < BLOCKS; i++) {
			times = i < BLOCKS / 10 ? 4 : i < BLOCKS * 4 / 10 ? 2 : chance(2);
			for (; times; times--)
				order[count++] = i;
		}
		shuffle(order, count);
		memcpy(reads->block + reads->count, order, count * sizeof(*order));
		reads->count += count;
	}
}

/* Reorder the reads of @plan; each is delayed by at most @depth reads. */
static void disorder(const struct reads *plan, u32 depth, struct reads *reads)
{
	static u32 waiting[64];
	u32 n = 0, i, at = 0;

	reads->count = 0;
	while (n || at < plan->count) {
		while (n < depth && at < plan->count)
			waiting[n++] = at++;
		i = reads->count >= waiting[0] + depth ? 0 : chance(n);
		reads->block[reads->count++] = plan->block[waiting[i]];
		n--;
		memmove(waiting + i, waiting + i + 1, (n - i) * sizeof(*waiting));
	}
}

/* Return the hits of MIN with @slots slots in @reads, from the read @from on. */
static u32 min_hits_from(const struct reads *reads, u32 slots, u32 from)
{
	static u32 next[READS_MAX], when[BLOCKS];
	static bool cached[BLOCKS];
	u32 i, used = 0, hits = 0, b, far, far_b = 0;

	memset(when, 0xff, sizeof(when));
	memset(cached, 0, sizeof(cached));
	for (i = reads->count; i-- > 0;) {
		next[i] = when[reads->block[i]];
		when[reads->block[i]] = i;
	}
	for (i = 0; i < reads->count; i++) {
		u32 block = reads->block[i];

		hits += cached[block] && i >= from;
		when[block] = next[i];
		if (cached[block] || used++ < slots) {
			cached[block] = true;
			continue;
		}
		for (far = 0, b = 0; b < BLOCKS; b++)
			if ((cached[b] || b == block) && when[b] >= far) {
				far = when[b];
				far_b = b;
			}
		cached[block] = true;
		cached[far_b] = false;
	}
	return hits;
}

/* Return the hits of MIN with @slots slots in the second half of @reads. */
static u32 min_hits(const struct reads *reads, u32 slots)
{
	return min_hits_from(reads, slots, reads->count / 2);
}

/**
 * struct cache - a cache whose fills and evictions follow a plan
 * @plan: the plan
 * @low: argument @low of the nc_belady functions: low-water mark of a cache that has no plan
 * @left: number of free slots
 * @late: reads since free slots fell below the plan's low-water mark
 * @has: whether each block is cached
 * @hits: hits of all reads
 * @note: reads that the plan has not seen yet, by processor
 * @notes: entries of each processor in @note
 * @noted: entries of all processors in @note
 */
struct cache {
	struct nc_belady plan;
	u32 low;
	u32 left;
	u32 late;
	bool has[BLOCKS];
	u32 hits;
	struct nc_belady_piece note[CPUS][NOTES];
	u32 notes[CPUS];
	u32 noted;
};

static struct cache *cache_of(u32 slots, const struct reads *reads)
{
	struct cache *c = calloc(1, sizeof(*c));
	u32 i;

	assert_non_null(c);
	c->plan.subs = SUBS;
	c->left = slots;
	c->low = slots > 64 ? slots / 64 : 1;
	for (i = 0; i < reads->count; i++)
		assert_int_equal(nc_belady_append(&c->plan, (u64)reads->block[i] * SUBS,
						  (u64)reads->block[i] * SUBS + SUBS - 1), 0);
	assert_int_equal(nc_belady_build(&c->plan, 12345, slots), 0);
	return c;
}

static void cache_free(struct cache *c)
{
	nc_belady_destroy(&c->plan);
	free(c);
}

/* Apply the notes of one processor after the other, so in another order than that of the reads. */
static void apply_notes(struct cache *c)
{
	u32 cpu, i;

	for (cpu = 0; cpu < CPUS; cpu++) {
		for (i = 0; i < c->notes[cpu]; i++)
			nc_belady_read(&c->plan, &c->note[cpu][i]);
		c->notes[cpu] = 0;
	}
	c->noted = 0;
}

/* Play the reclaim worker: two reads after free slots became too few, evict blocks. */
static void make_room(struct cache *c)
{
	u32 end = NC_BELADY_NONE;
	u64 block;

	if (c->left >= nc_belady_low(c->low) || c->late++ < 2)
		return;
	c->late = 0;
	apply_notes(c);
	while (c->left < nc_belady_enough(c->low) && nc_belady_farthest(&c->plan, &end, &block)) {
		assert_true(c->has[block]);
		c->has[block] = false;
		c->left++;
	}
}

/* Make the plan search for the readers.  The plan forgets cached blocks, so report them again. */
static void seek(struct cache *c)
{
	u32 block;

	nc_belady_seek(&c->plan);
	for (block = 0; block < BLOCKS; block++)
		if (c->has[block])
			nc_belady_took(&c->plan, block, false);
}

/* Read a block in two halves, in random order.  Return true on a hit. */
static bool cache_read(struct cache *c, u32 block)
{
	struct nc_belady_piece piece = { .block = block, .whole = true };
	bool hit = c->has[block], lower = chance(2);
	u32 part, cpu = late ? chance(CPUS) : 0;

	if (!hit && c->noted >= c->plan.fresh)
		apply_notes(c);
	if (!hit && c->left && nc_belady_admits(&c->plan, block, c->left, c->low, false)) {
		nc_belady_took(&c->plan, block, true);
		c->has[block] = true;
		c->left--;
	}
	for (part = 0; part < 2; part++) {
		piece.first = (part ^ lower) ? 0 : SUBS / 2;
		piece.last = piece.first + SUBS / 2 - 1;
		piece.hit = part ? c->has[block] : hit;
		assert_true(c->notes[cpu] < NOTES);
		c->note[cpu][c->notes[cpu]++] = piece;
	}
	c->noted += 2;
	if (!late || c->noted >= c->plan.late)
		apply_notes(c);
	make_room(c);
	c->hits += hit;
	if (nc_belady_astray(&c->plan))
		seek(c);
	return hit;
}

/* Read @reads with plan @plan; return the hits in the second half of the reads. */
static u32 plan_hits(const struct reads *plan, const struct reads *reads, u32 slots)
{
	struct cache *c = cache_of(slots, plan);
	u32 i, hits = 0;

	for (i = 0; i < reads->count; i++)
		hits += cache_read(c, reads->block[i]) && i >= reads->count / 2;
	apply_notes(c);
	assert_true(nc_belady_over(&c->plan));
	assert_int_equal(c->plan.figures.hits, c->hits);
	assert_int_equal(c->plan.figures.hits + c->plan.figures.misses, reads->count);
	assert_int_equal(c->plan.figures.astray + c->plan.figures.skipped, 0);
	assert_false(c->plan.lost);
	cache_free(c);
	return hits;
}

/* Compare with MIN on the slots that reclaim does not keep free.  Only print MIN on all slots. */
static void compare(const char *name, void (*pattern)(struct reads *reads))
{
	static struct reads plan, reads;
	const double *f;
	u64 seed;

	for_each_fraction(f) {
		for (seed = 1; seed <= SEEDS; seed++) {
			u32 slots = *f * BLOCKS, hits, best, all;

			state = seed;
			plan.count = 0;
			pattern(&plan);
			disorder(&plan, seed == 1 ? 1 : 64, &reads);
			hits = plan_hits(&plan, &reads, slots);
			best = min_hits(&reads, slots - nc_belady_enough(slots / 64));
			all = min_hits(&reads, slots);
			printf("# %s, f %.2f, out of order by %2u: hits %.3f, MIN %.3f and %.3f\n",
			       name, *f, seed == 1 ? 1 : 64, 2. * hits / reads.count,
			       2. * best / reads.count, 2. * all / reads.count);
			assert_true(hits >= NEAR * best);
		}
	}
}

static void compare_all(void)
{
	compare("reshuffled", reshuffled);
	compare("same order", same_order);
	compare("random half", random_half);
	compare("two jobs", two_jobs);
	compare("mixture", mixture);
}

static void as_min(void **unused)
{
	(void)unused;
	compare_all();
}

/* The same if the plan learns of reads late, as from notes of several processors. */
static void as_min_from_notes(void **unused)
{
	(void)unused;
	late = true;
	compare_all();
	late = false;
}

/* In a short plan, readers and late reports deviate as far as the plan tolerates. */
static void late_in_short_plan(void **unused)
{
	static struct reads plan, reads;
	u64 seed;

	(void)unused;
	late = true;
	for (seed = 1; seed <= SEEDS; seed++) {
		state = seed;
		plan.count = 0;
		add_epoch(&plan, BLOCKS);
		add_epoch(&plan, BLOCKS / 2);
		disorder(&plan, 64, &reads);
		plan_hits(&plan, &reads, BLOCKS * 3 / 4);
	}
	late = false;
}

static struct reads plan;

/* Make a plan of several epochs, and a cache for half of the blocks. */
static struct cache *planned(void (*pattern)(struct reads *reads))
{
	state = 7;
	plan.count = 0;
	pattern(&plan);
	return cache_of(BLOCKS / 2, &plan);
}

/* Read positions @from to @end of the plan; return the hits. */
static u32 follow(struct cache *c, u32 from, u32 end)
{
	u32 hits = 0;

	for (; from < end; from++)
		hits += cache_read(c, plan.block[from]);
	return hits;
}

/* Goal for readers that jump to @begun: the hits from @from on if the plan began at @begun. */
static u32 foretold(u32 begun, u32 from)
{
	static struct reads whole;
	struct cache *c;
	u32 hits;

	whole = plan;
	plan.count -= begun;
	memmove(plan.block, plan.block + begun, plan.count * sizeof(*plan.block));
	c = cache_of(BLOCKS / 2, &plan);
	follow(c, 0, from - begun);
	hits = follow(c, from - begun, plan.count);
	cache_free(c);
	plan = whole;
	return hits;
}

/* Readers restart the epoch, as after a crash.  After BLOCKS / 8 reads the plan has found their
 * position, and from there on they get as many hits as foretold() predicts.
 */
static void restarted(void **unused)
{
	struct cache *c = planned(random_half);
	u32 begun = 4 * BLOCKS / 2, from = begun + BLOCKS / 8, hits, all;

	(void)unused;
	follow(c, 0, begun + BLOCKS / 4);
	follow(c, begun, from);
	assert_int_equal(c->plan.figures.sought, 1);
	assert_in_range(c->plan.figures.position, from - 2 * c->plan.lag, from);
	hits = follow(c, from, plan.count);
	all = foretold(begun, from);
	printf("# after the restart of an epoch: %u hits, predicted %u\n", hits, all);
	assert_true(hits >= NEAR * all);
	assert_true(nc_belady_over(&c->plan));
	assert_false(c->plan.lost);
	cache_free(c);
}

/* Readers jump ahead to a checkpoint.  The plan finds their position; hits are near foretold(). */
static void resumed(void **unused)
{
	struct cache *c = planned(random_half);
	u32 at = 6 * BLOCKS / 2 + BLOCKS / 3, from = at + BLOCKS / 4, hits, all;

	(void)unused;
	follow(c, 0, BLOCKS / 8);
	follow(c, at, from);
	assert_int_equal(c->plan.figures.sought, 1);
	hits = follow(c, from, plan.count);
	all = foretold(at, from);
	printf("# after a jump: %u hits, predicted %u\n", hits, all);
	assert_true(hits >= NEAR * all);
	assert_true(nc_belady_over(&c->plan));
	cache_free(c);
}

/* Readers leave out each tenth visit.  The plan skips this visit when readers are well past it. */
static void left_out(void **unused)
{
	struct cache *c = planned(same_order);
	u32 i;

	(void)unused;
	for (i = 0; i < plan.count; i++)
		if (i % 10)
			cache_read(c, plan.block[i]);
	assert_in_range(c->plan.figures.skipped, plan.count / 10 - c->plan.lag / 10 - 1,
			plan.count / 10);
	assert_int_equal(c->plan.figures.astray, 0);
	assert_int_equal(c->plan.figures.sought, 0);
	cache_free(c);
}

/* Blocks outside the plan get no slot.  If nearly all reads are of such blocks, @lost is set. */
static void others(void **unused)
{
	struct nc_belady_piece piece = { .block = BLOCKS, .last = SUBS - 1, .whole = true };
	struct cache *c = planned(same_order);
	u32 i, n;

	(void)unused;
	follow(c, 0, BLOCKS);
	for (i = 0; i < 4 * BLOCKS; i++) {
		for (n = 0; n < 4; n++, piece.block++) {
			assert_false(nc_belady_admits(&c->plan, piece.block, c->left, c->low, true));
			nc_belady_read(&c->plan, &piece);
		}
		cache_read(c, plan.block[BLOCKS + i]);
	}
	assert_int_equal(c->plan.figures.astray, 16 * BLOCKS);
	assert_false(c->plan.lost);
	for (i = 0; i < 2 * 1024; i++, piece.block++)
		nc_belady_read(&c->plan, &piece);
	assert_true(c->plan.lost);
	cache_free(c);
}

/*
 * nc_belady_admits() for planned blocks 0 to 7 in turn; the next read of each comes after those of
 * the blocks cached before.  If the cache has blocks outside the plan (true), all are admitted:
 * reclaim will evict a block outside the plan.  If not (false), only block 0 is admitted, into an
 * empty cache: a later block would be the next victim.
 */
static void full_of_others(void **unused)
{
	struct cache *c = planned(same_order);
	u32 low = c->low, left = nc_belady_enough(low), i;

	(void)unused;
	for (i = 0; i < 8; i++) {
		assert_true(nc_belady_admits(&c->plan, plan.block[i], left, low, true));
		assert_int_equal(nc_belady_admits(&c->plan, plan.block[i], left, low, false), !i);
		nc_belady_took(&c->plan, plan.block[i], true);
		cache_read(c, plan.block[i]);
	}
	assert_false(nc_belady_admits(&c->plan, plan.block[8], 0, low, true));
	cache_free(c);
}

static const bool never;

/* The schedule has the misses of MIN. */
static void schedule_is_min(void (*pattern)(struct reads *reads))
{
	static struct reads plan;
	const double *f;
	struct cache *c;
	u32 slots, v, missing;

	for_each_fraction(f) {
		slots = *f * BLOCKS;
		state = 3;
		plan.count = 0;
		pattern(&plan);
		c = cache_of(slots, &plan);
		slots -= nc_belady_enough(slots / 64) < slots / 4 ? nc_belady_enough(slots / 64) :
								    slots / 4;
		assert_int_equal(nc_belady_schedule(&c->plan, slots, &never), 0);
		for (v = 0, missing = 0; v < plan.count; v++)
			missing += test_bit(v, c->plan.absent);
		assert_int_equal(plan.count - missing, min_hits_from(&plan, slots, 0));
		cache_free(c);
	}
}

static void scheduled(void **unused)
{
	(void)unused;
	schedule_is_min(reshuffled);
	schedule_is_min(same_order);
	schedule_is_min(random_half);
	schedule_is_min(two_jobs);
	schedule_is_min(mixture);
}

/* Without memory, the schedule is unchanged: here no visit is absent. */
static void unscheduled(void **unused)
{
	static struct reads plan;
	struct cache *c;
	u32 v, missing = 0;

	(void)unused;
	plan.count = 0;
	reshuffled(&plan);
	c = cache_of(BLOCKS / 2, &plan);
	unit_allocations = 0;
	assert_int_equal(nc_belady_schedule(&c->plan, BLOCKS / 2, &never), -ENOMEM);
	unit_allocations = -1;
	for (v = 0; v < plan.count; v++)
		missing += test_bit(v, c->plan.absent);
	assert_int_equal(missing, 0);
	cache_free(c);
}

/* Read a reshuffled plan while a stream brings absent blocks into all spare slots.  Hardly a read
 * misses; the stream brings as much as MIN, in each half of an epoch alike.
 */
static void streamed(void **unused)
{
	static struct reads plan;
	struct nc_belady_piece piece;
	u32 slots = BLOCKS / 2, enough = nc_belady_enough(slots / 64);
	u32 i, at = 0, end, halves[2] = { }, all = 0, missed = 0;
	struct cache *c;
	u64 block;

	(void)unused;
	state = 5;
	plan.count = 0;
	reshuffled(&plan);
	c = cache_of(slots, &plan);
	assert_int_equal(nc_belady_schedule(&c->plan, slots - enough, &never), 0);
	for (i = 0; i < plan.count; i++) {
		while (c->left > enough || c->plan.spares) {
			if (nc_belady_ahead(&c->plan, &at, plan.count, i + 64, c->left <= enough,
					    &piece) == NC_BELADY_NONE)
				break;
			if (c->left <= enough) {
				end = NC_BELADY_NONE;
				assert_true(nc_belady_farthest(&c->plan, &end, &block));
				c->has[block] = false;
				c->left++;
			}
			nc_belady_took(&c->plan, piece.block, true);
			c->has[piece.block] = true;
			c->left--;
			if (i >= BLOCKS && i < (EPOCHS - 1) * BLOCKS)
				halves[i / (BLOCKS / 2) % 2]++;
			all++;
		}
		missed += !c->has[plan.block[i]];
		cache_read(c, plan.block[i]);
	}
	slots -= enough;
	i = plan.count - min_hits_from(&plan, slots, 0);
	printf("# streamed %u, MIN %u; in halves of epochs %u and %u; %u missed\n", all, i, halves[0],
	       halves[1], missed);
	assert_true(missed <= 8);
	assert_true(all <= i + i / 100);
	assert_true(halves[0] >= halves[1] * 9 / 10 && halves[1] >= halves[0] * 9 / 10);
	cache_free(c);
}

/* This test reports each victim as cached again, as if it could not be evicted.  The search must
 * still go on: it finds each cached block once, the block with the farthest next read first.
 */
static void in_turn(void **unused)
{
	static struct reads plan;
	u32 found, end, when, i, last, at[BLOCKS];
	u64 block, seed;
	struct cache *c;

	(void)unused;
	for (seed = 1; seed <= SEEDS; seed++) {
		state = seed;
		plan.count = 0;
		end = NC_BELADY_NONE;
		reshuffled(&plan);
		c = cache_of(BLOCKS, &plan);
		for (i = plan.count; i-- > 0;)
			at[plan.block[i]] = i;
		for (i = 0; i < BLOCKS; i++) {
			c->has[i] = !chance(3);
			c->hits += c->has[i];
			if (c->has[i])
				nc_belady_took(&c->plan, i, false);
		}
		last = NC_BELADY_NONE;
		for (found = 0; nc_belady_farthest(&c->plan, &end, &block); found++) {
			when = at[block];
			assert_true(c->has[block] && when < last);
			assert_false(nc_belady_holds(&c->plan, block));
			nc_belady_took(&c->plan, block, false);
			last = when;
		}
		assert_int_equal(found, c->hits);
		for (i = 0; i < BLOCKS; i++)
			assert_true(nc_belady_holds(&c->plan, i) == c->has[i]);
		cache_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_min),
		cmocka_unit_test(as_min_from_notes),
		cmocka_unit_test(late_in_short_plan),
		cmocka_unit_test(in_turn),
		cmocka_unit_test(restarted),
		cmocka_unit_test(resumed),
		cmocka_unit_test(left_out),
		cmocka_unit_test(others),
		cmocka_unit_test(full_of_others),
		cmocka_unit_test(scheduled),
		cmocka_unit_test(unscheduled),
		cmocka_unit_test(streamed),
	};

	return RUN(tests);
}
