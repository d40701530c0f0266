/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the metrics of cluster devices. */
#ifndef HELPER_METRICS_CLUSTER_METRICS_H
#define HELPER_METRICS_CLUSTER_METRICS_H

#include "metrics/exposition.h"

int cluster_metrics_write(struct exposition *exposition);

#endif /* HELPER_METRICS_CLUSTER_METRICS_H */
