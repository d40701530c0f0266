// SPDX-License-Identifier: GPL-2.0-only
/* The dm target "nearcache-stage": its operations, which call the other files of the folder. */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/vmalloc.h>

#include "core/compat.h"
#include "stage/stage.h"
#include "stage/target.h"

static_assert(sizeof(struct nc_record) == 16);
static_assert(sizeof(struct nc_extent) <= 48);

/* Longest discard or write-zeroes, in sectors: 64 MiB. */
#define STAGE_CLEAR_MAX	131072U

static void stage_free(struct nc_stage *s)
{
	nc_stage_unclaim(s);
	cancel_delayed_work_sync(&s->watch);
	nc_drain_destroy(s);
	nc_stage_commit_destroy(s);
	if (s->queue)
		destroy_workqueue(s->queue);
	nc_overlay_destroy(&s->overlay);
	vfree(s->ring.records);
	nc_stage_super_destroy(s);
	if (s->origin)
		dm_put_device(s->ti, s->origin);
	if (s->log)
		dm_put_device(s->ti, s->log);
	kfree(s);
}

/* Share map_memory: n records, and extents for them and for the writes in flight (overlay.c). */
static int stage_alloc_map(struct nc_stage *s)
{
	u64 extents, records;

	records = div_u64(s->map_memory - 2 * NC_STAGE_WRITES_MAX * sizeof(struct nc_extent),
			  sizeof(struct nc_record) + 2 * sizeof(struct nc_extent));
	records = min(rounddown_pow_of_two(records), 1ULL << 30);
	extents = 2 * (records + NC_STAGE_WRITES_MAX);
	s->ring.records_max = records;
	s->ring.epoch_entries_max = min_t(u64, records / 4, NEARCACHE_STAGE_EPOCH_ENTRIES);
	s->ring.records = vmalloc(array_size(records, sizeof(*s->ring.records)));
	if (!s->ring.records)
		return -ENOMEM;
	return nc_overlay_init(&s->overlay, extents,
			       nc_place_sector(s->ring.blocks));
}

static int stage_init(struct nc_stage *s, unsigned int argc, char **argv)
{
	int r;

	s->ti->error = "Out of memory";
	s->queue = alloc_workqueue("nearcache-stage", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	r = s->queue ? nc_stage_super_init(s) : -ENOMEM;
	if (!r)
		r = nc_stage_commit_init(s);
	if (!r)
		r = nc_stage_parse(s, argc, argv);
	if (r)
		return r;
	s->ti->error = "Out of memory";
	r = stage_alloc_map(s) ?: nc_drain_init(s);
	return r ?: nc_stage_claim(s) ?: nc_stage_check_predecessor(s);
}

static int stage_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct nc_stage *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int r;

	ti->error = "Out of memory";
	if (!s)
		return -ENOMEM;
	s->ti = ti;
	ti->private = s;
	INIT_LIST_HEAD(&s->claim);
	spin_lock_init(&s->lock);
	spin_lock_init(&s->map_lock);
	mutex_init(&s->report_lock);
	bio_list_init(&s->waiting);
	init_waitqueue_head(&s->no_readers);
	INIT_WORK(&s->room, nc_stage_room_work);
	INIT_WORK(&s->space, nc_space_work);
	INIT_DELAYED_WORK(&s->watch, nc_drain_watch_work);
	nc_retry_init(&s->retry, nc_stage_retry_work);
	nc_pass_init(s);
	init_waitqueue_head(&s->drain.wait);
	r = stage_init(s, argc, argv);
	if (r) {
		stage_free(s);
		return r;
	}
	ti->per_io_data_size = sizeof(struct nc_stage_io);
	ti->num_flush_bios = 1;
	/* A flush is a commit, whether or not the devices have a cache. */
	ti->flush_supported = true;
	ti->num_discard_bios = 1;
	/* The stage accepts discards, and ignores them if the origin supports none. */
	ti->discards_supported = true;
	ti->num_write_zeroes_bios = 1;
	return 0;
}

static void stage_dtr(struct dm_target *ti)
{
	stage_free(ti->private);
}

static int stage_map(struct dm_target *ti, struct bio *bio)
{
	struct nc_stage *s = ti->private;

	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return nc_stage_read_map(s, bio);
	case REQ_OP_WRITE:
		if (!bio_sectors(bio))
			return nc_stage_flush_map(s, bio);
		fallthrough;
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
		return nc_stage_write_map(s, bio);
	default:
		return DM_MAPIO_KILL;
	}
}

static int stage_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct nc_stage *s = ti->private;
	struct nc_stage_io *io = dm_per_bio_data(bio, sizeof(*io));

	switch (io->kind) {
	case NC_STAGE_IO_LOG_READ:
		return nc_stage_read_end(s, bio, error);
	case NC_STAGE_IO_WRITE:
	case NC_STAGE_IO_WAITER:
		return nc_stage_write_end(s, bio, error);
	case NC_STAGE_IO_PAST_LOG:
		nc_pass_end(s, io, *error);
		return DM_ENDIO_DONE;
	default:
		return DM_ENDIO_DONE;
	}
}

/* Recover at the first resume: in the constructor, the live table may still write.  If the log is
 * given up before that, the table fails all requests.
 */
