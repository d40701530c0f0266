/* SPDX-License-Identifier: GPL-2.0-only */
/* Latency histograms of reads and writes: sums, differences and percentiles. */
#ifndef HELPER_LIB_HISTOGRAM_H
#define HELPER_LIB_HISTOGRAM_H

#include <stdint.h>

#include "latency.h"

void histogram_add(struct latency *sum, const struct latency *each, int count);
void histogram_since(const struct latency *now, const struct latency *before,
		     struct latency *since);
uint64_t histogram_count(const struct latency *latency);
uint64_t histogram_percentile(const struct latency *latency, uint64_t of);

#endif /* HELPER_LIB_HISTOGRAM_H */
