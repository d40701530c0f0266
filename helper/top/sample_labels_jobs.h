/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples the labels and jobs of a device. */
#ifndef HELPER_TOP_SAMPLE_LABELS_JOBS_H
#define HELPER_TOP_SAMPLE_LABELS_JOBS_H

#include "block/dm.h"
#include "top/model.h"

int parts_take(const struct dm_device *dev, struct top_device *device);
bool parts_gone(const struct dm_device *dev);

#endif /* HELPER_TOP_SAMPLE_LABELS_JOBS_H */
