/* SPDX-License-Identifier: GPL-2.0-only */
/* Commits: durable writes of the changed slot table pages. */
#ifndef NEARCACHE_META_COMMIT_H
#define NEARCACHE_META_COMMIT_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "meta/ondisk_check.h"

struct nc_cache;
struct work_struct;

/* Jiffies from a change of the slot table to the commit: a crash loses only fills newer than this.
 * The documented limit is 5 s; the commit itself has the remaining second.
 */
#define NC_COMMIT_PERIOD	(4 * HZ)

/**
 * struct nc_commit - state of the commits
 * @lock: one commit at a time; taken under nc_life.lock, or alone
 * @sequence: number of the last record written
 * @known: highest record number that the medium certainly has
 * @behind: a crash came after a commit was announced to the other members and before its first
 *	record.  Then @sequence is the second number of that commit, @record the last record before
 * @offset: start of the ring of records, bytes
 * @record: record to write, or the last one found at load; from vmalloc()
 * @live: commits keep the slot table correct, so the cache is warm after a crash; changes
 *	under nc_life.lock
 * @armed: nc_workers.commit is queued
 * @failed: a commit failed since the cache went live, and no other commit may start
 *
 * @lock protects @behind and @record, except during the load of the cache.
 */
struct nc_commit {
	struct mutex lock;	/* held by the one commit that runs */
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
int nc_commit_confirm(struct nc_cache *c);
int nc_commit_catch_up(struct nc_cache *c);
int nc_commit_run(struct nc_cache *c);
void nc_commit_stop(struct nc_cache *c);
void nc_commit_again(struct nc_cache *c);
void nc_commit_work(struct work_struct *work);

#endif /* NEARCACHE_META_COMMIT_H */
