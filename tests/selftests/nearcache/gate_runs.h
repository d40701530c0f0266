/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Make sectors (sector.h), and print sectors as runs of one generation, each "GENERATIONxCOUNT".
 * Generation 0 stands for zeros, "?" for any other invalid sector.
 */
#ifndef NEARCACHE_TEST_GATE_RUNS_H
#define NEARCACHE_TEST_GATE_RUNS_H

#include "sector.h"

static inline int64_t generation_of(const struct sector *s, uint64_t number)
{
	static const struct sector zero;

	if (!memcmp(s, &zero, SECTOR))
		return 0;
	if (s->magic != SECTOR_MAGIC || s->number != number ||
	    s->checksum != sector_sum(s))
		return -1;
	return s->generation;
}

static inline const char *runs(const struct sector *s, uint64_t first, uint64_t count)
{
	static char text[4096];
	uint64_t i, start = 0;
	size_t used = 0;

	for (i = 1; i <= count; i++) {
		int64_t generation = generation_of(s + start, first + start);

		if (i < count && generation_of(s + i, first + i) == generation)
			continue;
		if (used > sizeof(text) - 32)
			break;
		if (used)
			text[used++] = ' ';
		used += generation < 0 ?
			sprintf(text + used, "?x%d", (int)(i - start)) :
			sprintf(text + used, "%dx%d", (int)generation, (int)(i - start));
		start = i;
	}
	return text;
}

static inline void runs_make(struct sector *s, uint64_t generation, uint64_t first,
			     uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		sector_make(s + i, first + i, generation);
}

#endif /* NEARCACHE_TEST_GATE_RUNS_H */
