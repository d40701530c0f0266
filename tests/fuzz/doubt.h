/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of the data that a load must not trust.  It follows the disk format (nearcache_format.h)
 * and uses no function of the module except the check of superblocks, so that it does not repeat a
 * bug of the module.
 */
#ifndef NEARCACHE_FUZZ_DOUBT_H
#define NEARCACHE_FUZZ_DOUBT_H

#include "kernel.h"
#include "meta/ondisk_check.h"

#define DOUBT_SECTORS	(NEARCACHE_INTENT_AREA_SIZE / NEARCACHE_INTENT_SIZE)

/**
 * struct doubt - regions of the origin that a load must not trust
 * @super: superblock that the other fields belong to
 * @all: all regions are in doubt
 * @region: bytes of a region
 * @full: per bitmap sector: all of its regions are in doubt
 * @area: write-intent bitmap: each set bit puts its region in doubt
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
