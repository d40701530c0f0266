// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commits.  A batch of slot table pages reaches the medium in these steps; doc/format.md
 * says what a crash after each step leaves:
 *
 *	1. build the pages from the current slots
 *	2. flush the cache device and the other members, so that the data that the pages
 *	   describe is durable; then write a record that names the pages
 *	3. write the pages, each over its older copy
 *	4. flush, then write a record that names no page: the batch is complete
 *
 * Only after step 4 may slots evicted before step 1 get other blocks, so that the medium
 * never describes a slot's content wrongly.
 */
#include <linux/blkdev.h>
#include <linux/vmalloc.h>

#include "cache.h"
#include "meta/commit.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "meta/recover.h"

/* May sleep.  Return: 0 or -ENOMEM; in both cases the caller must call nc_commit_destroy(). */
int nc_commit_init(struct nc_commit *commit)
{
	mutex_init(&commit->lock);
	commit->record = vzalloc(NEARCACHE_PAGE_SIZE);
	return commit->record ? 0 : -ENOMEM;
}

void nc_commit_destroy(struct nc_commit *commit)
{
	vfree(commit->record);
}

/* Read the last commit record into the table's buffer.  Returns NULL if there is none.  @failed:
 * set to true if not all records can be read.
 */
static const struct nearcache_commit *read_last_record(struct nc_cache *c, bool *failed)
{
	struct nc_commit *commit = &c->meta->commit;
	struct nearcache_page *ring = c->meta->table.buffer;
	u32 i;

	/* Read record by record: after a crash a single sector may be unreadable. */
	for (i = 0; i < NC_RECOVER_RING; i++)
		if (nc_super_io(c->meta->super.io, c->dev.bdev,
				REQ_OP_READ | REQ_META,
				commit->offset + i * NEARCACHE_PAGE_SIZE,
				&ring[i], NEARCACHE_PAGE_SIZE)) {
			memset(&ring[i], 0, NEARCACHE_PAGE_SIZE);
			*failed = true;
		}
	return nc_recover_last((void *)ring, c->dev.uuid);
}

/* Is the last record on the medium the one that was last read or written?  May sleep.  Return: 0:
 * yes; -ESTALE: no; -EIO: that record may be one that cannot be read.
 */
int nc_commit_confirm(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;
	const struct nearcache_commit *last;
	bool same, failed = false;

	mutex_lock(&commit->lock);
	last = read_last_record(c, &failed);
	same = (last ? le64_to_cpu(last->sequence) : 0) == commit->known;
	mutex_unlock(&commit->lock);
	if (same)
		return 0;
	return failed ? -EIO : -ESTALE;
}

/* Find the last commit record, after the superblock was read.  Returns NULL if there is none. */
const struct nearcache_commit *nc_commit_load(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;
	bool failed = false;
	const struct nearcache_commit *last = read_last_record(c, &failed);

	commit->behind = false;
	commit->known = 0;
	commit->sequence =
		le64_to_cpu(c->meta->super.sb->commit_sequence);
	if (!last) {
		nc_record_init(commit->record, c->dev.uuid, 0);
		return NULL;
	}
	commit->sequence = max(commit->sequence, le64_to_cpu(last->sequence));
	commit->known = le64_to_cpu(last->sequence);
	memcpy(commit->record, last, sizeof(*last));
	return commit->record;
}

/* Name each page of the batch and the copy to write: if a crash tears that copy, the load uses the
 * other one.  Leave out pages that are written to both copies: neither copy of these is safe.
 */
static void name_pages(const struct nc_table *t,
		       struct nearcache_commit *record)
{
	u32 i, n = 0;

	for (i = 0; i < t->batched; i++) {
		u64 page = t->batch[i];

		if (test_bit(page, t->both))
			continue;
		if (!test_bit(page, t->current_copy))
			page |= NEARCACHE_COMMIT_COPY_1;
		record->page[n++] = cpu_to_le64(page);
	}
	record->count = cpu_to_le32(n);
}

static int write_record(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;
	u64 place = commit->sequence % NC_RECOVER_RING;
	int r;

	lockdep_assert_held(&commit->lock);
	nc_record_seal(commit->record);
	r = nc_super_io(c->meta->super.io, c->dev.bdev,
			REQ_OP_WRITE | REQ_META | REQ_PREFLUSH | REQ_FUA,
			commit->offset + place * NEARCACHE_PAGE_SIZE,
			commit->record, NEARCACHE_PAGE_SIZE);
	if (!r)
		WRITE_ONCE(commit->known, commit->sequence);
	commit->behind = commit->behind && r;
	return r;
}

