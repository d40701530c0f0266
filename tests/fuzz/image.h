/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generates the metadata of a cache device, for the fuzzers here and for fuzz_media.c in the guest.
 */
#ifndef NEARCACHE_FUZZ_IMAGE_H
#define NEARCACHE_FUZZ_IMAGE_H

#include "meta/ondisk_check.h"

#define IMAGE_RECORDS	4U
#define IMAGE_PAGES	3U
/* Number of sectors in the first page of the write-intent bitmap; an image has only these. */
#define IMAGE_INTENT	(NEARCACHE_PAGE_SIZE / NEARCACHE_INTENT_SIZE)
#define IMAGE_WITNESS	2U

/* Content of the sectors of the write-intent bitmap that are not in the image. */
enum image_rest {
	IMAGE_REST_NONE,	/* valid, without marks */
	IMAGE_REST_ZERO,	/* damaged */
	IMAGE_REST_OLDER,	/* of the previous session */
	IMAGE_REST_NEXT,	/* of the next session */
	IMAGE_REST_COUNT,
};

/* How a session ends; IMAGE_END_STOP: a clean stop. */
enum image_end {
	IMAGE_END_STOP,
	IMAGE_END_CUT,		/* kernel crash: all writes stay */
	IMAGE_END_POWER,	/* power cut: writes that are not durable are lost */
	IMAGE_END_POWER_SOME,	/* power cut: some writes that are not durable are lost */
	IMAGE_END_COUNT,
};

/**
 * struct image - an input of fuzz_image: devices, failures and the steps of a session
 * @cache_bytes: size of the cache device
 * @origin_bytes: size of the origin
 * @sectors: length of the dm table
 * @page_at: number of each slot-table page in @page, modulo table_pages
 * @record_at: position of each commit record in the ring, modulo 16
 * @mode: mode in the dm table, modulo 3
 * @fail_at: the first I/O that fails, counted from 1; 0: none
 * @fail_count: number of I/Os after @fail_at that also fail
 * @late: what happens to the cache device before the resume; 1: formatted, 2: wiped, else nothing
 * @no_memory: the allocation in the constructor that fails, counted from 1; 0: none
 * @lbs: log2 of the cache device's logical block in sectors, modulo 4
 * @fail_who: device that fails, modulo 3: any, the cache device, the witness
 * @witness: modulo 4; 0: the dm table names no witness
 * @writes: number of calls of writes_step()
 * @end: enum image_end
 * @rest: enum image_rest
 * @witness_at: position of each record on the witness device, modulo 64
 * @script: seed of writes_step(); its low bits also select whether devices fail
 * @witness_bytes: size of the witness device
 * @copy: both superblock copies
 * @record: commit records; the other records of the ring are zero
 * @page: slot-table pages, by copy; the other pages are zero
 * @intent: first sectors of the write-intent bitmap
 * @known: records on the witness device; the other records are zero
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
