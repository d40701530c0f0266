// SPDX-License-Identifier: GPL-2.0-only
/* Counts which bytes of a file or device are present, and draws them as a bar. */
#include "lib/density_bar.h"

/*
 * Returns the first byte of @cell, or @bytes for the cell after the last one. Dividing before
 * multiplying keeps the products within 64 bits.
 */
uint64_t density_edge(const struct density *density, unsigned int cell)
{
	return density->bytes / density->cells * cell +
	       density->bytes % density->cells * cell / density->cells;
}

unsigned int density_cell(const struct density *density, uint64_t byte)
{
	unsigned int low = 0, high = density->cells;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (byte < density_edge(density, middle))
			high = middle;
		else
			low = middle;
	}
	return low;
}

/*
 * Counts a range of bytes as present: adds it to @density->present and @density->cell, which the
 * caller zeroes before the first call. Ignores bytes beyond @density->bytes.
 */
void density_add(struct density *density, uint64_t start, uint64_t length)
{
	uint64_t end;

	if (start >= density->bytes)
		return;
	end = length < density->bytes - start ? start + length : density->bytes;
	density->present += end - start;
	while (start < end) {
		unsigned int cell = density_cell(density, start);
		uint64_t next = density_edge(density, cell + 1);

		if (next > end)
			next = end;
		density->cell[cell] += next - start;
		start = next;
	}
}

/*
 * Fills @text (DENSITY_CELLS + 1 bytes) and returns it. @density has DENSITY_CELLS cells. A cell is
 * '#' if all its bytes are present, '+' if some are, '.' if none are.
 */
const char *density_bar(const struct density *density, char *text)
{
	unsigned int i;

	for (i = 0; i < DENSITY_CELLS; i++) {
		uint64_t bytes = density_edge(density, i + 1) - density_edge(density, i);

		text[i] = '+';
		if (!density->cell[i])
			text[i] = '.';
		else if (density->cell[i] == bytes)
			text[i] = '#';
	}
	text[DENSITY_CELLS] = '\0';
	return text;
}
