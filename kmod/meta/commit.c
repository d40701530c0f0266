// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commits.  A batch of table pages reaches the medium in these steps; what a
 * crash after each leaves is in doc/format.md:
 *
 *	1. the pages are built from the slots as they are
 *	2. a record that names the pages; a flush of the device, and of those that
 *	   the cache has besides, goes before it, so that the data that the pages
 *	   speak of is durable by then
 *	3. the pages, each over its older copy
 *	4. a record that names nothing: the batch is over; a flush goes before it, too
 *
 * Only then slots that were evicted may be given to other blocks: the medium
 * never says that a slot holds what it does not.
 */
#include <linux/blkdev.h>
#include <linux/vmalloc.h>

#include "cache.h"
#include "meta/commit.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "meta/recover.h"

/**
 * nc_commit_init() - room for records
 * @commit: zeroed
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; nc_commit_destroy() in either case.
 */
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

/**
 * nc_commit_load() - what the last commit was doing
 * @c: live cache, its superblock read
 *
 * Return: its record, or NULL.
 */
const struct nearcache_commit *nc_commit_load(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;
	struct nearcache_page *ring = c->meta->table.buffer;
	const struct nearcache_commit *last;
	u32 i;

	commit->behind = false;
	commit->sequence =
		le64_to_cpu(c->meta->super.sb->commit_sequence);
	/* One by one: a crash may leave a sector that cannot be read. */
	for (i = 0; i < NC_RECOVER_RING; i++)
		if (nc_super_io(c->meta->super.io, c->bdev,
				REQ_OP_READ | REQ_META,
				commit->offset + i * NEARCACHE_PAGE_SIZE,
				&ring[i], NEARCACHE_PAGE_SIZE))
			memset(&ring[i], 0, NEARCACHE_PAGE_SIZE);
	last = nc_recover_last((void *)ring, c->uuid);
	if (!last) {
		nc_record_init(commit->record, c->uuid, 0);
		return NULL;
	}
	commit->sequence = max(commit->sequence, le64_to_cpu(last->sequence));
	commit->known = le64_to_cpu(last->sequence);
	memcpy(commit->record, last, sizeof(*last));
	return commit->record;
}

/* Pages whose older copy may be used should the newer one be torn: not those
 * of which both are written.
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
	r = nc_super_io(c->meta->super.io, c->bdev,
			REQ_OP_WRITE | REQ_META | REQ_PREFLUSH | REQ_FUA,
			commit->offset + place * NEARCACHE_PAGE_SIZE,
			commit->record, NEARCACHE_PAGE_SIZE);
	if (!r)
		WRITE_ONCE(commit->known, commit->sequence);
	commit->behind = commit->behind && r;
	return r;
}

/**
 * nc_commit_catch_up() - the first of several devices is to know of the last commit that was begun
 * @c: live cache, suspended, just loaded
 *
 * Its number is not given again, see nc_members_begun(): so others would be told a number
 * that is too high for what the first one says, and another crash before that knows more
 * would leave devices that do not fit.  The last record gets the number by which the commit
 * would have ended, and names what it named: those pages are still to be written.
 *
 * Context: may sleep; nc_cache.life.
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

/* Steps 2 to 4.  Before them the sums of what the pages say is valid: the first
 * record's flush makes them durable.
 */
static int commit_batch(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;
	struct nc_table *t = &c->meta->table;
	int r;

	WRITE_ONCE(commit->sequence, commit->sequence + 1);
	nc_record_init(commit->record, c->uuid, commit->sequence);
	name_pages(t, commit->record);
	r = nc_sums_write(c);
	if (!r)
		r = nc_members_tell(c, false);
	if (!r)
		r = write_record(c);
	if (!r)
		r = nc_table_write(c, t);
	if (!r) {
		WRITE_ONCE(commit->sequence, commit->sequence + 1);
		nc_record_init(commit->record, c->uuid, commit->sequence);
		r = write_record(c);
	}
	if (!r)
		r = nc_members_tell(c, true);
	nc_table_written(t, !r);
	if (!r)
		nc_count(c, COMMITS);
	return r;
}

/**
 * nc_commit_run() - bring the medium's table up to date
 * @c: live cache
 *
 * All that was dirty at the call is durable at the return, and slots that were
 * not in the index by then may be overwritten.
 *
 * Context: may sleep; waits for the cache device.
 * Return: 0 or -EIO; then the table on the medium is an older one, and sound.
 */
int nc_commit_run(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;
	u64 from = 0;
	bool more;
	int r = 0;

	/* Others may have a batch of theirs in between: it is over, and what it
	 * took from us durable, when we have the lock.
	 */
	do {
		mutex_lock(&commit->lock);
		more = !commit->failed &&
		       READ_ONCE(c->state) != NEARCACHE_BYPASS &&
		       nc_table_collect(c, &c->meta->table, &from,
					commit->sequence + 1);
		if (more && commit_batch(c))
			commit->failed = true;
		if (commit->failed || READ_ONCE(c->state) == NEARCACHE_BYPASS)
			r = -EIO;
		mutex_unlock(&commit->lock);
	} while (more && !r);
	return r;
}

/**
 * nc_commit_arm() - the table differs from the medium: commit it in a while
 * @c: live cache
 *
 * Context: any.
 */
void nc_commit_arm(struct nc_cache *c)
{
	struct nc_commit *commit = &c->meta->commit;

	/* The page's dirty bit first: pairs with nc_commit_work(). */
	smp_mb__after_atomic();
	if (!READ_ONCE(commit->live) || READ_ONCE(commit->armed))
		return;
	WRITE_ONCE(commit->armed, true);
	queue_delayed_work(c->cache_wq, &c->commit_work, NC_COMMIT_PERIOD);
}

/**
 * nc_commit_stop() - no commit by itself any more
 * @c: live cache, being suspended; nc_cache.life is held, so that no message
 *	makes anything dirty meanwhile
 *
 * Context: may sleep.
 */
void nc_commit_stop(struct nc_cache *c)
{
	WRITE_ONCE(c->meta->commit.live, false);
	cancel_delayed_work_sync(&c->commit_work);
	c->meta->commit.armed = false;
}

/* Nothing else is done on a cache that was given up: what the medium says stays
 * true, because no slot is overwritten any more.
 */
void nc_commit_work(struct work_struct *work)
{
	struct nc_cache *c = container_of(to_delayed_work(work),
					  struct nc_cache, commit_work);

	WRITE_ONCE(c->meta->commit.armed, false);
	/* What is made dirty and does not see this is committed now. */
	smp_mb();
	if (READ_ONCE(c->state) != NEARCACHE_BYPASS && nc_commit_run(c))
		nc_health_bypass(c, NEARCACHE_REASON_WRITE_TABLE);
}
