// SPDX-License-Identifier: GPL-2.0-only
/* Makes the log of a new stage. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uuid/uuid.h>

#include "block/device_sysfs.h"
#include "block/probe.h"
#include "lib/error.h"
#include "lib/size.h"
#include "open/activate.h"
#include "open/find_cache_devices.h"
#include "open/format.h"
#include "open/stage_device.h"

/* A smaller log makes most writes wait for the origin; --force accepts down to the kernel's least. */
#define LOG_BYTES_MIN	(1ULL << 30)
#define LOG_BYTES_LEAST	(NEARCACHE_STAGE_RING_OFFSET + \
			 NEARCACHE_STAGE_BLOCKS_MIN * NEARCACHE_STAGE_BLOCK)

static int check_size(const struct device *log, bool force)
{
	u64 least = force ? LOG_BYTES_LEAST : LOG_BYTES_MIN;
	char has[SIZE_TEXT], needs[SIZE_TEXT];

	if (log->size >= least)
		return 0;
	return fail(CODE_DEVICE, "log device '%s' has %s: a log needs at least %s%s", log->path,
		    size_print(log->size, has), size_print(least, needs),
		    log->size >= LOG_BYTES_LEAST ?
		    ", and more than a checkpoint; --force accepts it" : "");
}

/* Fail if a cache device and the log share storage: each would overwrite the other. */
static int check_caches(const struct stage *stage, const struct arguments *args)
{
	unsigned int i;
	struct stat st;

	for (i = 0; i <= args->members; i++) {
		const char *path = i ? args->member[i - 1] : args->cache;

		if (!stat(path, &st) && S_ISBLK(st.st_mode) &&
		    identity_overlap(stage->log.number, st.st_rdev))
			return fail(CODE_DEVICE,
				    "log device '%s' and cache device '%s' share storage: give a partition to each",
				    stage->log.path, path);
	}
	return 0;
}

static int claim_log(struct stage *stage, bool dry_run)
{
	bool busy;

	if (!dry_run)
		return device_claim(&stage->log);
	if (device_test_claim(&stage->log, &busy))
		return fail_code();
	return busy ? fail(CODE_BUSY, "log device '%s' is in use", stage->log.path) : 0;
}

/* Fail if @dev, which is about to be overwritten, carries a log with writes that its origin lacks. */
int stage_check_overwrite(const struct device *dev)
{
	struct stage_log log;

	if (!stage_log_read(&log, dev) && log.best && !stage_log_drained(log.best))
		fail(CODE_BUSY,
		     "%s '%s' carries a log of '%s' with writes that its origin lacks: 'nearcache open' and 'nearcache close' write them there, 'nearcache destroy --stage %s --abandon-stage' loses them",
		     dev->role, dev->path, (const char *)log.best->label, dev->path);
	stage_log_free(&log);
	return fail_code();
}

/* Fail unless the name of the stage is free, and a later search for the log will find it. */
static int check_found(const struct stage *stage)
{
	if (activate_check_name(stage->name))
		return fail_code();
	if (!resolve_searches(stage->log.number))
		return fail(CODE_DEVICE,
			    "log device '%s' is no local device, so no open would look for the log there: give a local drive, a partition or a logical volume",
			    stage->log.path);
	return 0;
}

/*
 * Open origin and log, do all checks, and claim the log; nothing is written.  stage_close() is
 * needed even after a failure.
 */
int stage_format_prepare(struct stage *stage, const struct arguments *args)
{
	bool force = option_given(args, OPTION_FORCE);

	stage_name(stage->cache, stage->name);
	if (stage_check_name(stage->cache) ||
	    device_open(&stage->origin, args->origin, "origin") ||
	    device_open(&stage->log, args->stage, "log device") || stage_check_places(stage) ||
	    check_found(stage) || check_caches(stage, args))
		return fail_code();
	if (identity_same_drive(stage->log.number, stage->origin.number))
		return fail(CODE_DEVICE,
			    "log device '%s' and origin '%s' are on the same drive: a log there is no faster, and is lost with it",
			    stage->log.path, stage->origin.path);
	if (check_size(&stage->log, force) || stage_check_overwrite(&stage->log) ||
	    stage_check_origin(&stage->origin, NULL, true) ||
	    stage_check_reservable(&stage->origin, args) ||
	    claim_log(stage, option_given(args, OPTION_DRY_RUN)))
		return fail_code();
	return force ? 0 : formatting_check_content(&stage->log, NULL);
}

static int clear_log(const struct stage *stage)
{
	/* The first call fails if a partition is in use; the second one forgets the partitions. */
	return device_reread_partitions(&stage->log) || probe_wipe(&stage->log) ||
	       device_reread_partitions(&stage->log) ? fail_code() : 0;
}

/*
 * Make the log on the claimed device, and drop the claim, so that the kernel can have it.  A crash
 * leaves a device without a valid log, or with an empty one.
 */
int stage_format(struct stage *stage, const struct arguments *args)
{
	u32 flags = option_given(args, OPTION_RESERVE) ? NEARCACHE_STAGE_RESERVE : 0;
	struct nearcache_stage_super *sb = device_buffer(sizeof(*sb));
	char path[PATH_MAX];

	if (sb && !clear_log(stage) &&
	    !stage_log_format(&stage->log, &stage->origin, stage->cache, flags, sb))
		stage->sb = *sb;
	free(sb);
	strcpy(path, stage->log.path);
	device_close(&stage->log);
	return fail_code() ? (int)fail_code() : device_open(&stage->log, path, "log device");
}

/*
 * Wipe the log if it is still that of @stage.  The device is not in use.  Release the origin first:
 * the key is derived from the log, and nothing else on this node knows it.
 */
int stage_format_wipe(struct stage *stage)
{
	struct stage_log now = { 0 };

	if (device_claim(&stage->log) || stage_log_read(&now, &stage->log)) {
		fail_add("log device '%s' still carries the log", stage->log.path);
	} else if (now.best && !uuid_compare(now.best->uuid, stage->sb.uuid)) {
		stage_unreserve(now.best, &stage->origin);
		stage_log_wipe(&stage->log);
	}
	stage_log_free(&now);
	device_close(&stage->log);
	return fail_code();
}
