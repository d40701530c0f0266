// SPDX-License-Identifier: GPL-2.0-only
/* The dm target "nearcache": its operations, which call the other parts of the module. */
#include <linux/module.h>
#include <linux/slab.h>

#include "dm/table_line.h"
#include "cache.h"
#include "io/invalidate.h"
#include "core/bio.h"
#include "meta/members.h"
#include "io/trace_io.h"
#include "io/origin_retry.h"
#include "io/read.h"
#include "dm/claim_registry.h"
#include "dm/status.h"
#include "dm/target.h"
#include "io/write_path.h"

static void target_free(struct nc_target *t)
{
	unsigned int i;

	if (t->cache)
		nc_registry_put(t->cache, t);
	for (i = 0; i < t->others; i++)
		if (t->other[i])
			dm_put_device(t->ti, t->other[i]);
	if (t->witness)
		dm_put_device(t->ti, t->witness);
	if (t->dev)
		dm_put_device(t->ti, t->dev);
	if (t->origin)
		dm_put_device(t->ti, t->origin);
	kfree(t);
}

/* Compare the sizes of table and origin with the superblock.  Returns 0, -EINVAL or -ENXIO. */
static int check_device_sizes(struct nc_target *t)
{
	const struct nc_geometry *geo = &t->cache->geo;
	u64 origin = bdev_nr_bytes(t->origin->bdev);
	const char *name = nc_cache_name(t->cache);

	if (!origin) {
		DMERR("%s: the disk of origin %s is gone: attach the origin",
		      name, t->origin->name);
		t->ti->error = "The origin is gone";
		return -ENXIO;
	}
	if (origin < geo->origin_size) {
		DMERR("%s: origin %s has %llu bytes, origin_size in the superblock is %llu",
		      name, t->origin->name, origin, geo->origin_size);
		t->ti->error = "Origin is smaller than the superblock's origin_size";
		return -EINVAL;
	}
	/* The table has the old length, or the new one if the origin has grown. */
	if (t->ti->begin || (t->ti->len != origin >> SECTOR_SHIFT &&
			     t->ti->len != geo->origin_size >> SECTOR_SHIFT)) {
		DMERR("%s: table covers %llu + %llu sectors, the origin has %llu sectors",
		      name, (u64)t->ti->begin, (u64)t->ti->len,
		      origin >> SECTOR_SHIFT);
		t->ti->error = "The table must cover the origin, from sector 0";
		return -EINVAL;
	}
	if (origin >= NEARCACHE_MAX_ORIGIN_BLOCKS * geo->block_size) {
		DMERR("%s: origin %s has %llu bytes, blocks of %u bytes can address %llu",
		      name, t->origin->name, origin, geo->block_size,
		      NEARCACHE_MAX_ORIGIN_BLOCKS * geo->block_size);
		t->ti->error = "Origin is too large for the block size";
		return -EINVAL;
	}
	if (bdev_logical_block_size(t->origin->bdev) > geo->subblock_size) {
		DMERR("%s: origin's logical block size %u exceeds subblock_size %u",
		      name, bdev_logical_block_size(t->origin->bdev),
		      geo->subblock_size);
		t->ti->error = "Origin's logical block size exceeds the sub-block";
		return -EINVAL;
	}
	return 0;
}

/* In a writing mode offer the origin's operations except secure erase, because a copy on the cache
 * device would survive a secure erase.  device-mapper disables write-zeroes again if the cache
 * device does not support them.
 */
static void offer_limits(struct nc_target *t)
{
	struct block_device *origin = t->origin->bdev;

	t->ti->num_flush_bios = 1;
	if (!nc_target_writes(t))
		return;
	if (bdev_max_discard_sectors(origin)) {
		t->ti->num_discard_bios = 1;
		/* Keeps discards enabled even if the cache device does not support them. */
		t->ti->discards_supported = true;
	}
	if (bdev_write_zeroes_sectors(origin))
		t->ti->num_write_zeroes_bios = 1;
}

static int nearcache_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct nc_target *t;
	int r;

	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t) {
		ti->error = "Out of memory";
		return -ENOMEM;
	}
	t->ti = ti;
	r = nc_args_parse(t, argc, argv);
	if (r)
		goto bad;
	t->cache = nc_registry_get(t);
	if (IS_ERR(t->cache)) {
		r = PTR_ERR(t->cache);
		t->cache = NULL;
		goto bad;
	}
	r = check_device_sizes(t);
	if (r)
		goto bad;
	if (t->witness && nc_intent_alloc(&t->cache->intent)) {
		ti->error = "Out of memory";
		r = -ENOMEM;
		goto bad;
	}
	ti->private = t;
	ti->per_io_data_size = sizeof(struct nc_io);
	offer_limits(t);
	return 0;
bad:
	target_free(t);
	return r;
}

static void nearcache_dtr(struct dm_target *ti)
{
	struct nc_target *t = ti->private;

	WARN_ON_ONCE(t->cache->life.active == t);
	target_free(t);
}

