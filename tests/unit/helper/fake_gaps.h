/* SPDX-License-Identifier: GPL-2.0-only */
/* Gaps that are only pretended, and the lock that they are looked at under. */
#ifndef HELPER_FAKE_GAPS_H
#define HELPER_FAKE_GAPS_H

#include "open/uncached_writes.h"

/**
 * struct fake_gaps - what there is, and what was done
 * @concern: whatever is asked about may be stale
 * @error: nobody knows
 * @hangs: the origin does not answer
 * @locked: lock_all() was called
 * @asked: what was asked about last
 * @origin: and of which origin
 * @ended: gaps_emptied() was called
 * @epoch: with that
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
