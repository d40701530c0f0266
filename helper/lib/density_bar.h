/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts the bytes that are present in each cell of a line, and draws the line: "###+....". */
#ifndef HELPER_LIB_DENSITY_BAR_H
#define HELPER_LIB_DENSITY_BAR_H

#include <stdint.h>

/* Cells of density_bar(). */
#define DENSITY_CELLS	32

/* A line of @bytes bytes in @cells cells. @present and @cell[] count the bytes that are present. */
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
