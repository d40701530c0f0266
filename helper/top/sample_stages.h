/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_TOP_SAMPLE_STAGES_H
#define HELPER_TOP_SAMPLE_STAGES_H

#include "top/model.h"

int stages_take(struct top_model *model);

#endif /* HELPER_TOP_SAMPLE_STAGES_H */
