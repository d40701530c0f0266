// SPDX-License-Identifier: GPL-2.0-only
#include "lib/histogram.h"

/* Adds the array @each of @count histograms, one per processor, to @sum. */
void histogram_add(struct latency *sum, const struct latency *each, int count)
{
	unsigned int b;
	int i;

	for (i = 0; i < count; i++) {
		sum->count += each[i].count;
		sum->sum += each[i].sum;
		for (b = 0; b < LATENCY_BUCKETS; b++)
			sum->bucket[b] += each[i].bucket[b];
	}
}

/*
 * Sets @since to @now minus the earlier histogram @before. If the histogram was reset after @before
 * was read, @since is @now.
 */
void histogram_since(const struct latency *now, const struct latency *before,
		     struct latency *since)
{
	unsigned int b;

	*since = *now;
	if (now->count < before->count || now->sum < before->sum)
		return;
	since->count -= before->count;
	since->sum -= before->sum;
	for (b = 0; b < LATENCY_BUCKETS; b++)
		since->bucket[b] -= now->bucket[b] < before->bucket[b] ?
				    now->bucket[b] : before->bucket[b];
}

/* Returns the sum of the buckets. @latency->count was read at another time and may be larger. */
uint64_t histogram_count(const struct latency *latency)
{
	uint64_t count = 0;
	unsigned int b;

	for (b = 0; b < LATENCY_BUCKETS; b++)
		count += latency->bucket[b];
	return count;
}

/*
 * Returns a percentile as a latency in ns. @of is the percentile times 100: 9900 for the 99th. The
 * result is the upper end of a bucket; a bucket is a quarter of an octave. @latency is not empty.
 */
uint64_t histogram_percentile(const struct latency *latency, uint64_t of)
{
	uint64_t count = histogram_count(latency), seen = 0;
	uint32_t i;

	for (i = 0; i < LATENCY_BUCKETS - 1; i++) {
		seen += latency->bucket[i];
		if (10000 * seen >= of * count)
			break;
	}
	return latency_upper(i < LATENCY_BUCKETS - 1 ? i : LATENCY_BUCKETS - 2);
}
