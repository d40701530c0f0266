/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sectors of 'stress': each word depends on the sector's number, the id of its write and the
 * seed of its device, so that a sector shows where it is from and whether it is torn.
 */
#ifndef NEARCACHE_TEST_STRESS_SECTOR_H
#define NEARCACHE_TEST_STRESS_SECTOR_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "stress_model.h"

#define SECTOR	512U
#define STRESS_MAGIC	0x7373657274536e63ULL	/* "cnStress" */
#define STRESS_STEP	0x9e3779b97f4a7c15ULL
#define STRESS_FILLER	60

struct stress_sector {
	uint64_t magic;
	uint64_t number;
	uint64_t id;	/* id of the write: count << ID_THREAD_BITS | thread */
	uint64_t seed;	/* seed of the device */
	uint64_t filler[STRESS_FILLER];
};

_Static_assert(sizeof(struct stress_sector) == SECTOR, "a sector");

#define ID_THREAD_BITS	10

static inline unsigned int id_thread(uint64_t id)
{
	return id & ((1 << ID_THREAD_BITS) - 1);
}

/* The first word of the filler.  Each further word is STRESS_STEP more than the word before. */
static inline uint64_t sector_base(uint64_t number, uint64_t id, uint64_t seed)
{
	uint64_t x =
		(number * 0xd6e8feb86659fd93ULL ^ id) * 0xff51afd7ed558ccdULL ^
		seed;

	return (x ^ x >> 32) * 0xc4ceb9fe1a85ec53ULL;
}

static inline void sector_make(struct stress_sector *s, uint64_t number,
			       uint64_t id, uint64_t seed)
{
	uint64_t word = sector_base(number, id, seed);
	unsigned int i;

	if (id & MODEL_ZERO) {
		memset(s, 0, sizeof(*s));
		return;
	}
	s->magic = STRESS_MAGIC;
	s->number = number;
	s->id = id;
	s->seed = seed;
	for (i = 0; i < STRESS_FILLER; i++)
		s->filler[i] = word + i * STRESS_STEP;
}

static inline bool sector_zero(const struct stress_sector *s)
{
	static const struct stress_sector zero;

	return !memcmp(s, &zero, sizeof(zero));
}

/* The index of the first wrong word of the filler; STRESS_FILLER if none is wrong. */
static inline unsigned int sector_torn(const struct stress_sector *s)
{
	uint64_t word = sector_base(s->number, s->id, s->seed), wrong = 0;
	unsigned int i;

	for (i = 0; i < STRESS_FILLER; i++)
		wrong |= s->filler[i] ^ (word + i * STRESS_STEP);
	if (!wrong)
		return STRESS_FILLER;
	for (i = 0; s->filler[i] == word + i * STRESS_STEP; i++)
		;
	return i;
}

/* The id of the write in this sector, MODEL_ZERO for zeros, 0 if any byte is wrong. */
static inline uint64_t sector_id(const struct stress_sector *s, uint64_t number,
				 uint64_t seed)
{
	if (s->magic == STRESS_MAGIC && s->number == number &&
	    s->seed == seed && s->id && !(s->id & MODEL_ZERO) &&
	    sector_torn(s) == STRESS_FILLER)
		return s->id;
	return sector_zero(s) ? MODEL_ZERO : 0;
}

static inline void id_tell(uint64_t id)
{
	uint64_t count = (id & ~MODEL_ZERO) >> ID_THREAD_BITS;

	if (id & MODEL_ZERO)
		printf("zeros");
	if (!(id & MODEL_ZERO) || count)
		printf("%swrite %llu of thread %u",
		       id & MODEL_ZERO ? " by " : "", (unsigned long long)count,
		       id_thread(id));
}

/* Print which write the content of sector @number is from, and each fault of the content. */
static inline void sector_tell(const struct stress_sector *s, uint64_t number,
			       uint64_t seed)
{
	const unsigned char *c = (const void *)s;
	unsigned int torn;

	if (s->magic != STRESS_MAGIC) {
		if (sector_zero(s))
			printf("zeros");
		else
			printf("foreign data: %02x %02x %02x %02x %02x %02x %02x %02x",
			       c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
		return;
	}
	id_tell(s->id);
	if (s->number != number)
		printf(", of sector %llu", (unsigned long long)s->number);
	if (s->seed != seed)
		printf(", of another device (seed %llu)",
		       (unsigned long long)s->seed);
	torn = sector_torn(s);
	if (torn < STRESS_FILLER)
		printf(", torn at byte %zu",
		       offsetof(struct stress_sector, filler[torn]));
}

#endif /* NEARCACHE_TEST_STRESS_SECTOR_H */
