// SPDX-License-Identifier: GPL-2.0-only
/*
 * Belady's MIN with optional admission: of the cached blocks and the block just read, a full cache
 * drops the one whose next read is farthest. No cache that is filled by reads has more hits, even
 * if it knows all future reads.
 */
#include <stdlib.h>

#include "optimum.h"

#define NEVER	UINT32_MAX

/**
 * struct slots - cached blocks
 * @block: block in each slot
 * @next: index of the next read of the block in each slot
 * @of: slot of each block; NEVER: not cached
 * @used: slots in use
 * @count: number of slots, used or not
 */
struct slots {
	uint32_t *block;
	uint32_t *next;
	uint32_t *of;
	uint32_t used;
	uint32_t count;
};

static uint32_t *array(uint32_t count)
{
	uint32_t *words = malloc((count + 1ULL) * sizeof(*words));

	if (!words)
		abort();
	return words;
}

/* For each read, the index of the next read of the same block; NEVER after its last read. */
static uint32_t *next_reads(const struct reads *r)
{
	uint32_t *next = array(r->count), *seen = array(r->blocks), i;

	for (i = 0; i < r->blocks; i++)
		seen[i] = NEVER;
	for (i = r->count; i--;) {
		next[i] = seen[r->block[i]];
		seen[r->block[i]] = i;
	}
	free(seen);
	return next;
}

static uint32_t farthest(const struct slots *s)
{
	uint32_t found = 0, i;

	for (i = 1; i < s->used; i++)
		if (s->next[i] > s->next[found])
			found = i;
	return found;
}

static void keep(struct slots *s, uint32_t block, uint32_t next)
{
	uint32_t i = s->used;

	if (!s->count)
		return;
	if (i < s->count) {
		s->used++;
	} else {
		i = farthest(s);
		if (next >= s->next[i])
			return;
		s->of[s->block[i]] = NEVER;
	}
	s->block[i] = block;
	s->next[i] = next;
	s->of[block] = i;
}

/**
 * optimum() - find the reads that hit in an optimal cache
 * @r: reads
 * @slots: size of the cache in blocks
 * @hit: output: for each read 1 if it hits, 0 if it misses
 */
void optimum(const struct reads *r, uint32_t slots, uint8_t *hit)
{
	struct slots s = {
		.block = array(slots),
		.next = array(slots),
		.of = array(r->blocks),
		.count = slots,
	};
	uint32_t *next = next_reads(r), i;

	for (i = 0; i < r->blocks; i++)
		s.of[i] = NEVER;
	for (i = 0; i < r->count; i++) {
		uint32_t block = r->block[i];

		hit[i] = s.of[block] != NEVER;
		if (hit[i])
			s.next[s.of[block]] = next[i];
		else
			keep(&s, block, next[i]);
	}
	free(s.block);
	free(s.next);
	free(s.of);
	free(next);
}
