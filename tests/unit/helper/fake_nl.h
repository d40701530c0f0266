/* SPDX-License-Identifier: GPL-2.0-only */
/* State of fake_nl.c, a fake kernel with the ranges and prefetch jobs of one device. */
#ifndef HELPER_FAKE_NL_H
#define HELPER_FAKE_NL_H

#include "netlink/client.h"

#define FAKE_RANGES	4096

/**
 * struct fake_nl - state of the kernel, faults to simulate, requests so far
 * @range: ranges in the kernel; each label is a copy
 * @count: entries in @range
 * @size: size of the device in bytes; requests beyond it fail
 * @available: bytes that may be pinned
 * @changes: number of requests to change ranges so far
 * @added: number of ranges in these requests, whether or not the request succeeded
 * @fail_change: number of the request that fails, counted from 1; 0: none fails
 * @interrupts: number of listings that will be interrupted
 * @watch: range that must stay pinned; length 0: none
 * @unpinned: how many of the requests left @watch unpinned
 * @piece: ranges of the last prefetch job
 * @pieces: entries in @piece
 * @jobs: prefetch jobs submitted
 * @no_jobs: submitting a job fails
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
