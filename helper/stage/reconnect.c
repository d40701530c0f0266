// SPDX-License-Identifier: GPL-2.0-only
#include "stage/reconnect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <uuid/uuid.h>

#include "block/device_sysfs.h"
#include "block/kmsg.h"
#include "block/lock.h"
#include "block/signals.h"
#include "lib/error.h"
#include "lib/print.h"
#include "open/activate.h"
#include "open/lvm_filter.h"
#include "open/origin_users.h"
#include "open/stage_device.h"
#include "stage/drain.h"

#define SECTOR	512U

/*
 * True if the kernel has removed the origin of a stage.  As long as the stage has the removed origin
 * open, the kernel gives its number to no other device.
 */
bool stage_origin_gone(const struct dm_device *dev)
{
	struct stage_params params;
	char name[128];

	return dev->table && stage_params_parse(dev->table, &params) &&
	       !identity_kernel_name(params.origin, name, sizeof(name));
}

/* --force repeats a run whose new table the kernel did not start: it left the device suspended. */
static int check_gone(const struct stage *stage, const struct dm_device *dev,
		      const struct arguments *args)
{
	char path[PATH_MAX];
	struct stat st;

	if (dev->suspended && !option_given(args, OPTION_FORCE))
		return fail(CODE_BUSY,
			    "device '%s' is suspended: 'dmsetup resume %s' first, or --force to start it with this change",
			    dev->name, dev->name);
	if (dev->suspended || stage_origin_gone(dev))
		return 0;
	device_path_of(stage->params.origin, path);
	if (args->origin && !stat(args->origin, &st) && st.st_rdev == stage->params.origin)
		return fail(CODE_BUSY,
			    "the stage '%s' has this origin already ('%s'), which is connected",
			    dev->name, path);
	return fail(CODE_BUSY,
		    "the origin '%s' of the stage '%s' is still connected: only a disconnected origin ('nvme disconnect') can be replaced by its new device",
		    path, dev->name);
}

/* Read the superblock of the log, while the kernel may write one of its copies. */
static int read_log(struct stage *stage, const struct dm_device *dev)
{
	struct stage_log log = { 0 };
	uuid_t uuid;

	if (device_open_number(&stage->log, stage->params.log, "log device"))
		return fail_code();
	if (!stage_log_read(&log, &stage->log) && !stage_log_require(&log, &stage->log)) {
		stage->sb = *log.best;
		if (uuid_parse(dev->uuid + strlen(DM_STAGE_PREFIX), uuid) ||
		    uuid_compare(stage->sb.uuid, uuid))
			fail(CODE_DEVICE, "log device '%s' carries another log than that of '%s'",
			     stage->log.path, dev->name);
	}
	stage_log_free(&log);
	return fail_code();
}

/* A larger logical block than before would fail requests of the file system above. */
static int check_block_size(const struct stage *stage, const struct dm_device *dev)
{
	char text[32];
	uint32_t now = 0;

	if (identity_attribute(dev->number, "queue/logical_block_size", text, sizeof(text)))
		now = (uint32_t)strtoul(text, NULL, 10);
	if (!now || stage->origin.lbs <= now)
		return 0;
	return fail(CODE_DEVICE,
		    "'%s' has logical blocks of %u bytes, the stage '%s' has %u bytes",
		    stage->origin.path, stage->origin.lbs, dev->name, now);
}

/* Compare @sectors sectors of the origin from @first on with their checksums. */
static int compare_sectors(const struct stage *stage, uint64_t first, uint32_t sectors,
			   const __le32 *now, const __le32 *next)
{
	unsigned char *data = device_buffer((size_t)sectors * SECTOR);
	uint32_t i, sum;

	if (!data || device_read(&stage->origin, data, (size_t)sectors * SECTOR, first * SECTOR)) {
		free(data);
		return fail_code();
	}
	for (i = 0; i < sectors && !fail_code(); i++) {
		sum = crc_extend(0, data + (size_t)i * SECTOR, SECTOR);
		sum = sum ? sum : 1;
		if (now[i] && next[i] && sum != le32_to_cpu(now[i]) && sum != le32_to_cpu(next[i]))
			fail(CODE_DEVICE,
			     "'%s' was changed while it was disconnected (sector %" PRIu64
			     "), and '%s' has data of its former content: stop the users of '%s', then 'nearcache close %s', with --abandon-stage if its log has writes that the origin lacks, and open it again",
			     stage->origin.path, first + i, stage->cache, stage->cache,
			     stage->cache);
	}
	free(data);
	return fail_code();
}

/*
 * Compare the fingerprint, as the kernel does at a start: see kmod/stage/origin_print.c.  If the
 * origin has all writes of the log, the kernel accepts any content, as no cache or file system has
 * read it before a start.  Here both have, and they would show a mixture.
 */
static int check_content(const struct stage *stage)
{
	const struct nearcache_stage_super *sb = &stage->sb;
	uint32_t half = NEARCACHE_STAGE_PRINT_SECTORS / 2;
	uint64_t sectors = le64_to_cpu(sb->volume_sectors) / NEARCACHE_STAGE_BLOCK_SECTORS *
			   NEARCACHE_STAGE_BLOCK_SECTORS;

	if (sectors < NEARCACHE_STAGE_PRINT_SECTORS)
		return 0;
	return compare_sectors(stage, 0, half, sb->origin_now, sb->origin_next) ||
	       compare_sectors(stage, sectors - half, half, sb->origin_now + half,
			       sb->origin_next + half) ? fail_code() : 0;
}

