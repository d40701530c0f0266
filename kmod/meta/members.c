// SPDX-License-Identifier: GPL-2.0-only
/*
 * The members behind the first one.  Their superblocks say which slot table their data
 * matches, so that a load detects an older copy of any member.  doc/format.md has the
 * order in which the superblocks are written.
 */
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "cache.h"
#include "meta/members.h"
#include "meta/meta.h"
#include "meta/recover.h"

/* Allocate c->dev.members if the dm table has several cache devices.  Return: 0 or -ENOMEM. */
int nc_members_new(struct nc_cache *c, const struct nc_target *t)
{
	struct nc_super *supers;
	struct nc_members *m;
	u32 i;

	if (!t->others)
		return 0;
	m = kzalloc(struct_size(m, member, 1 + t->others), GFP_KERNEL);
	supers = kcalloc(t->others, sizeof(*supers), GFP_KERNEL);
	if (!m || !supers) {
		kfree(supers);
		kfree(m);
		return -ENOMEM;
	}
	m->count = 1 + t->others;
	m->member[0].bdev = t->dev->bdev;
	for (i = 1; i < m->count; i++) {
		m->member[i].bdev = t->other[i - 1]->bdev;
		m->member[i].super = &supers[i - 1];
	}
	c->dev.members = m;
	return 0;
}

void nc_members_free(struct nc_cache *c)
{
	struct nc_members *m = c->dev.members;
	u32 i;

	if (!m)
		return;
	for (i = 1; i < m->count; i++)
		nc_super_destroy(m->member[i].super);
	kfree(m->member[1].super);
	kfree(m);
}

static int refuse_member(struct nc_cache *c, u32 index, const char *why, int error)
{
	DMERR("%s: cache device %pg, member %u of %u: %s", nc_cache_name(c),
	      nc_members_bdev(c, index), index + 1, nc_members_count(c), why);
	if (c->dev.members)
		WRITE_ONCE(c->dev.members->failed, nc_members_bdev(c, index)->bd_dev);
	return error;
}

/* Read and validate the superblock of a member behind the first. */
static int read_super(struct nc_cache *c, u32 index, struct nc_geometry *geo)
{
	struct nc_member *member = &c->dev.members->member[index];
	char why[NC_WHY_SIZE];
	int r = nc_super_read(member->super, member->bdev, geo, why);

	if (r)
		return refuse_member(c, index, why, r);
	if (!nc_member_check(c->meta->super.sb, member->super->sb, index, why))
		return refuse_member(c, index, why, -EINVAL);
	return 0;
}

/* Does the dm table begin with member 0, and name the right number of members? */
static int check_count(struct nc_cache *c)
{
	char why[NC_WHY_SIZE];

	if (c->geo.stripe_index) {
		snprintf(why, sizeof(why),
			 "stripe_index is %u, expected 0: name the devices in their order",
			 c->geo.stripe_index);
		return refuse_member(c, 0, why, -EINVAL);
	}
	if (c->geo.stripe_count == nc_members_count(c))
		return 0;
	snprintf(why, sizeof(why), "stripe_count is %u, the table names %u",
		 c->geo.stripe_count, nc_members_count(c));
	return refuse_member(c, 0, why, -EINVAL);
}

/**
 * nc_members_open() - read and validate the superblocks behind the first one
 * @c: new cache; the first superblock was read before
 * @t: target under construction; t->ti->error is set on failure
 *
 * Context: may sleep.
 * Return: 0 or an error code.
 */
int nc_members_open(struct nc_cache *c, struct nc_target *t)
{
	struct nc_members *m = c->dev.members;
	struct nc_geometry geo = c->geo;
	int r = check_count(c);
	u32 i;

	t->ti->error = "Cache devices do not belong together, see the kernel log";
	for (i = 0; m && !r && i < m->count; i++) {
		struct nc_member *member = &m->member[i];

		if (i)
			r = nc_super_init(member->super) ?:
			    read_super(c, i, &geo);
		member->data_start = geo.data_offset >> SECTOR_SHIFT;
		member->device_size = geo.device_size;
	}
	return r;
}

/* Does the dm table of @t name the cache's devices, in the same order? */
bool nc_members_same(const struct nc_cache *c, const struct nc_target *t)
{
	u32 i;

	if (c->dev.bdev != t->dev->bdev || nc_members_count(c) != 1 + t->others)
		return false;
	for (i = 1; i <= t->others; i++)
		if (nc_members_bdev(c, i) != t->other[i - 1]->bdev)
			return false;
	return true;
}

