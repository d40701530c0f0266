/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the metrics of all devices. */
#ifndef HELPER_METRICS_METRICS_H
#define HELPER_METRICS_METRICS_H

#include "metrics/exposition.h"

int metrics_write(struct exposition *exposition);

#endif /* HELPER_METRICS_METRICS_H */
