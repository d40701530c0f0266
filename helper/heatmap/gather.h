/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples of a device, as the kernel tells them. */
#ifndef HELPER_HEATMAP_GATHER_H
#define HELPER_HEATMAP_GATHER_H

#include "block/dm.h"
#include "heatmap/counts.h"
#include "heatmap/sample.h"

/**
 * struct gather - looks at a device, again and again
 * @dev: the device
 * @grid: what samples are of
 * @moment: samples are of a moment, reads since counting began; else both since the last look
 * @counted: reads were counted at the last look
 * @counts: those
 * @started: time of the first look, of the monotonic clock, nanoseconds
 * @last: the same of the last one
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

#endif /* HELPER_HEATMAP_GATHER_H */
