/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples as a picture: place from left to right, time downwards. */
#ifndef HELPER_HEATMAP_SVG_H
#define HELPER_HEATMAP_SVG_H

#include <stdio.h>
#include <time.h>

#include "heatmap/matrix.h"

/**
 * struct svg - a picture
 * @name: of the device
 * @begin: when samples began, of the real-time clock
 * @numbered: shards have names; else the one there is is the device
 * @matrix: samples
 */
struct svg {
	const char *name;
	time_t begin;
	bool numbered;
	const struct matrix *matrix;
};

int svg_write(FILE *file, const struct svg *svg);

#endif /* HELPER_HEATMAP_SVG_H */
