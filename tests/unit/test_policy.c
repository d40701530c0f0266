// SPDX-License-Identifier: GPL-2.0-only
/* The default eviction policy (kmod/evict/default_policy.c) under the access patterns of training.
 * If each block is read once per epoch, no policy that fills on demand gets a hit rate above the
 * bound f = cache size / dataset size.  A cache that never evicts reaches f.  The default policy
 * must reach it as well, also for a new dataset.
 */
#include <stdlib.h>

#include "helper/unit.h"
#include "policy_sim.h"
#include "policy_trace.h"

#define BLOCKS	4000U		/* of one dataset */
#define ORIGIN	(20 * BLOCKS)	/* far larger than the dataset */
#define SEEDS	3U
#define NEAR	0.98
/* HOT blocks, for file system metadata: a random one is read with each HOT_EVERY-th data read. */
#define HOT		16U
#define HOT_EVERY	8U

static const double fractions[] = { 0.1, 0.25, 0.5, 0.75 };

/**
 * struct run - a simulated cache and its reader
 * @s: cache
 * @t: generator of the reads
 * @f: bound of the hit rate
 * @hot: also read hot blocks, so fewer slots remain for data blocks
 */
struct run {
	struct sim *s;
	struct trace *t;
	double f;
	bool hot;
};

static struct run begin_on(u32 origin, double f, u32 subs, u64 seed, const char *what)
{
	struct run r = { .f = f };

	r.s = sim_new_subs(&nc_policy_keep, (u32)(f * BLOCKS), origin, subs, seed);
	r.t = trace_new(seed);
	printf("# f %.2f seed %llu %s, hits per epoch:", f, (unsigned long long)seed, what);
	return r;
}

static struct run begin(double f, u32 subs, u64 seed, const char *what)
{
	return begin_on(ORIGIN + HOT, f, subs, seed, what);
}

static void end(struct run *r)
{
	printf(", evictions %llu\n", (unsigned long long)r->s->evictions);
	sim_free(r->s);
	trace_free(r->t);
}

static void read_hot(struct run *r)
{
	sim_read(r->s, ORIGIN + trace_random(r->t, HOT));
}

/* Read each sub-block of @blocks blocks from @first on once; return the hit rate. */
static double epoch_of(struct run *r, u32 first, u32 blocks, enum order order)
{
	u32 i, hits = 0, subs = r->s->subs;

	r->t->count = 0;
	trace_epoch(r->t, first * subs, blocks * subs, order);
	for (i = 0; i < r->t->count; i++) {
		hits += sim_run(r->s, r->t->reads + i, 1);
		if (r->hot && !(i % HOT_EVERY))
			read_hot(r);
	}
	printf(" %.3f", (double)hits / r->t->count);
	return (double)hits / r->t->count;
}

static double epoch(struct run *r, u32 first, enum order order)
{
	return epoch_of(r, first, BLOCKS, order);
}

static bool is_near(const struct run *r, double hits)
{
	return hits >= NEAR * (r->f - (r->hot ? (double)HOT / BLOCKS : 0));
}

/* Read @epochs epochs; each must reach the bound, and no hot block may be evicted. */
static void steady_epochs(struct run *r, u32 first, enum order order, u32 epochs)
{
	u32 n, hot = sim_cached(r->s, ORIGIN, HOT);

	for (n = 0; n < epochs; n++)
		assert_true(is_near(r, epoch(r, first, order)));
	assert_true(sim_cached(r->s, ORIGIN, HOT) >= hot);
}

static void for_each_run(void (*test)(struct run *r, enum order order), u32 subs, bool hot,
			 const char *what)
{
	u32 i, order;
	u64 seed;

	for (i = 0; i < ARRAY_SIZE(fractions); i++) {
		for (order = SAME; order <= SHARDS; order++) {
			for (seed = 1; seed <= (subs > 1 ? 1 : SEEDS); seed++) {
				struct run r = begin(fractions[i], subs, seed, what);

				r.hot = hot;
				test(&r, order);
				end(&r);
			}
		}
	}
}

/* From the second epoch on the hit rate is at the bound, and nothing is evicted. */
static void steady(struct run *r, enum order order)
{
	epoch(r, 0, order);
	steady_epochs(r, 0, order, 7);
	assert_int_equal(r->s->evictions, 0);
}

static void is_steady(void **state)
{
	(void)state;
	for_each_run(steady, 1, false, "steady");
}

