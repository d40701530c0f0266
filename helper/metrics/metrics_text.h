/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the current metrics of all devices into memory. */
#ifndef HELPER_METRICS_METRICS_TEXT_H
#define HELPER_METRICS_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

char *snapshot_take(bool openmetrics, size_t *bytes);

#endif /* HELPER_METRICS_METRICS_TEXT_H */
