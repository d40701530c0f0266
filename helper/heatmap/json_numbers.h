/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints samples as JSON numbers. */
#ifndef HELPER_HEATMAP_JSON_NUMBERS_H
#define HELPER_HEATMAP_JSON_NUMBERS_H

#include "heatmap/sample.h"

void numbers_print(const struct grid *grid, const struct sample *sample, bool named);

#endif /* HELPER_HEATMAP_JSON_NUMBERS_H */
