/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_TOP_SAMPLE_CLUSTERS_H
#define HELPER_TOP_SAMPLE_CLUSTERS_H

#include "top/model.h"

int clusters_take(struct top_model *model);

#endif /* HELPER_TOP_SAMPLE_CLUSTERS_H */
