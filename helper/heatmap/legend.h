/* SPDX-License-Identifier: GPL-2.0-only */
/* Colours of a picture, and what they mean. */
#ifndef HELPER_HEATMAP_LEGEND_H
#define HELPER_HEATMAP_LEGEND_H

#include <stdio.h>

/* Of level_share() and level_octave(); what is not known follows them. */
#define LEGEND_LEVELS	10
#define LEGEND_UNKNOWN	LEGEND_LEVELS
/* Pixels. */
#define LEGEND_WIDTH	480

const char *legend_colour(unsigned int level);
void legend_shares(FILE *file, unsigned int x, unsigned int y);
void legend_reads(FILE *file, unsigned int x, unsigned int y, double most);

#endif /* HELPER_HEATMAP_LEGEND_H */
