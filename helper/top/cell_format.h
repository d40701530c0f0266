/* SPDX-License-Identifier: GPL-2.0-only */
/* Formats numbers as cells of a grid. @span: ns in which the number grew; if 0, shows "-". */
#ifndef HELPER_TOP_CELL_FORMAT_H
#define HELPER_TOP_CELL_FORMAT_H

#include <stdint.h>

#include "top/grid.h"

void cell_ratio(struct grid *grid, uint64_t part, uint64_t whole);
void cell_bytes(struct grid *grid, uint64_t bytes);
void cell_byte_rate(struct grid *grid, uint64_t bytes, uint64_t span);
void cell_rate(struct grid *grid, uint64_t count, uint64_t span);
void cell_time(struct grid *grid, uint64_t ns);

#endif /* HELPER_TOP_CELL_FORMAT_H */
