// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of all stages: the tables of nearcache-stage.
 *
 * device-mapper lets dm devices share a device; stages must not share any.
 *
 * The mutex serialises constructors, destructors and resumes.  Netlink requests, which any user may
 * send, visit stages in an SRCU read section instead, so that they do not delay these.  Only the
 * destructor of a table waits for the visits that run, each of which visits one stage.
 */
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/srcu.h>

#include "core/compat.h"
#include "dm/claim_registry.h"
#include "stage/stage.h"

static LIST_HEAD(stages);	/* the newest is the first */
static DEFINE_MUTEX(stages_lock);	/* protects stages */
/* A visit reads @stages in a read section. */
DEFINE_STATIC_SRCU(stages_srcu);

static bool same_device(const struct nc_stage *a, const struct nc_stage *b)
{
	return dm_table_get_md(a->ti->table) == dm_table_get_md(b->ti->table);
}

/* Is a device the log or the origin of @s? */
static bool stage_uses(const struct nc_stage *s, const struct dm_dev *dev)
{
	return s->log->bdev->bd_dev == dev->bdev->bd_dev ||
	       s->origin->bdev->bd_dev == dev->bdev->bd_dev;
}

/**
 * nc_stage_claim() - claim log and origin for the dm device, and let visits find the stage
 * @s: complete stage; the other table of its dm device may have claimed the same devices
 *
 * Context: constructor.
 * Return: 0 or -EBUSY; ti->error is set.
 */
int nc_stage_claim(struct nc_stage *s)
{
	struct nc_stage *other;
	int r = 0;

	mutex_lock(&stages_lock);
	list_for_each_entry(other, &stages, claim)
		if (!same_device(other, s) &&
		    (stage_uses(other, s->log) || stage_uses(other, s->origin)))
			r = -EBUSY;
	if (!r) {
		list_add_rcu(&s->claim, &stages);
		nc_registry_changed();
	}
	mutex_unlock(&stages_lock);
	if (r)
		s->ti->error = "Log or origin belongs to another stage device";
	return r;
}

/* Has a table acknowledged writes that it cannot commit, because its log has failed? */
static bool stage_lost_writes(struct nc_stage *s)
{
	bool lost;

	if (!READ_ONCE(s->started))
		return s->lost;
	spin_lock_irq(&s->lock);
	lost = s->failed && (s->ring.epoch_entries ||
			     s->ring.committed.record != s->ring.open.record);
	spin_unlock_irq(&s->lock);
	return lost;
}

/* Has a table that has started data that its origin may lack? */
static bool stage_behind(struct nc_stage *s)
{
	bool behind;

	spin_lock_irq(&s->lock);
	behind = s->ring.epoch_entries || s->ring.marked.record != s->ring.open.record;
	spin_unlock_irq(&s->lock);
	return behind;
}

/* Let @s know what the tables after @other need to know: device-mapper destroys @other even if @s
 * fails to start.  Context: stages_lock.
 */
static void inherit_from(struct nc_stage *s, struct nc_stage *other)
{
	bool started = READ_ONCE(other->started);

	lockdep_assert_held(&stages_lock);
	s->lost |= stage_lost_writes(other);
	s->used |= started || other->used;
	s->needs_log = started ? stage_behind(other) : other->needs_log;
	s->reported = READ_ONCE(other->reported);
	memcpy(s->needed_log, started ? other->super.block->uuid : other->needed_log,
	       sizeof(s->needed_log));
}

/**
 * nc_stage_check_predecessor() - check that a table loses no writes of the table before it
 * @s: claimed stage that has not started
 *
 * A table must not start after one of the same device that has lost writes: they would disappear
 * under a file system that is in use.  @s remembers it for the tables after it.  For the same
 * reason, drop_unreadable is refused while the device is in use, and so is another log while the
 * origin is behind.
 *
 * Context: constructor or preresume.
 * Return: 0, -EIO or -EBUSY; ti->error is set.
 */
