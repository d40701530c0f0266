// SPDX-License-Identifier: GPL-2.0-only
#include "heatmap/level.h"

/**
 * level_share() - the level of a part
 * @part: of @whole
 * @whole: the most there can be; 0: nothing
 * @levels: how many there are, at least 3
 *
 * Return: 0: nothing; @levels - 1: all, and only then; between, equal steps.
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

/**
 * level_decade() - the level of a number, on a scale that is the same for all
 * @number: the number
 * @levels: how many there are
 *
 * Return: 0: nothing; 1: less than 10; 2: less than 100; and so on.
 */
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

/**
 * level_octave() - the level of a number, on a scale by the largest one
 * @number: the number
 * @most: the largest one
 * @levels: how many there are
 *
 * Return: 0: nothing; @levels - 1: more than half of @most; the one below: more than a quarter
 * of it; and so on.
 */
unsigned int level_octave(double number, double most, unsigned int levels)
{
	unsigned int level = levels - 1;

	if (number <= 0)
		return 0;
	for (most /= 2; level > 1 && number <= most; most /= 2)
		level--;
	return level;
}
