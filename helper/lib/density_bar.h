/* SPDX-License-Identifier: GPL-2.0-only */
/* Divides a file or device into cells, and draws how much of each is present: "###+....". */
#ifndef HELPER_LIB_DENSITY_BAR_H
#define HELPER_LIB_DENSITY_BAR_H

#include <stdint.h>

/* Number of cells that density_bar() draws. */
#define DENSITY_CELLS	32

/*
 * A file or device of @bytes bytes, divided into @cells cells. @present counts the bytes that are
 * present (for example cached), @cell[i] those of one cell.
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

#endif /* HELPER_LIB_DENSITY_BAR_H */
