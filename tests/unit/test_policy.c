// SPDX-License-Identifier: GPL-2.0-only
/*
 * The eviction policy under the patterns of training.  When each block is read
 * once per epoch no policy that fills on demand hits more than f = cache size /
 * dataset size; never evicting reaches f, and so must this one.
 */
#include "helper/unit.h"
#include "policy_sim.h"

#define BLOCKS	4000U		/* of one dataset */
#define SEEDS	3U
#define NEAR	0.98

static const double fractions[] = { 0.1, 0.25, 0.5, 0.75 };

#define for_each_fraction(f) \
	for (f = fractions; f < fractions + sizeof(fractions) / sizeof(*fractions); f++)

enum order { SAME, SHUFFLED };

/* One epoch over the blocks that begin at @first: hits / blocks. */
static double epoch(struct sim *s, u32 first, enum order how)
{
	u32 order[BLOCKS];
	u32 i, hits = 0;

	for (i = 0; i < BLOCKS; i++)
		order[i] = first + i;
	if (how == SHUFFLED)
		sim_shuffle(s, order, BLOCKS);
	for (i = 0; i < BLOCKS; i++)
		hits += sim_read(s, order[i]);
	return (double)hits / BLOCKS;
}

static struct sim *cache_of(double f, u32 origin_blocks, u64 seed)
{
	return sim_new(&nc_policy_keep, (u32)(f * BLOCKS), origin_blocks, seed);
}

/* Eight epochs hit the bound from the second on, and never evict. */
static void steady(enum order how)
{
	const double *f;
	u64 seed;
	int n;

	for_each_fraction(f) {
		for (seed = 1; seed <= SEEDS; seed++) {
			struct sim *s = cache_of(*f, BLOCKS, seed);

			printf("# f %.2f seed %llu, hits per epoch:", *f,
			       (unsigned long long)seed);
			for (n = 1; n <= 8; n++) {
				double hits = epoch(s, 0, how);

				printf(" %.3f", hits);
				if (n > 1)
					assert_true(hits >= NEAR * *f);
			}
			printf(", evictions %llu\n",
			       (unsigned long long)s->evictions);
			assert_int_equal(s->evictions, 0);
			sim_free(s);
		}
	}
}

static void reshuffled(void **state)
{
	(void)state;
	steady(SHUFFLED);
}

static void same_order(void **state)
{
	(void)state;
	steady(SAME);
}

/* File system metadata: few blocks behind the data, read all the time. */
#define HOT		16U
#define HOT_EVERY	8U

/* As epoch(), each data block's read followed now and then by a hot one. */
static double epoch_with_hot(struct sim *s, u32 *hot_misses)
{
	u32 order[BLOCKS];
	u32 i, hits = 0;

	*hot_misses = 0;
	for (i = 0; i < BLOCKS; i++)
		order[i] = i;
	sim_shuffle(s, order, BLOCKS);
	for (i = 0; i < BLOCKS; i++) {
		hits += sim_read(s, order[i]);
		if (!(i % HOT_EVERY))
			*hot_misses += !sim_read(s, BLOCKS + sim_random(s, HOT));
	}
	return (double)hits / BLOCKS;
}

/* Their short distances must not make the cold data around them look idle. */
static void hot_metadata(void **state)
{
	u32 hot_misses, n;
	const double *f;

	(void)state;
	for_each_fraction(f) {
		struct sim *s = cache_of(*f, BLOCKS + HOT, 7);

		printf("# f %.2f with %u hot blocks, hits per epoch:", *f, HOT);
		for (n = 1; n <= 8; n++) {
			double hits = epoch_with_hot(s, &hot_misses);

			printf(" %.3f", hits);
			if (n <= 2)
				assert_int_equal(s->evictions, 0);
			/* The hot blocks take slots from the data. */
			if (n > 1) {
				assert_true(hits >= NEAR * (*f - (double)HOT / BLOCKS));
				assert_int_equal(hot_misses, 0);
			}
		}
		printf(", evictions %llu\n", (unsigned long long)s->evictions);
		sim_free(s);
	}
}

