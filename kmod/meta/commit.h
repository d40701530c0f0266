/* SPDX-License-Identifier: GPL-2.0-only */
/* Commits: the slot table on the medium follows the one in memory. */
#ifndef NEARCACHE_META_COMMIT_H
#define NEARCACHE_META_COMMIT_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "meta/format.h"

struct nc_cache;
struct work_struct;

/* Changes of the table reach the medium at the latest after so long: what a crash
 * may cost of what was cached last.  Less than the 5 s that are promised, for the
 * commit itself.
 */
#define NC_COMMIT_PERIOD	(4 * HZ)

/**
 * struct nc_commit - state of the commits
 * @lock: one commit at a time; taken under nc_cache.life, or alone
 * @sequence: number of the last record written
 * @known: number of a record that the medium has, for sure
 * @behind: a crash kept a commit from the first of several devices that others were told of:
 *	@sequence is its number, and @record still the one found at load
 * @offset: of the ring, bytes
 * @record: to write, or the last one found at load; from vmalloc()
 * @live: the session's commits keep the medium's table such that a crash leaves a
 *	warm cache; changes under nc_cache.life
 * @armed: c->commit_work is queued
 * @failed: a commit failed since the cache went live
 *
 * @behind and @record: @lock; alone while the cache is loaded.
 */
struct nc_commit {
	struct mutex lock;	/* see above */
	u64 sequence;
	u64 known;
	u64 offset;
	bool behind;
	struct nearcache_commit *record;
	bool live;
	bool armed;
	bool failed;
};

int nc_commit_init(struct nc_commit *commit);
void nc_commit_destroy(struct nc_commit *commit);
const struct nearcache_commit *nc_commit_load(struct nc_cache *c);
int nc_commit_catch_up(struct nc_cache *c);
int nc_commit_run(struct nc_cache *c);
void nc_commit_arm(struct nc_cache *c);
void nc_commit_stop(struct nc_cache *c);
void nc_commit_work(struct work_struct *work);

#endif /* NEARCACHE_META_COMMIT_H */