/* Was the disk of a member removed? */
bool nc_members_gone(const struct nc_cache *c)
{
	u32 i;

	for (i = 0; i < nc_members_count(c); i++)
		if (test_bit(GD_DEAD, &nc_members_bdev(c, i)->bd_disk->state))
			return true;
	return false;
}

/**
 * nc_members_reread() - read the other superblocks again before the first resume uses them
 * @c: live cache, suspended; nc_meta_reread() has read the first superblock again
 *
 * Return: 0; -EIO; -EINVAL or -ESTALE if a device changed since the constructor.
 */
int nc_members_reread(struct nc_cache *c)
{
	struct nc_geometry geo;
	int r = 0;
	u32 i;

	if (c->dev.members)
		WRITE_ONCE(c->dev.members->failed, 0);
	for (i = 1; !r && i < nc_members_count(c); i++) {
		const struct nc_member *member = &c->dev.members->member[i];

		r = read_super(c, i, &geo);
		if (!r && (geo.data_offset >> SECTOR_SHIFT != member->data_start ||
			   geo.device_size != member->device_size))
			r = refuse_member(c, i, "was formatted since table load: load a new one",
					  -ESTALE);
	}
	return r;
}

/* Write no superblock of a member behind the first any more: a member may be another cache's now.
 * No commit runs.
 */
void nc_members_unread(struct nc_cache *c)
{
	u32 i;

	for (i = 1; i < nc_members_count(c); i++)
		c->dev.members->member[i].super->read = false;
}

/* Have the members behind the first one the superblocks that were last read or written?  Return: 0,
 * -ESTALE, or the error of reading one.  Context: may sleep; no commit runs.
 */
int nc_members_confirm(const struct nc_cache *c)
{
	int r = 0;
	u32 i;

	for (i = 1; !r && i < nc_members_count(c); i++)
		r = nc_super_confirm(c->dev.members->member[i].super, nc_members_bdev(c, i));
	return r;
}

/* Was the cache emptied after the last write to the other members' superblocks?  The helper empties
 * a cache by writing to the first member only.  The cache is suspended.
 */
bool nc_members_emptied(const struct nc_cache *c)
{
	return c->dev.members &&
	       le64_to_cpu(c->meta->super.sb->table_epoch) > nc_members_epoch(c);
}

/* Does a member's data not match the slot table?  Call after nc_commit_load(), while suspended. */
bool nc_members_differ(struct nc_cache *c)
{
	const struct nearcache_super *sb = c->meta->super.sb;
	u32 i;

	for (i = 1; i < nc_members_count(c); i++) {
		if (nc_recover_member(c->dev.members->member[i].super->sb,
				      le64_to_cpu(sb->table_epoch),
				      c->meta->commit.sequence))
			continue;
		DMWARN("%s: cache device %pg, member %u of %u, was not in use with the others",
		       nc_cache_name(c), nc_members_bdev(c, i), i + 1,
		       nc_members_count(c));
		return true;
	}
	return false;
}

/* The highest table_epoch of the members behind the first, or 0.  The cache is suspended. */
u64 nc_members_epoch(const struct nc_cache *c)
{
	u64 epoch = 0;
	u32 i;

	for (i = 1; i < nc_members_count(c); i++)
		epoch = max(epoch, le64_to_cpu(c->dev.members->member[i].super->sb->table_epoch));
	return epoch;
}

/**
 * nc_members_begun() - the highest number of a commit that may have begun, or 0
 * @c: live cache, suspended; all members match
 *
 * A commit is announced to the other members before the first member records it, and a crash
 * may come in between.  If a later commit used the same number, an older image of the other
 * members would match the new table.  A commit uses two numbers, one per record: hence the + 1.
 */
u64 nc_members_begun(const struct nc_cache *c)
{
	u64 begun = 0;
	u32 i;

	for (i = 1; i < nc_members_count(c); i++) {
		const struct nearcache_super *sb = c->dev.members->member[i].super->sb;

		if (le32_to_cpu(sb->state) == NEARCACHE_STATE_LIVE)
			begun = max(begun, le64_to_cpu(sb->commit_sequence) + 1);
	}
	return begun;
}

/* Write the superblocks of the other members.  Each write flushes its device first.  Return: 0 or
 * -EIO, with nc_members.failed set.
 */