/**
 * nc_commit_catch_up() - record on the first member a commit that only other members know
 * @c: live cache, suspended, just loaded
 *
 * A crash came after this commit was announced to the other members, and before its first
 * record.  nc_members_begun() reserves both of its numbers.  So the next commit would be announced
 * with a number more than one above the first member's last record, and a second crash would
 * leave members that do not match.  Therefore this writes the last record again, with the second
 * number.  The record names the same pages as before, which the next commit has yet to write.
 *
 * Context: may sleep; nc_life.lock.
 * Return: 0 or -EIO.
 */
int nc_commit_catch_up(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;
	int r = 0;

	mutex_lock(&commit->lock);
	if (commit->behind) {
		commit->record->sequence = cpu_to_le64(commit->sequence);
		r = nc_members_catch_up(c);
		if (!r)
			r = write_record(c);
	}
	mutex_unlock(&commit->lock);
	return r;
}

/* Steps 2 to 4.  Writes the checksums before step 2, whose flush makes them durable. */
static int commit_batch(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;
	struct nc_table *t = &c->meta->table;
	int r;

	WRITE_ONCE(commit->sequence, commit->sequence + 1);
	nc_record_init(commit->record, c->dev.uuid, commit->sequence);
	name_pages(t, commit->record);
	r = nc_sums_write(c);
	if (!r)
		r = nc_members_announce(c, false);
	if (!r)
		r = write_record(c);
	if (!r)
		r = nc_table_write(c, t);
	if (!r) {
		WRITE_ONCE(commit->sequence, commit->sequence + 1);
		nc_record_init(commit->record, c->dev.uuid, commit->sequence);
		r = write_record(c);
	}
	if (!r)
		r = nc_members_announce(c, true);
	nc_table_written(t, !r);
	if (!r)
		nc_count(c, COMMITS);
	return r;
}

/**
 * nc_commit_run() - write all dirty slot table pages
 * @c: live cache
 *
 * If it returns 0, everything that was dirty at the call is durable, and slots
 * that were not in the index at the call may be overwritten.
 *
 * Context: may sleep; waits for the cache device.
 * Return: 0; -EIO: the table on the medium is older, but consistent.
 */
int nc_commit_run(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;
	u64 from = 0;
	bool more;
	int r = 0;

	/* Another caller may commit some of our dirty pages.  Once we have the lock, its batch is
	 * complete, and these pages are durable.
	 */
	do {
		mutex_lock(&commit->lock);
		more = !commit->failed &&
		       READ_ONCE(c->hot.state) != NEARCACHE_BYPASS &&
		       nc_table_collect(c, &c->meta->table, &from,
					commit->sequence + 1);
		if (more && commit_batch(c))
			commit->failed = true;
		if (commit->failed || READ_ONCE(c->hot.state) == NEARCACHE_BYPASS)
			r = -EIO;
		mutex_unlock(&commit->lock);
	} while (more && !r);
	return r;
}

/**
 * nc_commit_stop() - stop the periodic commits
 * @c: live cache, being suspended; nc_life.lock is held, so that no message
 *	dirties a page meanwhile
 *
 * Context: may sleep.
 */
void nc_commit_stop(struct nc_cache *c)
{
	WRITE_ONCE(c->meta->commit.live, false);
	cancel_delayed_work_sync(&c->workers.commit);
	c->meta->commit.armed = false;
}

/* Queue the periodic commit again after a system sleep, in which it did nothing.  Context:
 * nc_life.lock.
 */
void nc_commit_again(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;

	if (!READ_ONCE(commit->live))
		return;
	WRITE_ONCE(commit->armed, true);
	queue_delayed_work(c->workers.cache, &c->workers.commit, NC_COMMIT_PERIOD);
}

/* The periodic commit.  A bypassed cache needs none: its slots are not overwritten any more, so the
 * table on the medium stays correct.
 */
void nc_commit_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work),
					  struct nc_cache, workers.commit);

	/* nc_commit_again() follows. */
	if (READ_ONCE(c->life.asleep))
		return;
	WRITE_ONCE(c->meta->commit.armed, false);
	/* Clear @armed, then find pages of callers that saw @armed set: pairs with arm_commit(). */
	smp_mb();
	if (READ_ONCE(c->hot.state) != NEARCACHE_BYPASS && nc_commit_run(c))
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
}
