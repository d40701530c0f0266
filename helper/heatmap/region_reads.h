/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads of each region (16 MiB) of a device, as counted by bpf/heat.bpf.c. Functions that return
 * int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_HEATMAP_REGION_READS_H
#define HELPER_HEATMAP_REGION_READS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/density_bar.h"
#include "files/shard_ranges.h"

struct count {
	uint32_t region;
	uint64_t reads;
};

/* A growing array of regions that were read; after counts_sort() ascending, each region once. */
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

#endif /* HELPER_HEATMAP_REGION_READS_H */
