// SPDX-License-Identifier: GPL-2.0-only
#include "lib/bar.h"

/**
 * density_edge() - where a cell begins
 * @density: the line
 * @cell: the cell; that behind the last one begins at the end
 *
 * No product overflows, for what fits on a device.
 *
 * Return: its first byte.
 */
uint64_t density_edge(const struct density *density, unsigned int cell)
{
	return density->bytes / density->cells * cell +
	       density->bytes % density->cells * cell / density->cells;
}

/**
 * density_cell() - the cell of a byte
 * @density: the line
 * @byte: of the line
 *
 * Return: number of the cell.
 */
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

/**
 * density_add() - bytes that are there
 * @density: the line, zeroed before but for its length and cells
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
		unsigned int cell = density_cell(density, start);
		uint64_t next = density_edge(density, cell + 1);

		if (next > end)
			next = end;
		density->cell[cell] += next - start;
		start = next;
	}
}

/**
 * density_bar() - draw it
 * @density: the line, of DENSITY_CELLS
 * @text: DENSITY_CELLS + 1 bytes
 *
 * Return: @text: '#' where all of a cell is there, '+' where some is, '.' where nothing is.
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
