/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The metadata of a cache device, as the fuzzers here and those in the guest make it and put
 * it onto a device.
 */
#ifndef NEARCACHE_FUZZ_IMAGE_H
#define NEARCACHE_FUZZ_IMAGE_H

#include "format.h"

#define IMAGE_RECORDS	4U
#define IMAGE_PAGES	3U

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
 * @copy: superblocks
 * @record: commit records; the ring's others are zero
 * @page: by copy; the table's others are zero
 */
struct image {
	u64 cache_bytes, origin_bytes, sectors;
	u64 page_at[IMAGE_PAGES];
	u8 record_at[IMAGE_RECORDS];
	u8 mode, fail_at, fail_count, late, lbs, no_memory;
	u8 unused[6];
	struct nearcache_super copy[2];
	struct nearcache_commit record[IMAGE_RECORDS];
	struct nearcache_page page[2][IMAGE_PAGES];
};

void image_create(struct image *im, u64 *random, u64 cache_bytes, u64 origin_bytes, u32 block);
void image_fill(struct image *im, u64 *random);
void image_seal(struct image *im);
void image_mutate(struct image *im, u64 *random);
void image_damage(struct image *im, u64 *random);
void image_place(const struct image *im);
u64 image_random(u64 *state);

#endif /* NEARCACHE_FUZZ_IMAGE_H */