/* Short reuse distances of hot blocks must not make the data blocks look idle. */
static void hot_blocks(void **state)
{
	(void)state;
	for_each_run(steady, 1, true, "beside hot blocks");
}

/* A read fills a ninth of a block: later reads of a retained block must fill the rest. */
static void steady_samples(struct run *r, enum order order)
{
	epoch(r, 0, order);
	steady_epochs(r, 0, order, 5);
	assert_true(r->s->evictions <= r->s->slots / 10);
}

static void samples(void **state)
{
	(void)state;
	for_each_run(steady_samples, 9, false, "samples");
}

/* A job moves to another dataset of the same size: the bound is reached after three epochs. */
static void left(struct run *r, enum order order)
{
	epoch(r, 0, order);
	steady_epochs(r, 0, order, 4);
	printf(" |");
	epoch(r, BLOCKS, order);
	epoch(r, BLOCKS, order);
	epoch(r, BLOCKS, order);
	steady_epochs(r, BLOCKS, order, 5);
	assert_true(r->s->evictions <= 2 * r->s->slots);
}

static void dataset_is_left(void **state)
{
	(void)state;
	for_each_run(left, 1, false, "then another dataset");
	for_each_run(left, 1, true, "then another dataset, beside hot blocks");
	for_each_run(left, 9, false, "then another dataset, samples");
}

/* Return true if a small cache (@spare free slots) misses the bound in epoch 4 of a new dataset. */
static bool small_is_late(u32 spare, u64 seed)
{
	u32 slots = 90, blocks = 224, n;
	struct run r = { .s = sim_new_subs(&nc_policy_keep, slots, 2 * blocks, 2, seed),
			 .t = trace_new(seed), .f = (double)slots / blocks };
	bool late;

	printf("# seed %llu of a small cache, %u free, hits per epoch:", (unsigned long long)seed,
	       spare);
	for (n = 0; n < 3; n++)
		epoch_of(&r, 0, blocks, SHUFFLED);
	for (n = 0; n < spare; n++)
		sim_evict(r.s, n * (slots / spare));
	for (n = 0; n < 3; n++)
		epoch_of(&r, blocks, blocks, SHUFFLED);
	late = !is_near(&r, epoch_of(&r, blocks, blocks, SHUFFLED));
	assert_true(is_near(&r, epoch_of(&r, blocks, blocks, SHUFFLED)));
	end(&r);
	return late;
}

/* In a small cache few reads decide whether the old dataset is still in use.  Blocks of the new
 * dataset fill the free slots and hit in each epoch.  With 2 free slots they must not delay the
 * change of dataset.  With 11 free slots, as after reclaim, they may delay it in 20 of 200 caches.
 */
static void small_is_left(void **state)
{
	u32 late = 0, crowd = 0;
	u64 seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		late += small_is_late(2, seed);
		crowd += small_is_late(11, seed);
	}
	printf("# of 200 caches %u are late with two free slots, %u with eleven\n", late, crowd);
	assert_int_equal(late, 0);
	assert_in_range(crowd, 0, 20);
}

/* A copy has filled the cache with blocks read once: a dataset replaces them in three epochs. */
static void junk(struct run *r, enum order order)
{
	epoch_of(r, BLOCKS, 3 * BLOCKS, SAME);
	printf(" |");
	epoch(r, 0, order);
	epoch(r, 0, order);
	epoch(r, 0, order);
	steady_epochs(r, 0, order, 4);
}

static void full_of_junk(void **state)
{
	(void)state;
	for_each_run(junk, 1, false, "after a copy");
	for_each_run(junk, 1, true, "after a copy, beside hot blocks");
}

static void all_junk(struct run *r, enum order order)
{
	epoch_of(r, BLOCKS, ORIGIN - BLOCKS, SAME);
	printf(" |");
	epoch(r, 0, order);
	epoch(r, 0, order);
	epoch(r, 0, order);
	steady_epochs(r, 0, order, 4);
}

/* As full_of_junk(), but the copy is long enough to fill the ghost as well. */
static void full_of_all(void **state)
{
	(void)state;
	for_each_run(all_junk, 1, false, "after a copy of all");
}

/* A scan between two epochs evicts nothing, however long it is. */
static void scan(struct run *r, enum order order)
{
	epoch(r, 0, order);
	steady_epochs(r, 0, order, 3);
	printf(" |");
	epoch_of(r, BLOCKS, ORIGIN - BLOCKS, SAME);
	printf(" |");
	steady_epochs(r, 0, order, 4);
	assert_int_equal(r->s->evictions, 0);
}

