/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes samples of a device from the kernel. Functions that return int return 0, or an exit
 * code after recording an error with fail().
 */
#ifndef HELPER_HEATMAP_TAKE_SAMPLE_H
#define HELPER_HEATMAP_TAKE_SAMPLE_H

#include "block/dm.h"
#include "heatmap/region_reads.h"
#include "heatmap/sample.h"

/**
 * struct gather - takes samples of a device at intervals
 * @dev: the device
 * @grid: shards and cells of each sample
 * @moment: take a single sample, with all reads since counting began; otherwise each sample has
 *	the reads since the previous one
 * @counted: the BPF program was loaded at the last sample
 * @counts: counters of reads at the last sample
 * @started: monotonic time of the first sample, ns
 * @last: monotonic time of the last sample, ns
 */
struct gather {
	const struct dm_device *dev;
	struct grid grid;
	bool moment;
	bool counted;
	struct counts counts;
	uint64_t started;
	uint64_t last;
};

int gather_begin(struct gather *gather);
int gather_take(struct gather *gather, struct sample *sample);
void gather_end(struct gather *gather);

#endif /* HELPER_HEATMAP_TAKE_SAMPLE_H */
