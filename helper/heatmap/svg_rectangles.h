/* SPDX-License-Identifier: GPL-2.0-only */
/* Draws a matrix of levels with few rectangles. */
#ifndef HELPER_HEATMAP_SVG_RECTANGLES_H
#define HELPER_HEATMAP_SVG_RECTANGLES_H

#include <stddef.h>
#include <stdio.h>

/* A matrix of levels, row by row. */
struct plane {
	unsigned char *level;
	size_t rows;
	size_t cells;
};

size_t plane_path(FILE *file, const struct plane *plane, unsigned char level);

#endif /* HELPER_HEATMAP_SVG_RECTANGLES_H */
