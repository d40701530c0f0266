// SPDX-License-Identifier: GPL-2.0-only
#include "lib/histogram.h"

/**
 * histogram_add() - add up
 * @sum: what they are added to
 * @each: histograms, as of each processor
 * @count: how many
 */
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

/**
 * histogram_since() - what was added in between
 * @now: later
 * @before: earlier
 * @since: the result; all of @now if it was begun anew
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

/**
 * histogram_count() - how many were measured
 * @latency: histogram
 *
 * Return: that; @latency->count may be an estimate of more.
 */
uint64_t histogram_count(const struct latency *latency)
{
	uint64_t count = 0;
	unsigned int b;

	for (b = 0; b < LATENCY_BUCKETS; b++)
		count += latency->bucket[b];
	return count;
}

/**
 * histogram_percentile() - how long most took at most
 * @latency: histogram, not empty
 * @of: so many of 10,000
 *
 * Return: nanoseconds, to a quarter of an octave.
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
