// SPDX-License-Identifier: GPL-2.0-only
/* Fake of open/uncached_writes.c and lock_all(); see fake_gaps.h. */
#include "fake_gaps.h"

#include <stdio.h>

#include "lib/error.h"
#include "block/lock.h"

struct fake_gaps fake_gaps;

int lock_all(const struct device *origin)
{
	(void)origin;
	fake_gaps.locked = true;
	return fake_gaps.hangs ? fail(CODE_DEVICE, "no answer") : 0;
}

int gaps_concern(const struct nearcache_super *sb, const char *origin,
		 bool *concern)
{
	fake_gaps.asked = *sb;
	snprintf(fake_gaps.origin, sizeof(fake_gaps.origin), "%s", origin);
	*concern = fake_gaps.concern;
	return fake_gaps.error ? fail(CODE_DEVICE, "gaps.json") : 0;
}

int gaps_emptied(const struct nearcache_super *sb, u64 epoch)
{
	(void)sb;
	fake_gaps.ended = true;
	fake_gaps.epoch = epoch;
	return fake_gaps.error ? fail(CODE_DEVICE, "gaps.json") : 0;
}
