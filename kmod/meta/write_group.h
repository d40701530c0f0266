/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes of metadata that are in flight together. */
#ifndef NEARCACHE_META_WRITE_GROUP_H
#define NEARCACHE_META_WRITE_GROUP_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/types.h>

struct nc_cache;

/**
 * struct nc_write_group - writes to the cache device that are in flight together
 * @left: writes that have not ended, and one until nc_write_group_wait()
 * @failed: a write failed
 * @ended: all writes have ended
 */
struct nc_write_group {
	atomic_t left;
	bool failed;
	struct completion ended;
};

void nc_write_group_init(struct nc_write_group *g);
void nc_write_group_add(struct nc_write_group *g, struct nc_cache *c, u64 offset, void *buffer,
			size_t bytes);
int nc_write_group_wait(struct nc_write_group *g);

#endif /* NEARCACHE_META_WRITE_GROUP_H */