static int nearcache_map(struct dm_target *ti, struct bio *bio)
{
	return likely(bio_op(bio) == REQ_OP_READ) ?
	       nc_read_map(ti->private, bio) : nc_write_map(ti->private, bio);
}

static int nearcache_end_io(struct dm_target *ti, struct bio *bio,
			    blk_status_t *error)
{
	struct nc_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct nc_target *t = ti->private;
	int r;

	if (nc_read_plain_over(t->cache, io, *error))
		return DM_ENDIO_DONE;
	r = bio_op(bio) == REQ_OP_READ ? nc_read_end_io(t, bio, io, error) :
					 nc_write_end_io(t, bio, io, error);
	if (r == DM_ENDIO_DONE)
		nc_observe_done(bio, io, *error);
	return r;
}

static int nearcache_preresume(struct dm_target *ti)
{
	struct nc_target *t = ti->private;

	return nc_registry_activate(t);
}

/* In read-only mode make the disk read-only again: just before this call, device-mapper makes it
 * writable if the table was loaded without --readonly.
 */
static void nearcache_resume(struct dm_target *ti)
{
	struct nc_target *t = ti->private;

	if (!nc_target_writes(t))
		set_disk_ro(dm_disk(dm_table_get_md(ti->table)), true);
}

/* A table whose resume failed was never live. */
static bool is_live(const struct nc_target *t)
{
	return READ_ONCE(t->cache->life.active) == t;
}

/* The device still serves reads: peers may need that to answer. */
static void nearcache_presuspend(struct dm_target *ti)
{
	struct nc_target *t = ti->private;

	t->noflush = dm_noflush_suspending(ti);
	if (is_live(t))
		nc_prefetch_hold_peers(t->cache, true);
	nc_origin_retry_suspend(t);
}

/* A signal ended the suspend: the table goes on as before, and device-mapper itself maps again the
 * reads that it got back.
 */
static void nearcache_presuspend_undo(struct dm_target *ti)
{
	struct nc_target *t = ti->private;

	if (is_live(t))
		nc_prefetch_hold_peers(t->cache, false);
}

static void nearcache_postsuspend(struct dm_target *ti)
{
	struct nc_target *t = ti->private;

	if (!is_live(t))
		return;
	nc_cache_deactivate(t->cache);
	nc_registry_changed();
}