/* For four epochs a scan makes three reads per read of the dataset: hit rates stay at the bound. */
static void scan_beside(struct run *r, enum order order)
{
	u32 i, n, next = BLOCKS, hits;

	epoch(r, 0, order);
	steady_epochs(r, 0, order, 3);
	printf(" |");
	for (n = 0; n < 4; n++) {
		r->t->count = 0;
		trace_epoch(r->t, 0, BLOCKS, order);
		for (i = hits = 0; i < BLOCKS; i++) {
			hits += sim_read(r->s, r->t->reads[i]);
			if (r->hot && !(i % HOT_EVERY))
				read_hot(r);
			sim_read(r->s, next++);
			sim_read(r->s, next++);
			sim_read(r->s, next++);
		}
		printf(" %.3f", (double)hits / BLOCKS);
		assert_true(is_near(r, (double)hits / BLOCKS));
	}
	printf(" |");
	steady_epochs(r, 0, order, 4);
}

static void scans(void **state)
{
	(void)state;
	for_each_run(scan, 1, false, "and a scan");
	for_each_run(scan, 1, true, "and a scan, beside hot blocks");
	for_each_run(scan_beside, 1, false, "and a scan beside");
	for_each_run(scan_beside, 1, true, "and a scan beside, and hot blocks");
}

/* Every third epoch reads a second dataset (an evaluation): the first dataset keeps its slots. */
static void evaluation(struct run *r, enum order order)
{
	u32 n;

	epoch(r, 0, order);
	for (n = 0; n < 5; n++) {
		steady_epochs(r, 0, order, 2);
		printf(" (");
		epoch(r, BLOCKS, order);
		printf(")");
	}
	assert_int_equal(r->s->evictions, 0);
}

/* Evaluated blocks have no slots; their long reuse distances must not delay a change of dataset. */
static void left_after_evaluations(struct run *r, enum order order)
{
	evaluation(r, order);
	printf(" |");
	epoch(r, 2 * BLOCKS, order);
	epoch(r, 2 * BLOCKS, order);
	epoch(r, 2 * BLOCKS, order);
	steady_epochs(r, 2 * BLOCKS, order, 4);
}

/* Epochs of two datasets take turns: the first one is retained and its hit rate is at the bound. */
static void turns(struct run *r, enum order order)
{
	u32 n;

	epoch(r, 0, order);
	for (n = 0; n < 5; n++) {
		epoch(r, BLOCKS, order);
		steady_epochs(r, 0, order, 1);
	}
	assert_int_equal(r->s->evictions, 0);
}

/* With samples smaller than a block, a long evaluation looks like a change of dataset once.  Later
 * evaluations evict nearly nothing, whether retained blocks are of one dataset or of both.
 */
static void evaluation_of_samples(struct run *r, enum order order)
{
	u64 evictions = 0;
	u32 n;

	for (n = 0; n < 10; n++) {
		double trained, evaluated;

		epoch(r, 0, order);
		trained = epoch(r, 0, order);
		evaluated = epoch(r, BLOCKS, order);
		assert_true(n < 7 || is_near(r, trained + evaluated));
		if (n == 6)
			evictions = r->s->evictions;
	}
	assert_true(evictions <= 3 * r->s->slots);
	assert_true(r->s->evictions - evictions <= r->s->slots / 10);
}

static void evaluations(void **state)
{
	(void)state;
	for_each_run(evaluation, 1, false, "and an evaluation");
	for_each_run(evaluation, 1, true, "and an evaluation, beside hot blocks");
	for_each_run(left_after_evaluations, 1, false, "and an evaluation, then another dataset");
	for_each_run(turns, 1, false, "and another in turn");
	for_each_run(evaluation_of_samples, 9, false, "and an evaluation, samples");
}

/* Patterns without a known bound: the policy needs NEAR as many hits as a cache that never evicts.
 * Return the sum of the policy's hit rates over all fractions.
 */
