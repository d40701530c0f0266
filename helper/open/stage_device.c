// SPDX-License-Identifier: GPL-2.0-only
#include "open/stage_device.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <uuid/uuid.h>

#include "block/device_sysfs.h"
#include "block/dm_remove.h"
#include "block/kmsg.h"
#include "block/lock.h"
#include "lib/error.h"
#include "lib/print.h"
#include "ondisk/superblock.h"
#include "open/activate.h"
#include "open/lvm_filter.h"
#include "open/origin_users.h"
#include "open/uncached_writes.h"

/* Print the name of the stage of @cache to @name (NAME_SIZE bytes). */
const char *stage_name(const char *cache, char *name)
{
	snprintf(name, NAME_SIZE, "%s" STAGE_ENDING, cache);
	return name;
}

/* Fail if the name of a cache leaves no room for that of its stage. */
int stage_check_name(const char *cache)
{
	size_t most = NAME_SIZE - 1 - strlen(STAGE_ENDING);

	if (strlen(cache) <= most)
		return 0;
	return fail(CODE_USAGE,
		    "'%s' is too long for a cache with a stage: at most %zu bytes, because the stage is NAME"
		    STAGE_ENDING, cache, most);
}

/* Print the path of the device to @path (PATH_MAX bytes). */
const char *stage_path(const struct stage *stage, char *path)
{
	snprintf(path, PATH_MAX, "/dev/mapper/%s", stage->name);
	return path;
}

static void stage_uuid(const struct stage *stage, char *uuid)
{
	strcpy(uuid, DM_STAGE_PREFIX);
	uuid_unparse_lower(stage->sb.uuid, uuid + strlen(uuid));
}

/*
 * The device of an earlier run: use it if it has the same log and origin.  A run that was killed
 * between the two devices of a cache leaves it behind, and nothing is lost.
 */
static int adopt_device(struct stage *stage, const struct dm_device *dev,
			const struct arguments *args)
{
	char uuid[sizeof(DM_STAGE_PREFIX) + SUPER_UUID_TEXT];
	struct stage_params params;

	stage_uuid(stage, uuid);
	if (strcmp(dev->uuid, uuid))
		return fail(CODE_BUSY,
			    "a device-mapper device '%s' exists that is not the stage of the log '%s': choose another name, or close it",
			    dev->name, stage->log.path);
	if (!dev->live)
		return dm_remove(dev->name);
	if (!dev->stage || !dev->table || !stage_params_parse(dev->table, &params) ||
	    params.log != stage->log.number || params.origin != stage->origin.number)
		return fail(CODE_BUSY,
			    "device '%s' uses other devices than '%s' and '%s': 'nearcache close %s --keep' removes it, then open it again",
			    dev->name, stage->log.path, stage->origin.path, stage->cache);
	if (dev->suspended)
		return fail(CODE_BUSY,
			    "the stage '%s' is suspended, and its users wait: 'dmsetup resume %s' starts it, or 'nearcache attach %s --origin DEV --force'",
			    dev->name, dev->name, stage->cache);
	if (option_given(args, OPTION_DROP_UNREADABLE))
		return fail(CODE_BUSY,
			    "the stage '%s' runs, so its log could be read: leave out --drop-unreadable",
			    dev->name);
	if (option_given(args, OPTION_NO_RESERVE) ||
	    (option_given(args, OPTION_RESERVE) && !stage_is_reserved(&stage->sb)))
		return fail(CODE_BUSY,
			    "the stage '%s' runs: 'nearcache close %s --keep' first, then open it with --reserve or --no-reserve",
			    dev->name, stage->cache);
	stage->running = true;
	stage->number = dev->number;
	stage->params = params;
	return 0;
}

int stage_set(const struct dm_device *dev, const char *option, uint64_t value)
{
	char message[64];

	snprintf(message, sizeof(message), "set %s %" PRIu64, option, value);
	return dm_message(dev, message);
}

/* A limit replaces both limits: that of bytes and that of time. */
int stage_set_limit(const struct dm_device *dev, const struct stage_limit *limit)
{
	return stage_set(dev, "max_behind", limit->bytes) ||
	       stage_set(dev, "max_behind_time", limit->seconds) ? fail_code() : 0;
}

int stage_set_on_full(const struct dm_device *dev, unsigned int on_full)
{
	char message[64];

	snprintf(message, sizeof(message), "set on_full %s", stage_on_full_word(on_full));
	return dm_message(dev, message);
}

