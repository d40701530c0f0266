/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the open shards of a device.  A shard is all ranges with one label, such as a file of a
 * dataset.  It is open from its first read from the origin until it is no longer read.  These
 * functions only compute; they do no I/O.
 */
#ifndef HELPER_DAEMON_SHARDS_IN_USE_H
#define HELPER_DAEMON_SHARDS_IN_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "netlink/client.h"

/**
 * struct opening - the shards of a device
 * @shards: tree of struct shard, by label
 * @open_bytes: bytes of all open shards
 * @used: prefetched bytes that were read since opening_is_wasteful() was last true
 * @wasted: prefetched bytes that were dropped unread since opening_is_wasteful() was last true
 * @begun: the first sample is complete: the counters of a label that appears later began at 0
 */
struct opening {
	void *shards;
	uint64_t open_bytes;
	uint64_t used;
	uint64_t wasted;
	bool begun;
};

bool opening_see(struct opening *opening, const struct nl_label *label, uint64_t time,
		 uint64_t room);
void opening_shut(struct opening *opening, const char *label, bool stays);
bool opening_is_wasteful(struct opening *opening);
void opening_close(struct opening *opening, uint64_t time, uint64_t idle);
void opening_free(struct opening *opening);

#endif /* HELPER_DAEMON_SHARDS_IN_USE_H */