static double as_never_on(u32 origin, void (*epochs)(struct trace *t, u32 n), const char *what)
{
	u32 i, n, hits, first[ORIGIN / 20];
	double sum = 0;

	for (i = 0; i < ARRAY_SIZE(fractions); i++) {
		struct run r = begin_on(origin, fractions[i], 1, 1, what);
		u32 reads = 0, never = 0, b;

		for (n = 0; n < 30; n++)
			epochs(r.t, n);
		hits = sim_run(r.s, r.t->reads, r.t->count / 2);
		for (b = 0; b < BLOCKS; b++)
			first[b] = sim_cached(r.s, b, 1);
		assert_int_equal(r.s->evictions > r.s->slots, 0);
		for (n = r.t->count / 2; n < r.t->count; n++, reads++)
			never += first[r.t->reads[n]];
		hits = sim_run(r.s, r.t->reads + r.t->count / 2, reads);
		printf(" %.3f, never evicting %.3f", (double)hits / reads, (double)never / reads);
		assert_true(hits >= NEAR * never);
		sum += (double)hits / reads;
		end(&r);
	}
	return sum;
}

/* Run on an origin that is far larger than the dataset, and on one that has only the dataset. */
static void as_never(void (*epochs)(struct trace *t, u32 n), const char *what)
{
	as_never_on(ORIGIN, epochs, what);
	as_never_on(BLOCKS, epochs, what);
}

static void half_epochs(struct trace *t, u32 n)
{
	(void)n;
	trace_half(t, BLOCKS);
}

static void job_epochs(struct trace *t, u32 n)
{
	if (!n)
		trace_jobs(t, BLOCKS, 15);
}

static void mixture_epochs(struct trace *t, u32 n)
{
	trace_mixture(t, BLOCKS, n);
}

static void unlike(void **state)
{
	(void)state;
	as_never(half_epochs, "a random half");
	as_never(job_epochs, "two jobs");
	/* If the origin is only the dataset, the policy evicts rarely read blocks: more hits. */
	assert_true(as_never_on(BLOCKS, mixture_epochs, "a mixture") >
		    1.02 * as_never_on(ORIGIN, mixture_epochs, "a mixture"));
}

/* When the ticks in the stamps wrap, no block may look idle, and hit rates stay at the bound. */
static void clock_wraps(void **state)
{
	struct run r = begin(0.5, 1, 3, "over a wrap");
	u32 n, far = NC_STAMP_TICK - 20;

	(void)state;
	for (n = 1; n <= 4; n++)
		epoch(&r, 0, SHUFFLED);
	/* The tick has 15 bits: move the clock and all stored ticks to shortly before the wrap. */
	far -= r.s->now;
	r.s->clock += far * r.s->tick_reads;
	for (n = 0; n < r.s->slots; n++)
		r.s->stamp[n] = (u16)((r.s->stamp[n] & NC_STAMP_REUSED) |
				      ((r.s->stamp[n] + far) & NC_STAMP_TICK));
	for (n = 0; n < NC_GHOST_ENTRIES; n++)
		if (r.s->ghost[n])
			r.s->ghost[n] += far;
	r.s->policy.cut += far;
	r.s->policy.left += far;
	r.s->policy.alive += far;
	r.s->policy.living_last += far;
	r.s->policy.beat_start += far;
	steady_epochs(&r, 0, SHUFFLED, 4);
	assert_true(r.s->now > NC_STAMP_TICK);
	assert_int_equal(r.s->evictions, 0);
	end(&r);
}

/* A stamp (101) is a tick ahead of another CPU's clock (100): not idle, and no reuse distance. */
static void stamp_ahead_of_the_clock(void **state)
{
	struct sim *s = sim_new(&nc_policy_keep, 4, 8, 1);

	(void)state;
	s->ops->read(&s->policy, 1, 101, true);
	s->ops->read(&s->policy, 1, 100, true);
	assert_int_equal(s->policy.now.of[NC_CACHED].blocks, 0);
	assert_int_equal(s->policy.seen[0].of[NC_CACHED].blocks, 0);
	assert_false(s->ops->idle(&s->policy, 101, 100));
	/* With a limit and a cut too the stamp 101 is not idle, but a stamp before the cut is. */
	s->policy.limit = 5;
	s->policy.cut = 95;
	assert_false(s->ops->idle(&s->policy, 101, 100));
	assert_false(s->ops->idle(&s->policy, 95, 100));
	assert_true(s->ops->idle(&s->policy, 94, 100));
	s->policy.left = 98;
	assert_true(s->ops->idle(&s->policy, 97, 100));
	sim_free(s);
}

