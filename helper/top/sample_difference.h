/* SPDX-License-Identifier: GPL-2.0-only */
/* Computes how much the counters have grown between two samples. */
#ifndef HELPER_TOP_SAMPLE_DIFFERENCE_H
#define HELPER_TOP_SAMPLE_DIFFERENCE_H

#include "top/model.h"

int since_order(const void *a, const void *b);
void since_subtract(struct top_model *now, const struct top_model *before);
uint64_t since_rate(uint64_t amount, uint64_t span);

#endif /* HELPER_TOP_SAMPLE_DIFFERENCE_H */
