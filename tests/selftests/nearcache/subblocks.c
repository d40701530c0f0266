// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read over patterns of valid and missing sub-blocks, and check each sector read.
 *
 *	subblocks PHASE all|random DEV BLOCK SUBBLOCK CELLS SEED
 *
 * The device is divided into cells of three blocks.  Phase "populate" reads single sub-blocks, so
 * that each cell gets its own pattern of valid sub-blocks, and prints their number.  Phase "read"
 * makes one read per cell and prints the number of missing sub-blocks in all ranges.  Phase "shape"
 * makes the same reads and prints the number of all sub-blocks in the ranges.
 *
 * all: 320 cells.  The pattern covers the four sub-blocks around the border of two blocks.  Each of
 * the 16 patterns is read in each of 10 ranges, complete and without the first and last sector.
 * random: CELLS cells with random patterns in all three blocks and random ranges.
 */
#include "device.h"
#include "sector.h"

#define BITS_MAX	192
#define CELLS_OF_ALL	320

static int fd;
static unsigned int sub_sectors, subs, cell_sectors;
static uint64_t seed;
static bool all;
static char *buffer;

/* Set @bit (a byte per sub-block) for the sub-blocks of a cell that "populate" makes valid. */
static void pattern(unsigned int cell, unsigned char *bit)
{
	static const unsigned int density[] = { 10, 50, 90, 50 };
	uint64_t state = seed + cell * 1000003ULL;
	unsigned int i;

	memset(bit, 0, BITS_MAX);
	if (all) {
		for (i = 0; i < 4; i++)
			bit[subs - 2 + i] = cell / 20 % 16 >> i & 1;
		return;
	}
	for (i = 0; i < 3 * subs; i++)
		bit[i] = random_next(&state) % 100 < density[cell % 4];
}

/* The range that is read in a cell, in sectors from the start of the cell. */
static void shape(unsigned int cell, unsigned int *start, unsigned int *count)
{
	static const unsigned char range[10][2] = {
		{ 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, 4 }, { 1, 1 },
		{ 1, 2 }, { 1, 3 }, { 2, 1 }, { 2, 2 }, { 3, 1 },
	};
	uint64_t state = seed + 77 + cell * 999983ULL;
	const unsigned char *r = range[cell / 2 % 10];

	if (!all) {
		*start = random_next(&state) % cell_sectors;
		*count = 1 + random_next(&state) % (cell_sectors - *start);
		return;
	}
	*start = (subs - 2 + r[0]) * sub_sectors;
	*count = r[1] * sub_sectors;
	if (cell % 2) {
		(*start)++;
		*count -= 2;
	}
}

static void read_check(unsigned int cell, unsigned int start, unsigned int count)
{
	uint64_t at = (uint64_t)cell * cell_sectors + start;

	memset(buffer, 0xee, count * SECTOR);
	read_exactly(fd, buffer, count * SECTOR, at * SECTOR);
	if (!sectors_good(buffer, at, count, 1)) {
		printf("in cell %u, read of %u + %u\n", cell, start, count);
		exit(1);
	}
}

static unsigned int populate(unsigned int cell)
{
	unsigned char bit[BITS_MAX];
	unsigned int i, n = 0;

	pattern(cell, bit);
	for (i = 0; i < 3 * subs; i++)
		if (bit[i]) {
			read_check(cell, i * sub_sectors, sub_sectors);
			n++;
		}
	return n;
}

static unsigned int read_cell(unsigned int cell, bool missing)
{
	unsigned int start, count, i, n = 0;
	unsigned char bit[BITS_MAX];

	pattern(cell, bit);
	shape(cell, &start, &count);
	read_check(cell, start, count);
	for (i = start / sub_sectors; i <= (start + count - 1) / sub_sectors; i++)
		n += !missing || !bit[i];
	return n;
}

int main(int argc, char **argv)
{
	unsigned int cells, i, n = 0;

	if (argc != 8)
		return 2;
	all = !strcmp(argv[2], "all");
	fd = device_open(argv[3], O_RDONLY | O_DIRECT);
	sub_sectors = atoi(argv[5]) / SECTOR;
	subs = atoi(argv[4]) / atoi(argv[5]);
	cell_sectors = 3 * subs * sub_sectors;
	cells = all ? CELLS_OF_ALL : atoi(argv[6]);
	seed = atoi(argv[7]);
	buffer = aligned_room(cell_sectors * SECTOR);
	for (i = 0; i < cells; i++)
		n += !strcmp(argv[1], "populate") ? populate(i) :
		     read_cell(i, !strcmp(argv[1], "read"));
	printf("%u\n", n);
	return 0;
}