/* Give the device of an earlier run the options of this one. */
static int apply_options(struct stage *stage, const struct dm_device *dev,
			 const struct arguments *args)
{
	if (option_given(args, OPTION_DRAIN_RATE)) {
		if (stage_set(dev, "rate", args->drain_rate))
			return fail_code();
		stage->params.rate = args->drain_rate;
	}
	if (option_given(args, OPTION_ORIGIN_TIMEOUT)) {
		if (stage_set(dev, "origin_timeout", args->origin_timeout))
			return fail_code();
		stage->params.origin_timeout = args->origin_timeout;
	}
	if (option_given(args, OPTION_ON_FULL)) {
		if (stage_set_on_full(dev, args->on_full))
			return fail_code();
		stage->params.on_full = args->on_full;
	}
	if (!option_given(args, OPTION_MAX_BEHIND))
		return 0;
	stage->params.max_behind = args->max_behind;
	return stage_set_limit(dev, &args->max_behind);
}

static int find_device(struct stage *stage, const struct arguments *args)
{
	struct dm_device dev;
	bool found;

	if (dm_find(stage->name, &dev, &found))
		return fail_code();
	if (found && !adopt_device(stage, &dev, args) && stage->running &&
	    !option_given(args, OPTION_DRY_RUN))
		apply_options(stage, &dev, args);
	dm_device_free(&dev);
	return fail_code();
}

/* Nothing else may use the origin: it lacks writes of the log, and takes them at any time. */
static int check_origin(const struct stage *stage)
{
	return activate_check_free(&stage->origin) ||
	       neighbour_check(&stage->origin, NEARCACHE_WRITEAROUND, stage->cache) ?
	       fail_code() : 0;
}

static int check_log(const struct stage *stage)
{
	bool busy;

	if (device_test_claim(&stage->log, &busy))
		return fail_code();
	return busy ? fail(CODE_BUSY,
			   "log device '%s' is in use: close it first (lsblk shows the devices on top of it)",
			   stage->log.path) : 0;
}

/*
 * Record @id as the device id of the origin.  No device uses the log yet, and this function ends its
 * claim of the log, so that the kernel can open it.
 */
static int record_origin(struct stage *stage, const char *id)
{
	struct device log = DEVICE_CLOSED;

	if (!device_open_number(&log, stage->log.number, "log device") &&
	    !stage_log_record_origin(&log, stage->sb.uuid, id))
		memcpy(stage->sb.origin_id, id, sizeof(stage->sb.origin_id));
	device_close(&log);
	return fail_code();
}

/*
 * --drop-unreadable without the cache, which may have writes that the log loses: record that it is to
 * be emptied.  The caller holds lock_all().
 */
static int record_loss(const struct stage *stage)
{
	char id[DEVICE_ID];

	if (!stage->params.drop_unreadable || stage->emptied ||
	    !gaps_begin(stage->cache, stage_id(stage->sb.uuid, id), NULL))
		return 0;
	return fail_add("--drop-unreadable needs it, as the cache may have writes that the log loses: open the stage with its cache");
}

static int start_device(struct stage *stage)
{
	char uuid[sizeof(DM_STAGE_PREFIX) + SUPER_UUID_TEXT], params[STAGE_PARAMS_TEXT];
	struct dm_line line = {
		.target = DM_STAGE_TARGET,
		.bytes = stage->origin.size,
		.params = stage_params_print(&stage->params, params),
	};
	struct kmsg log = kmsg_mark(0);
	struct dm_device dev;
	char dropped[512];
	bool found;

	stage_uuid(stage, uuid);
	if (dm_activate(stage->name, uuid, &line)) {
		kmsg_close(&log);
		return fail_code() == CODE_DEVICE ?
		       fail_add("the log is kept; if a block of it cannot be read, 'nearcache open %s --drop-unreadable' starts with the writes before it; if it cannot be used any more, 'nearcache open %s --abandon-stage' gives it up, and if the cache is lost as well, 'nearcache destroy --stage %s --abandon-stage'",
				stage->cache, stage->cache, stage->log.path) : fail_code();
	}
	stage->made = true;
	if (stage->params.drop_unreadable && kmsg_find(&log, "are dropped", dropped, sizeof(dropped)))
		warn("the kernel says: %s", dropped);
	kmsg_close(&log);
	/* The option was for this start only. */
	stage->params.drop_unreadable = false;
	lvm_filter_notify(stage->origin.number);
	if (dm_find(stage->name, &dev, &found))
		return fail_code();
	stage->running = found && dev.live;
	stage->number = dev.number;
	dm_device_free(&dev);
	return stage->running ? 0 : fail(CODE_DEVICE, "device '%s' is gone", stage->name);
}

