// SPDX-License-Identifier: GPL-2.0-only
/* lib/histogram.c: percentiles, sums and differences of latency histograms. */
#include "lib/histogram.h"
#include "unit.h"

static void put(struct latency *latency, uint64_t ns, unsigned int times)
{
	latency->count += times;
	latency->sum += times * ns;
	latency->bucket[latency_bucket(ns)] += times;
}

static void percentiles(void **state)
{
	struct latency latency = { 0 };

	(void)state;
	put(&latency, 100000, 98);
	put(&latency, 5000000, 2);
	assert_int_equal(histogram_count(&latency), 100);
	/* The result is the end of a bucket, and up to 25 % too large. */
	assert_in_range(histogram_percentile(&latency, 5000), 100000, 125000);
	assert_in_range(histogram_percentile(&latency, 9800), 100000, 125000);
	assert_in_range(histogram_percentile(&latency, 9900), 5000000, 6250000);
}

/* The last bucket has no end: the end of the bucket before it is reported. */
static void longest(void **state)
{
	struct latency latency = { 0 };

	(void)state;
	put(&latency, 1ULL << 40, 1);
	assert_int_equal(histogram_percentile(&latency, 5000),
			 latency_upper(LATENCY_BUCKETS - 2));
}

static void sums(void **state)
{
	struct latency each[3] = { 0 }, sum = { 0 };

	(void)state;
	put(&each[0], 2000, 1);
	put(&each[2], 2000, 4);
	histogram_add(&sum, each, 3);
	assert_int_equal(sum.count, 5);
	assert_int_equal(sum.sum, 10000);
	assert_int_equal(sum.bucket[latency_bucket(2000)], 5);
}

static void differences(void **state)
{
	struct latency before = { 0 }, now, since;

	(void)state;
	put(&before, 2000, 5);
	now = before;
	put(&now, 9000, 3);
	histogram_since(&now, &before, &since);
	assert_int_equal(histogram_count(&since), 3);
	assert_int_equal(since.bucket[latency_bucket(9000)], 3);
	assert_int_equal(since.sum, 27000);
	/* The later counters are lower, so they restarted from 0: the difference is all of them. */
	histogram_since(&before, &now, &since);
	assert_memory_equal(&since, &before, sizeof(since));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles),
		cmocka_unit_test(longest),
		cmocka_unit_test(sums),
		cmocka_unit_test(differences),
	};

	return RUN(tests);
}
