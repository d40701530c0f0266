// SPDX-License-Identifier: GPL-2.0-only
#include "density.h"

/* First byte of a cell; no product overflows, for what fits on a device. */
static uint64_t edge(const struct density *density, unsigned int cell)
{
	return density->bytes / DENSITY_CELLS * cell +
	       density->bytes % DENSITY_CELLS * cell / DENSITY_CELLS;
}

/* The cell of a byte. */
static unsigned int cell_of(const struct density *density, uint64_t byte)
{
	unsigned int low = 0, high = DENSITY_CELLS;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (byte < edge(density, middle))
			high = middle;
		else
			low = middle;
	}
	return low;
}

/**
 * density_add() - bytes that are there
 * @density: the line, zeroed before but for its length
 * @start: first byte
 * @length: bytes; what is behind the end of the line does not count
 */
void density_add(struct density *density, uint64_t start, uint64_t length)
{
	uint64_t end;

	if (start >= density->bytes)
		return;
	end = length < density->bytes - start ? start + length : density->bytes;
	density->present += end - start;
	while (start < end) {
		unsigned int cell = cell_of(density, start);
		uint64_t next = edge(density, cell + 1);

		if (next > end)
			next = end;
		density->cell[cell] += next - start;
		start = next;
	}
}

/**
 * density_bar() - draw it
 * @density: the line
 * @text: DENSITY_CELLS + 1 bytes
 *
 * Return: @text: '#' where all of a cell is there, '+' where some is, '.' where nothing is.
 */
const char *density_bar(const struct density *density, char *text)
{
	unsigned int i;

	for (i = 0; i < DENSITY_CELLS; i++) {
		uint64_t bytes = edge(density, i + 1) - edge(density, i);

		text[i] = '+';
		if (!density->cell[i])
			text[i] = '.';
		else if (density->cell[i] == bytes)
			text[i] = '#';
	}
	text[DENSITY_CELLS] = '\0';
	return text;
}
