/* SPDX-License-Identifier: GPL-2.0-only */
/* What there is to measure of all devices, for monitoring. */
#ifndef HELPER_METRICS_METRICS_H
#define HELPER_METRICS_METRICS_H

#include "metrics/exposition.h"

int metrics_write(struct exposition *exposition);

#endif /* HELPER_METRICS_METRICS_H */
