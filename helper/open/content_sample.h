/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares a sample of the cached data with the origin, before a cache is opened.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_CONTENT_SAMPLE_H
#define HELPER_OPEN_CONTENT_SAMPLE_H

#include "open/members.h"
#include "ondisk/fingerprint_fs.h"

/* Default size and time of a sample. */
#define SAMPLE_BYTES	(64ULL << 20)
#define SAMPLE_MS	1000U
/* With a time limit: pages of the slot table that are read, of each of its two copies. */
#define SAMPLE_PAGES	8192U

/**
 * struct content_sample - a comparison
 * @super: superblock of @cache, valid
 * @cache: first member, open
 * @members: the other members, open
 * @origin: open origin
 * @size: bytes of the origin that may be compared
 * @written: the write intent after a crash: these regions are not compared; NULL: none
 * @content: places of metadata on the origin
 * @limit: bytes to compare, at most SAMPLE_MAX
 * @ms: time limit, milliseconds; 0: none
 * @pages: if the slot table has more pages, choose from so many; 0: no limit
 * @compared: set to the number of bytes that were compared
 * @differs: set to whether cached data differs from the origin's
 * @at: byte of the origin near which it differs
 */
struct content_sample {
	const struct super *super;
	const struct device *cache;
	const struct members *members;
	const struct device *origin;
	u64 size;
	const struct nearcache_intent *written;
	const struct fsprint_result *content;
	u64 limit;
	unsigned int ms;
	u64 pages;
	u64 compared;
	bool differs;
	u64 at;
};

int sample_compare(struct content_sample *sample);

#endif /* HELPER_OPEN_CONTENT_SAMPLE_H */
