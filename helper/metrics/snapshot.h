/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics as they are now, as a whole. */
#ifndef HELPER_METRICS_SNAPSHOT_H
#define HELPER_METRICS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

char *snapshot_take(bool openmetrics, size_t *bytes);

#endif /* HELPER_METRICS_SNAPSHOT_H */