int nc_stage_check_predecessor(struct nc_stage *s)
{
	struct nc_stage *other;

	mutex_lock(&stages_lock);
	/* The live table is the last one. */
	list_for_each_entry(other, &stages, claim)
		if (other != s && same_device(other, s))
			inherit_from(s, other);
	mutex_unlock(&stages_lock);
	if (s->lost)
		s->ti->error = "Log has failed, and writes are not committed: remove the device";
	else if (s->used && s->drop_unreadable)
		s->ti->error = "Option drop_unreadable needs a device that is not in use";
	else if (s->needs_log && memcmp(s->needed_log, s->super.block->uuid, sizeof(s->needed_log)))
		s->ti->error = "Another log has writes that the origin lacks: drain it first";
	else
		return 0;
	DMERR("%s: log %s: %s", nc_stage_name(s), s->log->name, s->ti->error);
	return s->lost ? -EIO : -EBUSY;
}

/* Take over what writers must hear from the table before this one.  device-mapper destroys that one
 * even if this one cannot start, so this comes before all that may fail.  Context: preresume.
 */
void nc_stage_inherit(struct nc_stage *s)
{
	struct nc_stage *other;

	mutex_lock(&stages_lock);
	list_for_each_entry(other, &stages, claim)
		if (other != s && same_device(other, s))
			nc_pass_inherit(s, other);
	mutex_unlock(&stages_lock);
}

/* Undo nc_stage_claim(), if it has succeeded; waits for visits of the stage. */
void nc_stage_unclaim(struct nc_stage *s)
{
	if (list_empty(&s->claim))
		return;
	mutex_lock(&stages_lock);
	list_del_rcu(&s->claim);
	nc_registry_changed();
	mutex_unlock(&stages_lock);
	synchronize_srcu(&stages_srcu);
}

/* The stage has started: it is live from now on.  Context: preresume. */
void nc_stage_started(struct nc_stage *s)
{
	mutex_lock(&stages_lock);
	/* Pairs with nc_stage_status_read(): the ring is valid. */
	smp_store_release(&s->started, true);
	nc_registry_changed();
	mutex_unlock(&stages_lock);
}

bool nc_stages_exist(void)
{
	bool exist;

	mutex_lock(&stages_lock);
	exist = !list_empty(&stages);
	mutex_unlock(&stages_lock);
	return exist;
}

/* Find the dm device with the lowest number above @after.  Return its newest stage that has
 * started, or else its newest one, or NULL if there is no such device.
 */
static struct nc_stage *next_stage(dev_t after)
{
	struct nc_stage *s, *next = NULL;
	dev_t dev;

	list_for_each_entry_srcu(s, &stages, claim, srcu_read_lock_held(&stages_srcu)) {
		dev = nc_stage_dev(s);
		if (dev <= after)
			continue;
		if (!next || dev < nc_stage_dev(next) ||
		    (dev == nc_stage_dev(next) && !READ_ONCE(next->started) &&
		     READ_ONCE(s->started)))
			next = s;
	}
	return next;
}

/**
 * nc_stages_each() - visit one stage of each dm device: the live one, or else the newest
 * @after: visit the devices with numbers above this one, in ascending order; 0: all devices
 * @visit: called with the stage and @arg; a return value other than 0 ends the visits
 * @arg: for @visit
 *
 * The stage is not freed during the visit, because the destructor waits for it.  A device that is
 * created, or whose table is replaced, during the call may be missed: nc_registry_changes() tells.
 *
 * Context: may sleep, waits for no I/O.
 * Return: the last return value of @visit, or 0.
 */
int nc_stages_each(dev_t after, nc_stage_visit *visit, void *arg)
{
	struct nc_stage *s;
	int section, r = 0;

	do {
		/* One section for each visit: a destructor waits no longer than for one. */
		section = srcu_read_lock(&stages_srcu);
		s = next_stage(after);
		if (s) {
			after = nc_stage_dev(s);
			r = visit(s, arg);
		}
		srcu_read_unlock(&stages_srcu, section);
	} while (s && !r);
	return r;
}
