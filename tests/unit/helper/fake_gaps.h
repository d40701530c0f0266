/* SPDX-License-Identifier: GPL-2.0-only */
/* Fake record of gaps, and fake lock for it. */
#ifndef HELPER_FAKE_GAPS_H
#define HELPER_FAKE_GAPS_H

#include "open/uncached_writes.h"

/**
 * struct fake_gaps - input and calls
 * @concern: every cache may be stale
 * @error: the record cannot be read
 * @hangs: the origin does not answer
 * @locked: lock_all() was called
 * @asked: cache of the last query
 * @origin: origin of the last query
 * @ended: gaps_emptied() was called
 * @epoch: argument of gaps_emptied()
 */
struct fake_gaps {
	bool concern;
	bool error;
	bool hangs;
	bool locked;
	struct nearcache_super asked;
	char origin[DEVICE_ID];
	bool ended;
	u64 epoch;
};

extern struct fake_gaps fake_gaps;

#endif /* HELPER_FAKE_GAPS_H */
