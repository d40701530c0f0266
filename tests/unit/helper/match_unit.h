/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of open/origin_match.c and open/witness_proof.c. fake_match.c fakes the origin, the cache
 * device and the witness, and makes matches with and without differences.
 */
#ifndef HELPER_MATCH_UNIT_H
#define HELPER_MATCH_UNIT_H

#include <string.h>

#include "fake_gaps.h"
#include "lib/error.h"
#include "meta/recover.h"
#include "ondisk/fingerprint_fs.h"
#include "open/content_sample.h"
#include "open/origin_match.h"
#include "open/origin_record.h"
#include "said.h"

#define BYTES	(64ULL << 20)

/**
 * struct fake_match - answers of the fakes, and their calls
 * @sb: superblock on the cache device
 * @content: each byte of the fingerprint of the ends
 * @looks: number of times that the fingerprint of the ends was taken
 * @found: number of devices that are the origin
 * @records: calls of dataset_record()
 * @recorded: last change that dataset_record() got
 * @fs_type: type of the file system on the origin
 * @fs_content: each byte of the fingerprint of that file system
 * @fs_plain_type: type of a file system on the whole origin, if @fs_type is of partitions
 * @fs_plain: each byte of the fingerprint of that file system
 * @samples: calls of sample_compare()
 * @sampled: last argument of sample_compare()
 * @sample_finds: sample_compare() finds a difference
 * @intent: write-intent bitmap
 * @unreadable: number of the unreadable page of @intent; -1: none
 * @before: record on the witness that the superblock names; NULL: that witness is missing
 */
struct fake_match {
	struct nearcache_super sb;
	unsigned char content;
	int looks;
	int found;
	int records;
	struct dataset_change recorded;
	enum nearcache_fingerprint fs_type;
	unsigned char fs_content;
	enum nearcache_fingerprint fs_plain_type;
	unsigned char fs_plain;
	int samples;
	struct content_sample sampled;
	bool sample_finds;
	struct nearcache_intent intent[NC_RECOVER_INTENT];
	int unreadable;
	const struct nearcache_witness *before;
};

extern struct fake_match fake_match;

struct origin_match fitting(void);
struct origin_match differing(unsigned int bits);

#endif /* HELPER_MATCH_UNIT_H */
