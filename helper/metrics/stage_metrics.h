/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the metrics of stages. */
#ifndef HELPER_METRICS_STAGE_METRICS_H
#define HELPER_METRICS_STAGE_METRICS_H

#include "metrics/exposition.h"

int stage_metrics_write(struct exposition *exposition);

#endif /* HELPER_METRICS_STAGE_METRICS_H */