static int write_members(struct nc_cache *c, u32 state, u64 sequence)
{
	int r = 0;
	u32 i;

	lockdep_assert_held(&c->meta->commit.lock);
	WRITE_ONCE(c->dev.members->failed, 0);
	for (i = 1; i < nc_members_count(c); i++) {
		struct nc_member *member = &c->dev.members->member[i];

		member->super->sb->table_epoch = cpu_to_le64(c->geo.table_epoch);
		member->super->sb->commit_sequence = cpu_to_le64(sequence);
		r = nc_super_put(member->super, member->bdev, state);
		if (r)
			return refuse_member(c, i, "its superblock cannot be written", r);
	}
	return 0;
}

/**
 * nc_members_announce() - announce the start or end of a commit to the other members
 * @c: live cache
 * @over: the commit ends, so the slots that it freed may be overwritten next
 *
 * If it returns 0, all earlier writes to these members are durable.
 *
 * Context: may sleep; nc_commit.lock.
 * Return: 0 or -EIO.
 */
int nc_members_announce(struct nc_cache *c, bool over)
{
	u64 sequence = c->meta->commit.sequence;

	if (!c->dev.members)
		return 0;
	if (c->dev.members->active)
		return write_members(c, NEARCACHE_STATE_ACTIVE, sequence);
	return write_members(c, over ? NEARCACHE_STATE_CLEAN : NEARCACHE_STATE_LIVE, sequence);
}

/**
 * nc_members_catch_up() - announce to the other members a commit that a crash cut off
 * @c: live cache; nc_commit.sequence is the result of nc_members_begun()
 *
 * Afterwards these members match the last record on the first member, and also the record
 * that nc_commit_catch_up() writes next.
 *
 * Context: may sleep; nc_commit.lock.
 * Return: 0 or -EIO.
 */
int nc_members_catch_up(struct nc_cache *c)
{
	return write_members(c, NEARCACHE_STATE_LIVE, c->meta->commit.sequence - 1);
}

static bool members_settled(const struct nc_cache *c)
{
	u32 i;

	for (i = 1; i < nc_members_count(c); i++) {
		const struct nearcache_super *sb = c->dev.members->member[i].super->sb;

		if (le32_to_cpu(sb->state) != NEARCACHE_STATE_CLEAN ||
		    le64_to_cpu(sb->table_epoch) != c->geo.table_epoch ||
		    le64_to_cpu(sb->commit_sequence) != c->meta->commit.sequence)
			return false;
	}
	return true;
}

/**
 * nc_members_settle() - make the other members say that their data matches the last commit
 * @c: live cache
 *
 * Context: may sleep; nc_commit.lock.
 * Return: 0 or -EIO.
 */
int nc_members_settle(struct nc_cache *c)
{
	lockdep_assert_held(&c->meta->commit.lock);
	return members_settled(c) ? 0 : write_members(c, NEARCACHE_STATE_CLEAN,
						      c->meta->commit.sequence);
}

/**
 * nc_members_go() - begin a session on the other members, or continue one without commits
 * @c: live cache
 * @active: slots will be overwritten that the slot table on the medium still describes
 *
 * Context: may sleep.
 * Return: 0 or -EIO; on error no slot may be overwritten.
 */
int nc_members_go(struct nc_cache *c, bool active)
{
	int r;

	if (!c->dev.members)
		return 0;
	mutex_lock(&c->meta->commit.lock);
	c->dev.members->active = active;
	r = active ? write_members(c, NEARCACHE_STATE_ACTIVE, c->meta->commit.sequence) :
		     nc_members_settle(c);
	mutex_unlock(&c->meta->commit.lock);
	return r;
}

/**
 * nc_members_stop() - let the next commit make the slot table correct again
 * @c: live cache; slots are not overwritten any more
 *
 * nc_members_go() must follow that commit.
 *
 * Context: may sleep.
 */
void nc_members_stop(struct nc_cache *c)
{
	if (!c->dev.members)
		return;
	mutex_lock(&c->meta->commit.lock);
	c->dev.members->active = false;
	mutex_unlock(&c->meta->commit.lock);
}

/* Make all completed writes to the cache devices durable.  Return: 0 or the error of a flush.
 * Context: may sleep, without a time limit.
 */
int nc_members_flush(struct nc_cache *c)
{
	int r = 0;
	u32 i;

	for (i = 0; !r && i < nc_members_count(c); i++)
		r = blkdev_issue_flush(nc_members_bdev(c, i));
	return r;
}
