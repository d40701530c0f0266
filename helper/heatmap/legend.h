/* SPDX-License-Identifier: GPL-2.0-only */
/* The colours of a picture, and their legend. */
#ifndef HELPER_HEATMAP_LEGEND_H
#define HELPER_HEATMAP_LEGEND_H

#include <stdio.h>

/* Number of levels of level_share() and level_octave(); the next level means an unknown value. */
#define LEGEND_LEVELS	10
#define LEGEND_UNKNOWN	LEGEND_LEVELS
/* Width of a legend, pixels. */
#define LEGEND_WIDTH	480

const char *legend_colour(unsigned int level);
void legend_shares(FILE *file, unsigned int x, unsigned int y);
void legend_reads(FILE *file, unsigned int x, unsigned int y, double most);

#endif /* HELPER_HEATMAP_LEGEND_H */
