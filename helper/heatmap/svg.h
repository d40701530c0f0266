/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draws samples as an SVG document that needs no other file: the offset in a shard grows from left
 * to right, time downwards.
 */
#ifndef HELPER_HEATMAP_SVG_H
#define HELPER_HEATMAP_SVG_H

#include <stdio.h>
#include <time.h>

#include "heatmap/sample_matrix.h"

/**
 * struct svg - a picture
 * @name: name of the device
 * @begin: real time of the first sample
 * @numbered: shards have names; otherwise the only shard is the device
 * @matrix: the samples
 */
struct svg {
	const char *name;
	time_t begin;
	bool numbered;
	const struct matrix *matrix;
};

int svg_write(FILE *file, const struct svg *svg);

#endif /* HELPER_HEATMAP_SVG_H */
