/* SPDX-License-Identifier: GPL-2.0-only */
/* Input and calls of the fake functions of fake_gaps.c: the record of gaps and its lock. */
#ifndef HELPER_FAKE_GAPS_H
#define HELPER_FAKE_GAPS_H

#include "open/uncached_writes.h"

/**
 * struct fake_gaps - input and calls
 * @concern: gaps_concern() reports that a gap makes the cache stale
 * @error: calls of gaps_concern() and gaps_emptied() fail
 * @hangs: lock_all() fails
 * @locked: lock_all() was called
 * @asked: superblock in the last call of gaps_concern()
 * @origin: origin in the last call of gaps_concern()
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
