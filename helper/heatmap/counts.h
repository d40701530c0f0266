/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads of a device by region, as bpf/heat.bpf.c counts them. */
#ifndef HELPER_HEATMAP_COUNTS_H
#define HELPER_HEATMAP_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/bar.h"
#include "files/range_set.h"

/**
 * struct count - a region
 * @region: its number
 * @reads: reads of it
 */
struct count {
	uint32_t region;
	uint64_t reads;
};

/**
 * struct counts - those that were read
 * @count: once counts_sort() was called ascending, each once
 * @regions: how many
 * @room: that fit
 */
struct counts {
	struct count *count;
	size_t regions;
	size_t room;
};

int counts_add(struct counts *counts, uint32_t region, uint64_t reads);
int counts_copy(struct counts *counts, const struct counts *from);
void counts_sort(struct counts *counts);
void counts_since(struct counts *counts, const struct counts *before);
void counts_spread(const struct counts *counts, const struct shard *shard,
		   uint64_t size, const struct density *density, double *reads);
void counts_free(struct counts *counts);

#endif /* HELPER_HEATMAP_COUNTS_H */
