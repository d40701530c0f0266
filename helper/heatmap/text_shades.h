/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints samples as lines of text. A darker character means a fuller cell or more reads. */
#ifndef HELPER_HEATMAP_TEXT_SHADES_H
#define HELPER_HEATMAP_TEXT_SHADES_H

#include <stdio.h>

#include "heatmap/sample.h"

/**
 * struct shade - how to print
 * @name: name of the device
 * @utf8: the terminal has block characters
 * @counted: also show reads
 * @numbered: shards have numbers and names; otherwise the only shard is the device
 */
struct shade {
	const char *name;
	bool utf8;
	bool counted;
	bool numbered;
};

unsigned int shade_cells(const struct shade *shade, unsigned int width);
void shade_heading(FILE *file, const struct shade *shade, const struct grid *grid);
void shade_sample(FILE *file, const struct shade *shade, const struct grid *grid,
		  const struct sample *sample);

#endif /* HELPER_HEATMAP_TEXT_SHADES_H */
