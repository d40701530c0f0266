// SPDX-License-Identifier: GPL-2.0-only
/*
 * Belady's MIN with the choice not to keep: of what is cached and what was just read, goes what
 * is read again last. The most hits of any cache that fills by reads, also of one that knows
 * all reads to come.
 */
#include <stdlib.h>

#include "optimum.h"

#define NEVER	UINT32_MAX

/**
 * struct slots - what is cached
 * @block: in each slot
 * @next: which read of it comes next
 * @of: slot of each block, NEVER: not cached
 * @used: slots
 * @count: slots that there are
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

/* Of each read, which read is the next one of its block. */
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
 * optimum() - which reads hit at best
 * @r: reads
 * @slots: blocks that are cached at most
 * @hit: of each read, set to whether it hits
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