/*
 * The kernel writes the log's superblock, so an origin with another device id cannot be recorded
 * there, and without the record other commands would take this origin for one without a log.
 */
static int open_origin(struct stage *stage, const struct arguments *args)
{
	if (!stage_open_origin(stage, args, false))
		return 0;
	return fail_add("a stage that runs accepts no other origin");
}

/*
 * A new connection may have to be registered with the origin, or the drain fails.  If another node
 * has taken the origin meanwhile, it may have written.
 */
static int check_reservation(struct stage *stage, const struct arguments *args)
{
	if (!stage_reserve(stage, args))
		return 0;
	return fail_add("to open it, 'nearcache close %s --keep' first", stage->cache);
}

/* A table of the stage may have the origin: the kernel refused its start, or a run was killed. */
static int check_origin(struct stage *stage, const struct dm_device *dev,
			const struct arguments *args)
{
	if (check_gone(stage, dev, args) || read_log(stage, dev) ||
	    open_origin(stage, args) || lock_all(&stage->origin) || check_block_size(stage, dev) ||
	    activate_check_free_but(&stage->origin, dev->number) ||
	    neighbour_check(&stage->origin, NEARCACHE_WRITEAROUND, stage->cache))
		return fail_code();
	return check_content(stage) || check_reservation(stage, args) ? fail_code() : 0;
}

static void report_failure(const struct stage *stage)
{
	struct dm_device now;
	bool found;

	if (!dm_find(stage->name, &now, &found) && found && !now.suspended)
		fail_add("the stage '%s' goes on as before", stage->name);
	else
		fail_add("the stage '%s' is suspended now, and its users wait: 'nearcache attach %s --origin DEV --force' tries again, 'nearcache close %s --abandon-stage' ends the requests",
			 stage->name, stage->cache, stage->cache);
	dm_device_free(&now);
}

static int load_and_start(const struct stage *stage, const struct dm_device *dev,
			  const struct dm_line *line)
{
	struct kmsg log = kmsg_mark(dev->number);

	if (dm_load(dev->name, line) ||
	    dm_resume(dev->name, DM_READ_AHEAD_KERNEL,
		      dev->suspended ? DM_SUSPEND_NOT : DM_SUSPEND_HAND_OVER)) {
		kmsg_explain(&log, DM_STAGE_TARGET);
		dm_clear(dev->name);
		report_failure(stage);
	}
	kmsg_close(&log);
	return fail_code();
}

/*
 * Load a table with the new origin, and start it.  The suspend hands writes that wait for room to
 * the new table; it commits the open epoch, and the new table recovers all that is committed.
 */
static int swap_origin(const struct stage *stage, const struct dm_device *dev)
{
	char params[STAGE_PARAMS_TEXT];
	struct dm_line line = {
		.target = DM_STAGE_TARGET,
		.bytes = stage->origin.size,
		.params = stage_params_move(dev->table, stage->origin.number, params),
	};
	sigset_t before;
	int error;

	signals_hold(&before);
	/* The program may be stored on, or swapped to, the device: a page fault would hang. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	error = load_and_start(stage, dev, &line);
	signals_release(&before);
	munlockall();
	if (!error)
		lvm_filter_notify(stage->origin.number);
	return error;
}

static void print_new_origin(const struct stage *stage, const struct dm_device *dev, bool dry_run)
{
	char path[PATH_MAX];

	print_record(NULL, stage->cache);
	print_string("name", NULL, stage->cache);
	print_string("stage", "stage", stage->name);
	print_string("log", "log device", stage->log.path);
	print_string("origin", "origin", stage->origin.path);
	print_string("origin_before", "before", device_path_of(stage->params.origin, path));
	print_flag("started", dev->suspended && !dry_run ? "started" : NULL,
		   dev->suspended && !dry_run);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
}

static int change_origin(struct stage *stage, const struct dm_device *dev,
			 const struct arguments *args)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	uint64_t epoch;

	if (!dev->table || !stage_params_parse(dev->table, &stage->params))
		return fail(CODE_DEVICE, "the table of '%s' cannot be parsed ('%s')", dev->name,
			    dev->table ? dev->table : "");
	/* If the log has failed, the new table would start without the open epoch. */
	if (check_origin(stage, dev, args) ||
	    (!dry_run && !dev->suspended && stage_commit(dev, &epoch)))
		return fail_add("the stage '%s' goes on as before", dev->name);
	if (!dry_run && swap_origin(stage, dev))
		return fail_code();
	print_new_origin(stage, dev, dry_run);
	return 0;
}

/*
 * Replace the origin of the running stage @dev, below the cache @cache, which stays in use.  Without
 * --origin in @args the origin is found by its device id.
 */
int stage_reconnect(const struct dm_device *dev, const char *cache, const struct arguments *args)
{
	struct stage stage = STAGE_CLOSED;

	stage.cache = cache;
	stage_name(cache, stage.name);
	change_origin(&stage, dev, args);
	stage_close(&stage);
	return fail_code();
}
