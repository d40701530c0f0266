/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps a cell's value to a level. Level 0 means the value 0, level @levels - 1 the maximum. */
#ifndef HELPER_HEATMAP_CELL_LEVEL_H
#define HELPER_HEATMAP_CELL_LEVEL_H

#include <stdint.h>

unsigned int level_share(uint64_t part, uint64_t whole, unsigned int levels);
unsigned int level_decade(double number, unsigned int levels);
double level_most(double number);
unsigned int level_octave(double number, double most, unsigned int levels);

#endif /* HELPER_HEATMAP_CELL_LEVEL_H */
