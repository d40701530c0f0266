// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/cell_level.h"

/*
 * Maps @part of @whole to @levels (at least 3) levels. Only a @part of 0 has the first level, only
 * all of @whole has the last one. The levels in between have equal steps.
 */
unsigned int level_share(uint64_t part, uint64_t whole, unsigned int levels)
{
	unsigned int step;

	if (!part || !whole)
		return 0;
	if (part >= whole)
		return levels - 1;
	step = (unsigned int)((double)part / (double)whole * (levels - 2));
	return 1 + (step < levels - 3 ? step : levels - 3);
}

/* Logarithmic scale without a maximum: level 1 is below 10, level 2 below 100, and so on. */
unsigned int level_decade(double number, unsigned int levels)
{
	unsigned int level = 1;
	double limit = 10;

	if (number <= 0)
		return 0;
	for (; level < levels - 1 && number >= limit; limit *= 10)
		level++;
	return level;
}

/* Returns the @most of level_octave() for numbers up to @number: a power of two, at least 1. */
double level_most(double number)
{
	double most = 1;

	while (most < number)
		most *= 2;
	return most;
}

/*
 * Logarithmic scale up to @most, which is from level_most(): the last level means more than half of
 * @most, the level below it more than a quarter, and so on down to 1. The levels below are unused:
 * a legend of reads has whole numbers.
 */
unsigned int level_octave(double number, double most, unsigned int levels)
{
	unsigned int level = levels - 1;

	if (number <= 0)
		return 0;
	for (most /= 2; level > 1 && most >= 1 && number <= most; most /= 2)
		level--;
	return level;
}
