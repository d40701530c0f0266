/* SPDX-License-Identifier: GPL-2.0-only */
/* Draws samples as an SVG document of limited size. */
#ifndef HELPER_HEATMAP_SVG_BYTE_LIMIT_H
#define HELPER_HEATMAP_SVG_BYTE_LIMIT_H

#include "heatmap/svg.h"

char *picture_draw(const struct svg *svg, struct matrix *matrix, size_t most, size_t *bytes);

#endif /* HELPER_HEATMAP_SVG_BYTE_LIMIT_H */
