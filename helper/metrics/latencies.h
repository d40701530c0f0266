/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes latency histograms: latencies_begin() once, then latencies_write() for each device. */
#ifndef HELPER_METRICS_LATENCIES_H
#define HELPER_METRICS_LATENCIES_H

#include "block/dm.h"
#include "metrics/exposition.h"

void latencies_begin(struct exposition *exposition);
int latencies_write(struct exposition *exposition, const struct dm_device *dev);

#endif /* HELPER_METRICS_LATENCIES_H */
