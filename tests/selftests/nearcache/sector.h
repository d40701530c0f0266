/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Self-describing sectors: each 512 bytes contain their sector number and generation, and a
 * checksum, so that a reader can check every byte.
 */
#ifndef NEARCACHE_TEST_SECTOR_H
#define NEARCACHE_TEST_SECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SECTOR		512U
#define SECTOR_MAGIC	0x726f746365536e63ULL	/* "cnSector" */

struct sector {
	uint64_t magic;
	uint64_t number;
	uint64_t generation;
	uint64_t checksum;	/* checksum of the other words */
	uint64_t filler[60];
};

_Static_assert(sizeof(struct sector) == SECTOR, "a sector");

static inline uint64_t sector_sum(const struct sector *s)
{
	uint64_t sum = s->magic ^ s->number * 3 ^ s->generation * 7;
	unsigned int i;

	for (i = 0; i < 60; i++)
		sum = sum * 31 + s->filler[i];
	return sum;
}

static inline void sector_make(struct sector *s, uint64_t number,
			       uint64_t generation)
{
	uint64_t word = (number + 1) * 0x9e3779b97f4a7c15ULL ^ generation;
	unsigned int i;

	s->magic = SECTOR_MAGIC;
	s->number = number;
	s->generation = generation;
	for (i = 0; i < 60; i++)
		s->filler[i] = word += 0x632be59bd9b4e019ULL;
	s->checksum = sector_sum(s);
}

/* Print in which way a sector differs from sector @number of @generation. */
static inline void sector_tell(const struct sector *s, uint64_t number,
			       uint64_t generation)
{
	static const struct sector zero;
	const unsigned char *c = (const void *)s;

	printf("sector %llu, generation %llu expected: ",
	       (unsigned long long)number, (unsigned long long)generation);
	if (!memcmp(s, &zero, SECTOR))
		printf("it is zero\n");
	else if (s->magic == SECTOR_MAGIC && s->checksum == sector_sum(s))
		printf("it is sector %llu, generation %llu\n",
		       (unsigned long long)s->number,
		       (unsigned long long)s->generation);
	else
		printf("it is damaged or foreign: %02x %02x %02x %02x\n",
		       c[0], c[1], c[2], c[3]);
}

/* Are the @count sectors from @number on all of @generation?  If not, print the first bad one. */
static inline bool sectors_good(const void *data, uint64_t number,
				uint64_t count, uint64_t generation)
{
	const struct sector *s = data;
	struct sector expected;

	for (; count; count--, number++, s++) {
		sector_make(&expected, number, generation);
		if (memcmp(s, &expected, SECTOR)) {
			sector_tell(s, number, generation);
			return false;
		}
	}
	return true;
}

/* xorshift64*; @state: seed and state of the sequence. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state ? *state : 1;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dULL;
}

#endif /* NEARCACHE_TEST_SECTOR_H */
