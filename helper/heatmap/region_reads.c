// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/region_reads.h"

#include <stdlib.h>

#include "lib/error.h"
#include "heat.h"

/* Size of a region, bytes. */
#define REGION	(1ULL << (HEAT_REGION_SHIFT + 9))

/* Appends a region. The caller zeroes @counts before the first call. */
int counts_add(struct counts *counts, uint32_t region, uint64_t reads)
{
	if (counts->regions == counts->room) {
		size_t room = counts->room ? 2 * counts->room : 256;
		struct count *longer = reallocarray(counts->count, room, sizeof(*longer));

		if (!longer)
			return fail_memory();
		counts->count = longer;
		counts->room = room;
	}
	counts->count[counts->regions++] = (struct count){ region, reads };
	return 0;
}

/* Appends @from to @counts. Call counts_free() after success and failure. */
int counts_copy(struct counts *counts, const struct counts *from)
{
	size_t i;

	for (i = 0; i < from->regions; i++)
		if (counts_add(counts, from->count[i].region, from->count[i].reads))
			return fail_code();
	return 0;
}

/* Orders by region, then by reads, most first: counts_sort() keeps the first entry of a region. */
static int compare_entries(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return (x->reads < y->reads) - (x->reads > y->reads);
}

/*
 * Sorts by region. A region may be listed twice if it was removed from the map while the map
 * was read: keeps the entry with more reads.
 */
void counts_sort(struct counts *counts)
{
	struct count *count = counts->count;
	size_t i, kept = 0;

	if (!counts->regions)
		return;
	qsort(count, counts->regions, sizeof(*count), compare_entries);
	for (i = 1; i < counts->regions; i++)
		if (count[i].region != count[kept].region)
			count[++kept] = count[i];
	counts->regions = kept + 1;
}

/*
 * Subtracts @before from @counts; both are sorted. A region with fewer reads than in @before was
 * dropped from the map and counted again from 0, so nothing is subtracted.
 */
void counts_since(struct counts *counts, const struct counts *before)
{
	size_t i, at = 0;

	for (i = 0; i < counts->regions; i++) {
		struct count *now = &counts->count[i];

		while (at < before->regions && before->count[at].region < now->region)
			at++;
		if (at < before->regions && before->count[at].region == now->region &&
		    before->count[at].reads <= now->reads)
			now->reads -= before->count[at].reads;
	}
}

/* Returns the index of the first region that ends behind byte @start of the device. */
static size_t first_behind(const struct counts *counts, uint64_t start)
{
	size_t low = 0, high = counts->regions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (counts->count[middle].region * REGION + REGION <= start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds @per_byte reads to the cells of a shard for each byte from @start to @end of the shard. */
static void spread_reads(const struct density *density, uint64_t start, uint64_t end,
			 double per_byte, double *reads)
{
	while (start < end) {
		unsigned int cell = density_cell(density, start);
		uint64_t next = density_edge(density, cell + 1);

		if (next > end)
			next = end;
		reads[cell] += (double)(next - start) * per_byte;
		start = next;
	}
}

static void spread_range(const struct counts *counts, const struct range *range,
			 uint64_t place, uint64_t size,
			 const struct density *density, double *reads)
{
	uint64_t end = range->start + range->length;
	size_t i;

	for (i = first_behind(counts, range->start); i < counts->regions; i++) {
		uint64_t from = counts->count[i].region * REGION, to = from + REGION;
		double per_byte;

		if (from >= end)
			break;
		/* The last region ends with the device and may be shorter. */
		if (to > size)
			to = size;
		per_byte = (double)counts->count[i].reads / (double)(to - from);
		if (from < range->start)
			from = range->start;
		if (to > end)
			to = end;
		spread_reads(density, place + (from - range->start), place + (to - range->start),
			     per_byte, reads);
	}
}

/*
 * Distributes the reads of regions over the cells of a shard, as if each region was read evenly.
 * @counts: sorted; @size: bytes of the device; @reads: one number per cell, increased here.
 */
void counts_spread(const struct counts *counts, const struct shard *shard,
		   uint64_t size, const struct density *density, double *reads)
{
	uint64_t place = 0;
	size_t i;

	for (i = 0; i < shard->ranges; i++) {
		spread_range(counts, &shard->range[i], place, size, density, reads);
		place += shard->range[i].length;
	}
}

/* May be called twice. */
void counts_free(struct counts *counts)
{
	free(counts->count);
	*counts = (struct counts){ 0 };
}
