/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The metadata of a cache device, as the fuzzers here and those in the guest make it and put
 * it onto a device.
 */
#ifndef NEARCACHE_FUZZ_IMAGE_H
#define NEARCACHE_FUZZ_IMAGE_H

#include "meta/format.h"

#define IMAGE_RECORDS	4U
#define IMAGE_PAGES	3U
/* One page of the write-intent bitmap: its first sectors. */
#define IMAGE_INTENT	(NEARCACHE_PAGE_SIZE / NEARCACHE_INTENT_SIZE)
#define IMAGE_WITNESS	2U

/* What the other sectors of the write-intent bitmap are. */
enum image_rest {
	IMAGE_REST_NONE,	/* sound, and nothing is marked */
	IMAGE_REST_ZERO,	/* damaged */
	IMAGE_REST_OLDER,	/* of the session before */
	IMAGE_REST_NEXT,	/* of the next one */
	IMAGE_REST_COUNT,
};

/* How a session ends. */
enum image_end {
	IMAGE_END_STOP,
	IMAGE_END_CUT,		/* as a crash of the kernel: what was written stays */
	IMAGE_END_POWER,	/* what is not durable is lost */
	IMAGE_END_POWER_SOME,	/* some of that is */
	IMAGE_END_COUNT,
};

/**
 * struct image - an input
 * @cache_bytes: size of the cache device
 * @origin_bytes: size of the origin
 * @sectors: of the table line
 * @page_at: number of each page, modulo table_pages
 * @record_at: place of each record in the ring, modulo 16
 * @mode: of the table line, modulo 3
 * @fail_at: number of the first I/O of the cache device that fails; 0: none does
 * @fail_count: I/Os that fail
 * @late: 1: formatted anew between load and resume, 2: wiped there
 * @no_memory: number of the allocation of the constructor that fails; 0: none does
 * @lbs: log2 of the cache device's logical block in sectors, modulo 4
 * @fail_who: whose I/O fails, modulo 3: anyone's, the cache device's, the witness's
 * @witness: modulo 4: 0: the table names none
 * @writes: steps of writers and of what the module does for them, see writes.c
 * @end: enum image_end
 * @rest: enum image_rest
 * @witness_at: place of each record on the witness device, modulo 64
 * @script: what the steps are
 * @witness_bytes: size of the witness device
 * @copy: superblocks
 * @record: commit records; the ring's others are zero
 * @page: by copy; the table's others are zero
 * @intent: first sectors of the write-intent bitmap
 * @known: records on the witness device; all others are zero
 */
struct image {
	u64 cache_bytes, origin_bytes, sectors, witness_bytes, script;
	u64 page_at[IMAGE_PAGES];
	u8 record_at[IMAGE_RECORDS];
	u8 witness_at[IMAGE_WITNESS];
	u8 mode, fail_at, fail_count, late, lbs, no_memory;
	u8 fail_who, witness, writes, end, rest;
	u8 unused[7];
	struct nearcache_super copy[2];
	struct nearcache_commit record[IMAGE_RECORDS];
	struct nearcache_page page[2][IMAGE_PAGES];
	struct nearcache_intent intent[IMAGE_INTENT];
	struct nearcache_witness known[IMAGE_WITNESS];
};

void image_create(struct image *im, u64 *random, u64 cache_bytes, u64 origin_bytes, u32 block);
void image_fill(struct image *im, u64 *random);
void image_write(struct image *im, u64 *random);
void image_seal(struct image *im);
void image_mutate(struct image *im, u64 *random);
void image_damage(struct image *im, u64 *random);
void image_place(const struct image *im);
void image_rest_sector(const struct image *im, const struct nearcache_super *sb, u32 index,
		       struct nearcache_intent *sector);
u64 image_random(u64 *state);

#endif /* NEARCACHE_FUZZ_IMAGE_H */