/*
 * Start the device.  If --force has accepted an origin with another device id, record the new id in
 * the log, so that the next open finds the origin.  Only the kernel writes the superblock while the
 * stage runs: so write the id before the start, and restore the former one if the start fails.
 */
static int start_for(struct stage *stage)
{
	char before[DEVICE_ID], why[1024];
	enum exit_code code;

	memcpy(before, stage->sb.origin_id, sizeof(before));
	/* An id that is not reported now may be later. */
	if (!*stage->origin.id || !strcmp(before, stage->origin.id))
		return start_device(stage);
	if (record_origin(stage, stage->origin.id) || !start_device(stage) || stage->made)
		return fail_code();
	code = fail_code();
	snprintf(why, sizeof(why), "%s", fail_message());
	fail_reset();
	if (record_origin(stage, before))
		return fail(code, "%s; the log '%s' names the origin '%s' now", why,
			    stage->log.path, stage->origin.id);
	return fail(code, "%s", why);
}

/*
 * Make the device, or use that of an earlier run.  The kernel recovers the log, so that the device
 * shows all writes; it begins to drain at once.  The caller holds lock_name() of the cache.  A dry
 * run does all checks.
 */
int stage_activate(struct stage *stage, const struct arguments *args)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);

	stage->params = (struct stage_params){
		.log = stage->log.number,
		.origin = stage->origin.number,
		.rate = args->drain_rate,
		.max_behind = args->max_behind,
		.origin_timeout = args->origin_timeout,
		.drop_unreadable = option_given(args, OPTION_DROP_UNREADABLE),
		.on_full = args->on_full,
	};
	if (find_device(stage, args) || stage->running)
		return fail_code();
	if (dry_run)
		return check_log(stage) || check_origin(stage) || stage_reserve(stage, args) ?
		       fail_code() : 0;
	if (dm_need_stage_target() || lock_all(&stage->origin) || check_log(stage) ||
	    check_origin(stage) || stage_reserve(stage, args) || record_loss(stage))
		return fail_code();
	return start_for(stage);
}

static bool is_in_use(const char *name)
{
	struct dm_device dev;
	bool used;

	if (dm_find(name, &dev, &used))
		return true;
	used = used && dev.open_count;
	dm_device_free(&dev);
	return used;
}

/*
 * After a failure: remove the device if this run has made it, unless the cache is above it already.
 * The log keeps all writes.
 */
void stage_undo(struct stage *stage)
{
	if (!stage->made || is_in_use(stage->name))
		return;
	if (!dm_remove(stage->name))
		stage->made = stage->running = false;
	else
		fail_add("'nearcache close %s' removes it", stage->cache);
}

/* Find the stage below a cache.  If @found, dm_device_free() of @dev is needed. */
int stage_below(const struct dm_device *cache, struct dm_device *dev, bool *found)
{
	char uuid[130], name[DEVICE_DM_NAME];

	*found = false;
	memset(dev, 0, sizeof(*dev));
	if (!cache->origin || !identity_attribute(cache->origin, "dm/uuid", uuid, sizeof(uuid)) ||
	    !dm_uuid_is_stage(uuid) ||
	    !identity_attribute(cache->origin, "dm/name", name, sizeof(name)))
		return 0;
	return dm_find(name, dev, found);
}

/* Find the device NAME-stage, also without a cache above it.  If @found, free @dev as above. */
int stage_of_name(const char *cache, struct dm_device *dev, bool *found)
{
	char name[NAME_SIZE];

	memset(dev, 0, sizeof(*dev));
	*found = false;
	if (strlen(cache) + strlen(STAGE_ENDING) >= sizeof(name))
		return 0;
	if (dm_find(stage_name(cache, name), dev, found) || !*found)
		return fail_code();
	*found = dm_uuid_is_stage(dev->uuid);
	if (!*found)
		dm_device_free(dev);
	return 0;
}