static int stage_preresume(struct dm_target *ti)
{
	struct nc_stage *s = ti->private;
	int r;

	if (s->started || READ_ONCE(s->given_up))
		return 0;
	nc_stage_inherit(s);
	/* The log may have failed after the table was loaded. */
	r = nc_stage_check_predecessor(s) ?: nc_stage_recover(s);
	if (r)
		return r;
	/* A later start must not drop newer writes, so the table line does not show the option. */
	s->drop_unreadable = false;
	nc_stage_started(s);
	return 0;
}

static void stage_resume(struct dm_target *ti)
{
	struct nc_stage *s = ti->private;

	nc_stage_push_back(s, false);
	nc_drain_start(s);
	nc_pass_start(s);
	/* The suspend, or the table before this one, may have ended a condition. */
	nc_stage_report(s);
}

static void stage_presuspend(struct dm_target *ti)
{
	if (dm_noflush_suspending(ti))
		nc_stage_push_back(ti->private, true);
}

static void stage_presuspend_undo(struct dm_target *ti)
{
	nc_stage_push_back(ti->private, false);
}

/* No request is in flight.  Commit the open epoch, so that the next table or the next start has all
 * that was written: to close a device loses nothing.
 */
static void stage_postsuspend(struct dm_target *ti)
{
	struct nc_stage *s = ti->private;
	u64 epoch;

	if (!s->started)
		return;
	if (nc_stage_commit_sync(s, &epoch))
		DMERR("%s: log %s has failed: writes that are not committed are lost",
		      nc_stage_name(s), s->log->name);
	nc_stage_commit_wait_idle(s);
	cancel_delayed_work_sync(&s->commit.age);
	flush_workqueue(s->commit.queue);
	nc_drain_stop(s);
	nc_stage_watch_stop(s);
	flush_workqueue(s->queue);
	nc_pass_stop(s);
}

static int stage_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			 unsigned int maxlen)
{
	return nc_stage_message(ti->private, argc, argv, result, maxlen);
}

static void stage_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
			 char *result, unsigned int maxlen)
{
	struct nc_stage *s = ti->private;
	size_t sz = 0;

	switch (type) {
	case STATUSTYPE_INFO:
		nc_stage_status(s, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		nc_stage_print(s, result, maxlen);
		break;
	case STATUSTYPE_IMA:
		DMEMIT_TARGET_NAME_VERSION(ti->type);
		DMEMIT(",log=%s,origin=%s;", s->log->name, s->origin->name);
		break;
	}
}

static int stage_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct nc_stage *s = ti->private;

	return fn(ti, s->origin, 0, ti->len, data) ?:
	       fn(ti, s->log, NEARCACHE_STAGE_RING_OFFSET >> SECTOR_SHIFT,
		  nc_place_sector(s->ring.blocks), data);
}

/* Limit discards and write-zeroes: a long one would hold the overlay map's lock too long.  Discards
 * do not reach the log device, so its limits do not apply to them.
 */
static void stage_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct nc_stage *s = ti->private;
	struct block_device *origin = s->origin->bdev;

	limits->max_hw_discard_sectors = STAGE_CLEAR_MAX;
	limits->max_discard_sectors = STAGE_CLEAR_MAX;
	limits->discard_granularity =
		bdev_discard_granularity(origin) ?: limits->logical_block_size;
	limits->discard_alignment = bdev_discard_alignment(origin);
	limits->max_write_zeroes_sectors = min(limits->max_write_zeroes_sectors, STAGE_CLEAR_MAX);
}

static struct target_type stage_target = {
	.name			= "nearcache-stage",
	.version		= { 1, 0, 0 },
	.features		= DM_TARGET_SINGLETON | DM_TARGET_NOWAIT,
	.module			= THIS_MODULE,
	.ctr			= stage_ctr,
	.dtr			= stage_dtr,
	.map			= stage_map,
	.end_io			= stage_end_io,
	.preresume		= stage_preresume,
	.resume			= stage_resume,
	.presuspend		= stage_presuspend,
	.presuspend_undo	= stage_presuspend_undo,
	.postsuspend		= stage_postsuspend,
	.status			= stage_status,
	.message		= stage_message,
	.iterate_devices	= stage_iterate_devices,
	.io_hints		= stage_io_hints,
};

/* Refuse hibernation: a resumed image would have an older state than log and origin. */
static int stage_pm_event(struct notifier_block *block, unsigned long event, void *data)
{
	if (event != PM_HIBERNATION_PREPARE || !nc_stages_exist())
		return NOTIFY_DONE;
	DMERR("cannot hibernate while a stage device exists: close it first");
	return notifier_from_errno(-EBUSY);
}

static struct notifier_block stage_pm = { .notifier_call = stage_pm_event };

int nc_stage_register(void)
{
	int r = register_pm_notifier(&stage_pm);

	if (r)
		return r;
	r = dm_register_target(&stage_target);
	if (r)
		unregister_pm_notifier(&stage_pm);
	return r;
}

void nc_stage_unregister(void)
{
	dm_unregister_target(&stage_target);
	unregister_pm_notifier(&stage_pm);
}
