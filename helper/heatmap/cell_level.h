/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps a cell's value to one of few levels. Level 0 is zero, the last level the maximum. */
#ifndef HELPER_HEATMAP_CELL_LEVEL_H
#define HELPER_HEATMAP_CELL_LEVEL_H

#include <stdint.h>

unsigned int level_share(uint64_t part, uint64_t whole, unsigned int levels);
unsigned int level_decade(double number, unsigned int levels);
unsigned int level_octave(double number, double most, unsigned int levels);

#endif /* HELPER_HEATMAP_CELL_LEVEL_H */