/* idle() takes no lock: if it sees the new limit with the old cut, no block may look idle. */
static void limit_is_seen_first(void **state)
{
	struct run r = begin(0.5, 1, 1, "before a limit is known");
	u32 i, n = 0;

	(void)state;
	r.t->count = 0;
	trace_epoch(r.t, 0, BLOCKS, SHUFFLED);
	trace_epoch(r.t, 0, BLOCKS, SHUFFLED);
	for (; !r.s->policy.limit; n++) {
		u32 slot = n % r.s->slots;

		sim_run(r.s, r.t->reads + n, 1);
		if (r.s->policy.limit)
			break;
		r.s->policy.limit = 1;
		assert_false(r.s->ops->idle(&r.s->policy, r.s->stamp[slot], r.s->now));
		r.s->policy.limit = 0;
	}
	assert_in_range(n, BLOCKS, 2 * BLOCKS);
	for (i = 0; i < r.s->slots; i++)
		assert_false(r.s->ops->idle(&r.s->policy, r.s->stamp[i], r.s->now));
	end(&r);
}

/* The ghost lowers its sampling rate until 3 million blocks fill at most half of its entries. */
static void ghost_adapts(void **state)
{
	u64 *entries = calloc(NC_GHOST_ENTRIES, sizeof(*entries)), block;
	struct nc_ghost g;
	u32 known = 0;

	(void)state;
	nc_ghost_init(&g, entries, 0x123456789abcdefULL);
	for (block = 0; block < 3000000; block++)
		if (nc_ghost_samples(&g, block << 10))
			assert_int_equal(nc_ghost_read(&g, block << 10, 1), 0);
	assert_in_range(g.used, NC_GHOST_ENTRIES / 8, NC_GHOST_ENTRIES / 2);
	for (block = 0; block < 3000000; block++) {
		u32 d = nc_ghost_samples(&g, block << 10) ?
			nc_ghost_read(&g, block << 10, 8) : 0;

		assert_true(!d || d == 7);
		known += !!d;
	}
	assert_in_range(known, (3000000 >> g.shift) * 8 / 10, (3000000 >> g.shift) * 11 / 10);
	/* When all entries have expired, the ghost samples more blocks again. */
	known = g.shift;
	nc_ghost_expire(&g, 1000, 100);
	assert_int_equal(g.used, 0);
	assert_true(g.shift < known);
	free(entries);
}

/* Return how many of the 64 MiB from block @first on are retained; a block has 256 KiB. */
static u32 stay_of(const struct nc_retain *s, u64 first)
{
	u32 i, n = 0;

	for (i = 0; i < 64; i++)
		n += retain_keeps(s, first + 4 * i);
	return n;
}

/* About the same part of any 64 MiB is retained, in units of 1 MiB.  No call of retain_lower()
 * increases the part.  The threshold ends at its minimum.
 */
static void retention_is_even(void **unused)
{
	struct nc_retain s;
	u32 before[64], rounds = 0, at, n;
	u64 seed;

	(void)unused;
	for (seed = 0; seed < 8; seed++) {
		retain_init(&s, seed * 0x123456789abcdefULL, 256 << 10);
		for (at = 0; at < 64; at++)
			before[at] = stay_of(&s, 4096 * at);
		assert_int_equal(before[0], 64);
		for (rounds = 0; retain_lower(&s); rounds++) {
			double part = s.threshold / 4294967296.0;

			for (at = 0; at < 64; at++) {
				n = stay_of(&s, 4096 * at);
				assert_true(n <= before[at]);
				assert_true(n > 64 * part - 4 && n < 64 * part + 4);
				before[at] = n;
			}
		}
		assert_in_range(s.threshold, NC_RETAIN_LEAST / 100 * 98, NC_RETAIN_LEAST);
		for (at = 0; at < 4096; at++)
			assert_int_equal(retain_keeps(&s, at), retain_keeps(&s, at & ~3));
	}
	printf("# a quarter of the dataset is retained after %u rounds\n", rounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_steady),
		cmocka_unit_test(hot_blocks),
		cmocka_unit_test(samples),
		cmocka_unit_test(dataset_is_left),
		cmocka_unit_test(small_is_left),
		cmocka_unit_test(full_of_junk),
		cmocka_unit_test(full_of_all),
		cmocka_unit_test(scans),
		cmocka_unit_test(evaluations),
		cmocka_unit_test(unlike),
		cmocka_unit_test(clock_wraps),
		cmocka_unit_test(stamp_ahead_of_the_clock),
		cmocka_unit_test(limit_is_seen_first),
		cmocka_unit_test(ghost_adapts),
		cmocka_unit_test(retention_is_even),
	};

	return RUN(tests);
}