static void nearcache_status(struct dm_target *ti, status_type_t type,
			     unsigned int status_flags, char *result,
			     unsigned int maxlen)
{
	struct nc_target *t = ti->private;
	size_t sz = 0;
	u32 i;

	switch (type) {
	case STATUSTYPE_INFO:
		nc_status_print(t, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		nc_args_print(t, result, maxlen);
		break;
	case STATUSTYPE_IMA:
		DMEMIT_TARGET_NAME_VERSION(ti->type);
		DMEMIT(",mode=%s,origin=%s,cache=%s", nc_args_mode(t->mode),
		       t->origin->name, t->dev->name);
		for (i = 0; i < t->others; i++)
			DMEMIT(",member_%u=%s", i + 1, t->other[i]->name);
		DMEMIT(";");
		break;
	}
}

static int bad_scrub(struct nc_target *t, const char *word)
{
	DMERR("%s: '%.128s': expected: scrub start <bytes per second> [origin] | stop",
	      nc_cache_name(t->cache), word);
	return -EINVAL;
}

static int scrub_refused(struct nc_target *t, int r)
{
	if (r)
		DMERR("%s: scrub: %s", nc_cache_name(t->cache),
		      r == -EBUSY ? "a scrub is under way, or the device is suspended" :
		      r == -ENOENT ? "no scrub is under way" :
				     "the cache device is bypassed");
	return r;
}

static int scrub_message(struct nc_target *t, unsigned int argc, char **argv)
{
	u64 rate;

	if (argc == 2 && !strcasecmp(argv[1], "stop"))
		return scrub_refused(t, nc_scrub_stop(t->cache));
	if (argc < 3 || strcasecmp(argv[1], "start"))
		return bad_scrub(t, argv[argc > 1]);
	if (kstrtou64(argv[2], 10, &rate))
		return bad_scrub(t, argv[2]);
	if (argc > 4 || (argc == 4 && strcasecmp(argv[3], "origin")))
		return bad_scrub(t, argv[3]);
	return scrub_refused(t, nc_scrub_start(t->cache, rate, argc == 4));
}

static int bad_message(struct nc_target *t, const char *word)
{
	DMERR("%s: '%.128s': expected: invalidate all | <sector> <sectors>, inside %llu (or scrub)",
	      nc_cache_name(t->cache), word, (u64)t->ti->len);
	return -EINVAL;
}

/* In read-only mode nvmet, which opens a device only for reading and writing, could not export it:
 * make the disk look writable while nvmet opens it.  No bio of a write passes, neither meanwhile
 * nor from a file that stays open: nc_write_map() refuses all of them in this mode, whatever the
 * disk's flag says.  set_disk_ro() would tell udev, which takes the links of a dm device away when
 * it becomes read-only.
 */
static int write_opens_message(struct nc_target *t, unsigned int argc, char **argv)
{
	struct gendisk *disk = dm_disk(dm_table_get_md(t->ti->table));
	bool refuse = argc == 2 && !strcasecmp(argv[1], "refuse");

	if (argc != 2 || (!refuse && strcasecmp(argv[1], "allow"))) {
		DMERR("%s: '%.128s': expected: write_opens allow | refuse",
		      nc_cache_name(t->cache), argv[argc > 1]);
		return -EINVAL;
	}
	if (nc_target_writes(t)) {
		DMERR("%s: write_opens: only in mode read-only", nc_cache_name(t->cache));
		return -EINVAL;
	}
	if (refuse)
		set_bit(GD_READ_ONLY, &disk->state);
	else
		clear_bit(GD_READ_ONLY, &disk->state);
	return 0;
}

static int nearcache_message(struct dm_target *ti, unsigned int argc,
			     char **argv, char *result, unsigned int maxlen)
{
	struct nc_target *t = ti->private;
	u64 first = 0, sectors = ti->len;

	if (!strcasecmp(argv[0], "scrub"))
		return scrub_message(t, argc, argv);
	if (!strcasecmp(argv[0], "write_opens"))
		return write_opens_message(t, argc, argv);
	if (strcasecmp(argv[0], "invalidate"))
		return bad_message(t, argv[0]);
	if (argc == 3) {
		if (kstrtou64(argv[1], 10, &first) || first >= ti->len)
			return bad_message(t, argv[1]);
		if (kstrtou64(argv[2], 10, &sectors) || !sectors ||
		    sectors > ti->len - first)
			return bad_message(t, argv[2]);
	} else if (argc != 2 || strcasecmp(argv[1], "all")) {
		return bad_message(t, argc > 1 ? argv[1] : argv[0]);
	}
	return nc_invalidate_changed(t->cache, first, first + sectors - 1);
}

static int nearcache_iterate_devices(struct dm_target *ti,
				     iterate_devices_callout_fn fn, void *data)
{
	struct nc_target *t = ti->private;
	int r = fn(ti, t->origin, 0, ti->len, data);
	u32 i;

	r = r ?: fn(ti, t->dev, 0,
		    t->cache->geo.device_size >> SECTOR_SHIFT, data);
	for (i = 0; !r && i < t->others; i++)
		r = fn(ti, t->other[i], 0, t->cache->dev.members->member[i + 1]
			.device_size >> SECTOR_SHIFT, data);
	return r;
}

/* Limit a discard or write-zeroes to NC_WRITE_BLOCKS_MAX blocks.  Take the other limits of discards
 * from the origin even if the cache device does not support them.
 */
static void limit_discards(struct nc_target *t, struct queue_limits *limits)
{
	unsigned int most = min_t(u64, NC_WRITE_BLOCKS_MAX *
				       (u64)t->cache->geo.block_size >>
				       SECTOR_SHIFT, UINT_MAX);
	struct block_device *origin = t->origin->bdev;

	limits->max_write_zeroes_sectors =
		min(bdev_write_zeroes_sectors(origin), most);
	if (!t->ti->num_discard_bios)
		return;
	limits->max_discard_sectors =
		min(bdev_max_discard_sectors(origin), most);
	limits->max_hw_discard_sectors = limits->max_discard_sectors;
	limits->discard_granularity = bdev_discard_granularity(origin);
	limits->discard_alignment = bdev_discard_alignment(origin);
}

/* Keep the origin's logical block size, or a file system made on the bare origin would not mount.
 * Keep the origin's memory alignment, so that programs that read the bare origin can read this
 * device.  Hits that are not aligned for the cache device bypass the cache device.
 */
static void nearcache_io_hints(struct dm_target *ti,
			       struct queue_limits *limits)
{
	struct nc_target *t = ti->private;

	limits->logical_block_size = bdev_logical_block_size(t->origin->bdev);
	limits->dma_alignment = bdev_dma_alignment(t->origin->bdev);
	if (nc_target_writes(t))
		limit_discards(t, limits);
}

static struct target_type nearcache_target = {
	.name			= "nearcache",
	.version		= { 1, 1, 0 },
	.features		= DM_TARGET_SINGLETON | DM_TARGET_NOWAIT,
	.module			= THIS_MODULE,
	.ctr			= nearcache_ctr,
	.dtr			= nearcache_dtr,
	.map			= nearcache_map,
	.end_io			= nearcache_end_io,
	.preresume		= nearcache_preresume,
	.resume			= nearcache_resume,
	.presuspend		= nearcache_presuspend,
	.presuspend_undo	= nearcache_presuspend_undo,
	.postsuspend		= nearcache_postsuspend,
	.status			= nearcache_status,
	.message		= nearcache_message,
	.iterate_devices	= nearcache_iterate_devices,
	.io_hints		= nearcache_io_hints,
};

int nc_target_register(void)
{
	return dm_register_target(&nearcache_target);
}

void nc_target_unregister(void)
{
	dm_unregister_target(&nearcache_target);
}