/* A job moves to another dataset of the same size on the same origin. */
static void dataset_switch(void **state)
{
	const double *f;
	u64 seed;
	u32 n;

	(void)state;
	for_each_fraction(f) {
		for (seed = 1; seed <= SEEDS; seed++) {
			struct sim *s = cache_of(*f, 2 * BLOCKS, seed);
			double hits;

			for (n = 1; n <= 4; n++)
				epoch(s, 0, SHUFFLED);
			assert_int_equal(s->evictions, 0);
			printf("# f %.2f seed %llu, hits per epoch after the switch:",
			       *f, (unsigned long long)seed);
			for (n = 1; n <= 8; n++) {
				hits = epoch(s, BLOCKS, SHUFFLED);
				printf(" %.3f", hits);
				if (n >= 5)
					assert_true(hits >= NEAR * *f);
			}
			printf("\n");
			sim_free(s);
		}
	}
}

/* A tick that has wrapped is no reason to evict, nor to keep for ever. */
static void clock_wraps(void **state)
{
	struct sim *s = cache_of(0.5, BLOCKS, 3);
	u32 n;

	(void)state;
	for (n = 1; n <= 4; n++)
		epoch(s, 0, SHUFFLED);
	/* 15 bits of tick: just short of the wrap, with the stamps moved along. */
	s->clock += ((NC_STAMP_TICK - 20) - s->now) * s->tick_blocks;
	for (n = 0; n < s->slots; n++)
		s->stamp[n] = (u16)((s->stamp[n] & NC_STAMP_REUSED) |
			((s->stamp[n] + (NC_STAMP_TICK - 20) - s->now) & NC_STAMP_TICK));
	s->policy.window_start += (NC_STAMP_TICK - 20) - s->now;
	for (n = 1; n <= 4; n++)
		assert_true(epoch(s, 0, SHUFFLED) >= NEAR * 0.5);
	assert_true(s->now > NC_STAMP_TICK);
	assert_int_equal(s->evictions, 0);
	sim_free(s);
}

/* Two CPUs' clocks are a tick apart: that is neither idle nor a distance. */
static void stamp_ahead_of_the_clock(void **state)
{
	struct nc_policy p;
	u16 stamp;

	(void)state;
	nc_policy_keep.init(&p, 4, 8);
	stamp = nc_policy_keep.touch(&p, 101 & NC_STAMP_TICK, 100);
	assert_int_equal(p.longest[0], 0);
	assert_int_equal(stamp, 100 | NC_STAMP_REUSED);
	assert_false(nc_policy_keep.idle(&p, 101, 100));
	/* Enough reuses to learn from, and still no distance. */
	p.reused = 4;
	assert_false(nc_policy_keep.idle(&p, 101, 100));
	assert_true(nc_policy_keep.idle(&p, 90, 100));
}

/* What the last window taught stays, though a slower CPU's clock is behind. */
static void window_rotates_once(void **state)
{
	struct nc_policy p;

	(void)state;
	nc_policy_keep.init(&p, 4, 8);
	nc_policy_keep.touch(&p, 0, 50);
	assert_int_equal(p.longest[0], 50);
	nc_policy_keep.touch(&p, 250, 251);
	assert_int_equal(p.longest[1], 50);
	nc_policy_keep.touch(&p, 249, 250);
	assert_int_equal(p.longest[1], 50);
	assert_int_equal(p.window_start, 251);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reshuffled),
		cmocka_unit_test(same_order),
		cmocka_unit_test(hot_metadata),
		cmocka_unit_test(dataset_switch),
		cmocka_unit_test(clock_wraps),
		cmocka_unit_test(stamp_ahead_of_the_clock),
		cmocka_unit_test(window_rotates_once),
	};

	return RUN(tests);
}
