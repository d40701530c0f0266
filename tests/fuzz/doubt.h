/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a load may not trust of a cache device, as the format has it: but for the judge of
 * superblocks without a function of the module.
 */
#ifndef NEARCACHE_FUZZ_DOUBT_H
#define NEARCACHE_FUZZ_DOUBT_H

#include "kernel.h"
#include "meta/format.h"

#define DOUBT_SECTORS	(NEARCACHE_INTENT_AREA_SIZE / NEARCACHE_INTENT_SIZE)

/**
 * struct doubt - what is in doubt
 * @super: the superblock that counts
 * @all: everything
 * @region: bytes
 * @full: all regions of this sector
 * @area: the write-intent bitmap
 */
struct doubt {
	struct nearcache_super super;
	bool all;
	u64 region;
	bool full[DOUBT_SECTORS];
	struct nearcache_intent area[DOUBT_SECTORS];
};

bool doubt_read(struct doubt *d, int copy, bool witness, bool durable);
bool doubt_of(const struct doubt *d, u64 from, u64 to);
void doubt_witness_write(u64 offset, const void *record);

#endif /* NEARCACHE_FUZZ_DOUBT_H */
