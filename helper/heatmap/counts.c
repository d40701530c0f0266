// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/counts.h"

#include <stdlib.h>

#include "lib/error.h"
#include "heat.h"

/* Bytes of a region. */
#define REGION	(1ULL << (HEAT_REGION_SHIFT + 9))

/**
 * counts_add() - take what was counted of a region
 * @counts: all of them, zeroed before the first one
 * @region: its number
 * @reads: how many
 *
 * Return: 0 or the exit code.
 */
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

/**
 * counts_copy() - have the same again
 * @counts: empty; counts_free() is due also after a failure
 * @from: those
 *
 * Return: 0 or the exit code.
 */
int counts_copy(struct counts *counts, const struct counts *from)
{
	size_t i;

	for (i = 0; i < from->regions; i++)
		if (counts_add(counts, from->count[i].region, from->count[i].reads))
			return fail_code();
	return 0;
}

/* Of one region the larger number first. */
static int compare(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return (x->reads < y->reads) - (x->reads > y->reads);
}

/**
 * counts_sort() - put them in order, each region once
 * @counts: as they were added
 *
 * A region that went while they were read may be there twice: the larger number counts.
 */
void counts_sort(struct counts *counts)
{
	struct count *count = counts->count;
	size_t i, kept = 0;

	if (!counts->regions)
		return;
	qsort(count, counts->regions, sizeof(*count), compare);
	for (i = 1; i < counts->regions; i++)
		if (count[i].region != count[kept].region)
			count[++kept] = count[i];
	counts->regions = kept + 1;
}

/**
 * counts_since() - leave what was counted since an earlier look
 * @counts: sorted; becomes the difference
 * @before: sorted
 *
 * What is less than before was forgotten meanwhile, and counted anew.
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

/* The first one that does not end before a byte of the device. */
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

/* Cells from @start to @end, of the line. */
static void spread(const struct density *density, uint64_t start, uint64_t end,
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
		/* The last one of the device is shorter. */
		if (to > size)
			to = size;
		per_byte = (double)counts->count[i].reads / (double)(to - from);
		if (from < range->start)
			from = range->start;
		if (to > end)
			to = end;
		spread(density, place + (from - range->start), place + (to - range->start),
		       per_byte, reads);
	}
}

/**
 * counts_spread() - share the reads of regions out to cells of a shard
 * @counts: sorted
 * @shard: the shard
 * @size: bytes of the device
 * @density: the shard's cells
 * @reads: for each cell; its share is added: regions are taken as if they were read evenly
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

/* Free all; harmless after that. */
void counts_free(struct counts *counts)
{
	free(counts->count);
	*counts = (struct counts){ 0 };
}
