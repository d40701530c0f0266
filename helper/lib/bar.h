/* SPDX-License-Identifier: GPL-2.0-only */
/* How much of a line of bytes is there, drawn as a bar: "###+....". */
#ifndef HELPER_LIB_BAR_H
#define HELPER_LIB_BAR_H

#include <stdint.h>

/* Of a bar. */
#define DENSITY_CELLS	32

/**
 * struct density - a line of bytes
 * @bytes: its length
 * @present: how many are there
 * @cell: the same of each cell
 * @cells: how many cells
 */
struct density {
	uint64_t bytes;
	uint64_t present;
	uint64_t *cell;
	unsigned int cells;
};

uint64_t density_edge(const struct density *density, unsigned int cell);
unsigned int density_cell(const struct density *density, uint64_t byte);
void density_add(struct density *density, uint64_t start, uint64_t length);
const char *density_bar(const struct density *density, char *text);

#endif /* HELPER_LIB_BAR_H */
