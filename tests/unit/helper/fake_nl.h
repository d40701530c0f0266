/* SPDX-License-Identifier: GPL-2.0-only */
/* Fake kernel: ranges of one device, and prefetch jobs. */
#ifndef HELPER_FAKE_NL_H
#define HELPER_FAKE_NL_H

#include "nl.h"

#define FAKE_RANGES	4096
/* Maximum number of ranges deleted by one request. */
#define FAKE_CHUNK	2

/**
 * struct fake_nl - state of the fake kernel, and its answers
 * @range: ranges; it owns copies of the labels
 * @count: entries in @range
 * @size: size of the device; a range that ends behind it is refused
 * @available: bytes that may be pinned
 * @adds: requests to add ranges
 * @added: ranges in these requests
 * @fail_add: number of the add request that fails, from 1
 * @deletes: requests to delete ranges
 * @fail_delete: number of the delete request that fails, from 1
 * @interrupts: number of list requests to interrupt
 * @watch: bytes that must stay pinned
 * @unpinned: requests after which @watch was not pinned
 * @piece: ranges of the last job
 * @pieces: total number of ranges of all jobs
 * @jobs: jobs submitted
 * @no_jobs: submitting a job fails
 */
struct fake_nl {
	struct nl_range range[FAKE_RANGES];
	size_t count;
	uint64_t size;
	uint64_t available;
	unsigned int adds;
	size_t added;
	unsigned int fail_add;
	unsigned int deletes;
	unsigned int fail_delete;
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
