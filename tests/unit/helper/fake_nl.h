/* SPDX-License-Identifier: GPL-2.0-only */
/* Fake kernel: ranges of one device, and prefetch jobs. */
#ifndef HELPER_FAKE_NL_H
#define HELPER_FAKE_NL_H

#include "netlink/client.h"

#define FAKE_RANGES	4096

/**
 * struct fake_nl - what the kernel knows, and how it answers
 * @range: ranges; labels are their own copies
 * @count: how many
 * @size: bytes of the device; what ends behind them is out of range
 * @available: bytes that may be pinned
 * @changes: requests to change ranges
 * @added: ranges to add in these
 * @fail_change: number of the request that fails, from 1
 * @interrupts: lists that are interrupted
 * @watch: bytes that are to be pinned all the time
 * @unpinned: how often they were not, after a request
 * @piece: of the last job
 * @pieces: how many; of all jobs
 * @jobs: how many were submitted
 * @no_jobs: none can be
 */
struct fake_nl {
	struct nl_range range[FAKE_RANGES];
	size_t count;
	uint64_t size;
	uint64_t available;
	unsigned int changes;
	size_t added;
	unsigned int fail_change;
	unsigned int interrupts;
	struct range watch;
	unsigned int unpinned;
	struct range piece[FAKE_RANGES];
	size_t pieces;
	unsigned int jobs;
	bool no_jobs;
};

extern struct fake_nl fake_nl;

void fake_nl_reset(uint64_t size);
void fake_nl_give(uint64_t start, uint64_t length, const char *label,
		  uint32_t flags);
void fake_nl_take(uint64_t start);
size_t fake_nl_count(uint64_t start, uint64_t length, const char *label,
		     uint32_t flags);

#endif /* HELPER_FAKE_NL_H */