int stage_need_status(const struct dm_device *dev, struct stage_status *status)
{
	if (dev->stage && dev->status && stage_status_parse(dev->status, status))
		return 0;
	return fail(CODE_DEVICE,
		    "the status of device '%s' is unknown ('%s'): has it a table, and is the kernel module of the version of this command?",
		    dev->name, dev->status ? dev->status : "");
}

/*
 * Give the stage the new size of its origin, while it is in use: its writers wait meanwhile.  The
 * kernel records the size in the log.
 */
int stage_grow(const struct dm_device *dev, uint64_t bytes)
{
	struct dm_line line = {
		.target = DM_STAGE_TARGET,
		.bytes = bytes,
		.params = dev->table,
	};

	if (dm_load(dev->name, &line))
		return fail_add("device '%s' goes on as before", dev->name);
	if (dm_resume(dev->name, DM_READ_AHEAD_KERNEL, DM_SUSPEND_DRAIN)) {
		dm_clear(dev->name);
		return fail_add("'dmsetup resume %s' lets its users go on, if it is suspended",
				dev->name);
	}
	return 0;
}

/*
 * Record how the device was closed, then release its origin.  In the reverse order, an interruption
 * would leave a log that may hold writes, and an origin without reservation, which open refuses.
 */
static int record_closed(const struct dm_device *dev, const struct stage_params *params,
			 bool drained, bool keep)
{
	struct device log = DEVICE_CLOSED, origin = DEVICE_CLOSED;
	struct stage_closing closing = { .drained = drained };
	struct stage_log now = { 0 };
	uuid_t uuid;

	if (!uuid_parse(dev->uuid + strlen(DM_STAGE_PREFIX), uuid) &&
	    !device_open_number(&log, params->log, "log device") && !stage_log_read(&now, &log) &&
	    !stage_log_require(&now, &log)) {
		/* The origin may be gone. */
		if (device_open_number(&origin, params->origin, "origin"))
			fail_reset();
		if (keep)
			closing.reservation = stage_reservation(now.best, &origin);
		if (!stage_log_record_closed(&log, uuid, &closing) && drained && !keep)
			stage_unreserve(now.best, &origin);
	}
	stage_log_free(&now);
	device_close(&origin);
	device_close(&log);
	return fail_code();
}

/*
 * Remove the device.  @drained: the caller has seen that the origin has all writes; record this in
 * the log, so that the origin can be used without it.  @keep: a reservation of the origin stays.
 * The device is not open, so there are no writes in between.
 */
int stage_remove(const struct dm_device *dev, bool drained, bool keep)
{
	struct stage_params params;

	if (stop_check(dev) || dm_remove(dev->name))
		return fail_code();
	if (!dev->table || !stage_params_parse(dev->table, &params))
		return 0;
	/* A log that is given up may hang. */
	if ((drained || keep) && record_closed(dev, &params, drained, keep))
		warn("%s; the log has no record of this close: the next open assumes that the origin may have changed%s",
		     fail_message(), drained ? " and may lack writes" : "");
	fail_reset();
	/* Programs that look at the origin now find it released. */
	lvm_filter_notify(params.origin);
	return 0;
}

/* Print a stage that stage_activate() made or, in a dry run, would make. */
void stage_print(const struct stage *stage)
{
	char params[STAGE_PARAMS_TEXT], line[STAGE_PARAMS_TEXT + 64], path[PATH_MAX];

	snprintf(line, sizeof(line), "0 %llu " DM_STAGE_TARGET " %s",
		 (unsigned long long)(stage->origin.size / 512),
		 stage_params_print(&stage->params, params));
	print_record("stage", "Stage");
	print_string("device", "device", stage_path(stage, path));
	print_string("log", "log device", stage->log.path);
	print_bytes("log_size", "size of the log", stage->log.size);
	print_string("origin", "origin", stage->origin.path);
	print_detail("table", "table", line);
	print_string("retained", stage->retained ? "retained data" : NULL, stage->retained);
	stage_print_key(&stage->sb);
	lvm_filter_print(&stage->origin, stage->cache);
	/* Without a device id, open cannot notice another volume. */
	print_string("not_noticed", "not noticed", *stage->origin.id ? NULL :
		     "another volume in the place of the origin, unless its size, or its first and last 64 KiB differ: the origin has no wwid, serial or uuid; 'open' needs --origin DEV");
	print_end();
}

void stage_close(struct stage *stage)
{
	device_close(&stage->log);
	device_close(&stage->origin);
}
