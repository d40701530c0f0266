// SPDX-License-Identifier: GPL-2.0-only
/* Checks that a block device is the lost origin of a device in use, and makes it the origin. */
#include "open/lvm_filter.h"
#include "open/reconnect_origin.h"

#include <string.h>
#include <uuid/uuid.h>

#include "open/activate.h"
#include "open/content_sample.h"
#include "ondisk/print_superblock.h"
#include "lib/error.h"
#include "open/uncached_writes.h"
#include "block/device_sysfs.h"
#include "block/lock.h"
#include "open/origin_users.h"
#include "open/origin_match.h"
#include "open/witness_proof.h"
#include "lib/print.h"
#include "block/dm_reload.h"

/**
 * struct reconnection - the state of one reconnection
 * @args: the command line
 * @dev: the device in use, as it was found
 * @old: parameters of the dm table before the change
 * @before: status before the change
 * @now: the device after the change
 * @after: status after the change
 * @match: the new origin and the cache device
 * @members: the other cache devices
 * @judged: the cache device could be read, so @match.super says which origin is right
 * @gap: the origin may have been written to while it was disconnected
 */
struct reconnection {
	const struct arguments *args;
	const struct dm_device *dev;
	struct params old;
	struct status before;
	struct dm_device now;
	struct status after;
	struct origin_match match;
	struct members members;
	bool judged;
	bool gap;
};

/*
 * True if the kernel has removed the origin of a device. The check by number is safe: as long as
 * @dev has the removed origin open, the kernel gives the number to no other device.
 */
bool reconnect_needed(const struct dm_device *dev)
{
	char name[128];

	return dev->origin &&
	       !identity_kernel_name(dev->origin, name, sizeof(name));
}

/*
 * Append the next step to a recorded error if the origin is gone: the kernel then refuses tables,
 * and the origin cannot be opened.  Returns the exit code of the run.
 */
int reconnect_explain(const struct dm_device *dev)
{
	if (reconnect_needed(dev))
		fail_add("the origin of '%s' is gone: connect it, run 'nearcache attach %s', then repeat this command",
			 dev->name, dev->name);
	return fail_code();
}

static int check_gone(const struct reconnection *re)
{
	const struct dm_device *dev = re->dev;
	char path[PATH_MAX];

	if (reconnect_needed(dev))
		return 0;
	device_path_of(dev->origin, path);
	if (re->match.origin.number == dev->origin)
		return fail(CODE_BUSY,
			    "device '%s' has this origin already ('%s'), which is connected",
			    dev->name, path);
	return fail(CODE_BUSY,
		    "the origin '%s' of '%s' is still connected: only a disconnected origin ('nvme disconnect') can be replaced by its new device; to cache another volume, close '%s' and open it with --origin",
		    path, dev->name, dev->name);
}

/*
 * Read the superblock, which has the device id of the origin. If it cannot be read, the user must
 * name the origin with --origin and confirm it with --force.
 */
static int read_cache(struct reconnection *re)
{
	struct origin_match *match = &re->match;

	if (!device_open_number(&match->cache, re->old.cache, "cache device") &&
	    !super_read(&match->super, &match->cache) &&
	    !super_require(&match->super, &match->cache)) {
		re->judged = true;
		return 0;
	}
	if (!re->args->origin)
		return fail_add("it stores the id of the origin: name the origin with --origin DEV");
	if (!option_given(re->args, OPTION_FORCE))
		return fail_add("it stores the id of the origin, so '%s' is unverified: if you know that it is the origin, use --force",
				re->args->origin);
	fail_reset();
	return 0;
}

static int check_size(const struct reconnection *re)
{
	const struct device *origin = &re->match.origin;

	if (origin->size >= re->dev->size)
		return 0;
	return fail(CODE_DEVICE,
		    "'%s' has %llu bytes, device '%s' has %llu: it is another volume, or became smaller",
		    origin->path, (unsigned long long)origin->size,
		    re->dev->name, (unsigned long long)re->dev->size);
}

/* The checks that --force does not skip: size, block size, mode and other users of the origin. */
static int check_fits(const struct reconnection *re)
{
	const struct device *origin = &re->match.origin;
	const struct nearcache_super *sb = re->match.super.best;

	if (check_size(re))
		return fail_code();
	if (re->judged && origin->lbs != le32_to_cpu(sb->origin_lbs))
		return fail(CODE_DEVICE,
			    "'%s' has logical blocks of %u bytes, the origin of '%s' has %u bytes",
			    origin->path, origin->lbs, re->dev->name,
			    le32_to_cpu(sb->origin_lbs));
	if (identity_overlap(origin->number, re->old.cache))
		return fail(CODE_DEVICE,
			    "'%s' shares storage with the cache device of '%s'",
			    origin->path, re->dev->name);
	if (activate_check_mode(origin, re->old.mode) ||
	    activate_check_free(origin) ||
	    neighbour_check(origin, re->old.mode, re->dev->name))
		return fail_code();
	return 0;
}

/* The superblock has no device id: only equal fingerprints can show that this is the origin. */
static int check_nameless(const struct reconnection *re)
{
	const struct origin_match *match = &re->match;

	if (!match_is_cold(match) && !(match->differs & MATCH_CONTENT))
		return 0;
	return fail(CODE_DEVICE,
		    "nothing shows that '%s' is the origin of '%s': no device id is recorded, and %s; if you know that it is the origin, use --force",
		    match->origin.path, re->dev->name,
		    match_is_cold(match) ? "it may have been written to" :
					 "its first or last 64 KiB differ");
}

/*
 * Let match_compare() compare a sample as well. The kernel goes on to use the cache device, but
 * without an origin it fills no slots, so the slot table on the medium stays valid.
 */
static void want_sample(struct reconnection *re)
{
	struct origin_match *match = &re->match;

	match->members = &re->members;
	match->sample = SAMPLE_BYTES;
	match->sample_ms = SAMPLE_MS;
	/* Data of a member that cannot be opened is not compared. */
	if (members_open_numbers(&re->members, &re->old))
		fail_reset();
}

/*
 * Fail if the content changed and either --on-change=refuse is given or only the file system or the
 * sample shows the change. Other changes are left to the kernel: it compares the ends and drops the
 * cached data.
 */
static int check_content(const struct reconnection *re)
{
	const struct origin_match *match = &re->match;
	bool refuse = match->on_change == ON_CHANGE_REFUSE;
	bool hidden = match->file_system || match->sample_differs;
	char text[MATCH_TEXT];

	if (!(match->differs & MATCH_CONTENT) || !(refuse || hidden))
		return 0;
	fail(CODE_DEVICE, "'%s' was changed while it was disconnected (%s)",
	     match->origin.path, match_content(match, text));
	if (hidden)
		return fail_add("'nearcache invalidate %s' drops the cached data; then try again",
				re->dev->name);
	return fail_add("without --on-change=refuse it is accepted, and the cached data is dropped");
}

static int check_identity(struct reconnection *re)
{
	const struct origin_match *match = &re->match;
	const char *id;

	if (!re->judged)
		return 0;
	want_sample(re);
	if (match_compare(&re->match))
		return fail_code();
	id = (const char *)match->super.best->origin_id;
	if (check_content(re))
		return fail_code();
	if (option_given(re->args, OPTION_FORCE))
		return 0;
	if (!*id)
		return check_nameless(re);
	if (match->differs & MATCH_ID)
		return fail(CODE_DEVICE,
			    "'%s' is '%s', the origin of '%s' is '%s': if you know that it is the same volume, use --force",
			    match->origin.path, match->origin.id, re->dev->name,
			    id);
	return 0;
}

/* Set @re->gap if a pass-through device may have written. If so and --on-change=refuse, fail. */
static int check_gaps(struct reconnection *re)
{
	const struct origin_match *match = &re->match;
	struct nearcache_super unknown = { 0 };

	if (strlen(re->dev->uuid) > strlen(DM_UUID_PREFIX))
		uuid_parse(re->dev->uuid + strlen(DM_UUID_PREFIX), unknown.uuid);
	if (gaps_concern(re->judged ? match->super.best : &unknown,
			 match->origin.id, &re->gap))
		return fail_code();
	if (!re->gap || match->on_change != ON_CHANGE_REFUSE)
		return 0;
	return fail(CODE_DEVICE,
		    "'%s' may have been written to by a pass-through device: without --on-change=refuse it is accepted, and the cached data is dropped",
		    match->origin.path);
}

/*
 * After a gap, drop all cached data before the new origin is in use. The gap stays recorded,
 * because it is unknown when the drop becomes durable; the next open empties the cache once more.
 */
static int drop_all(const struct reconnection *re)
{
	return re->gap ? dm_message(re->dev, "invalidate all") : 0;
}

/* Open the new origin and run all checks. Changes nothing. */
static int check_reconnect(struct reconnection *re)
{
	struct origin_match *match = &re->match;
	const char *path = re->args->origin;

	if (path && device_open(&match->origin, path, "origin"))
		return fail_code();
	if (check_gone(re) || read_cache(re) ||
	    (!path && match_find_origin(match)))
		return fail_code();
	match->size = match->origin.size;
	return lock_all(&match->origin) || check_fits(re) ||
	       check_identity(re) || check_gaps(re) ? fail_code() : 0;
}

static int execute_reconnect(struct reconnection *re)
{
	struct params params = re->old;

	params.origin = re->match.origin.number;
	if (drop_all(re) ||
	    reload(re->dev, &re->old, &params, re->dev->size, true))
		return fail_code();
	lvm_filter_notify(params.origin);
	if (dm_need_ours(re->dev->name, &re->now) ||
	    describe_status(&re->now, &re->after))
		return fail_add("the new origin is already in use");
	return 0;
}

/*
 * Return "dropped" if the counter of dropped bytes grew. If the reload loaded the cache again, the
 * counter starts at zero: then the valid bytes decide between "warm" and "cold".
 */
static const char *content_word(const struct reconnection *re)
{
	uint64_t dropped =
		re->after.counter[NEARCACHE_COUNTER_INVALIDATED_BYTES];

	if (dropped >
	    re->before.counter[NEARCACHE_COUNTER_INVALIDATED_BYTES])
		return "dropped";
	return re->after.field[NEARCACHE_FIELD_BYTES_VALID] ? "warm" : "cold";
}

static void print_after(const struct reconnection *re)
{
	const char *content = content_word(re);

	print_string("state", "state", describe_state(&re->now, &re->after));
	print_string("content", NULL, content);
	if (!strcmp(content, "dropped"))
		print_string(NULL, "cached content",
			     "dropped: the origin was changed, or may have lost writes");
	print_bytes("bytes_valid", "valid bytes",
		    re->after.field[NEARCACHE_FIELD_BYTES_VALID]);
}

static void report_reconnect(const struct reconnection *re)
{
	const struct dm_device *dev = re->dev;
	bool dry_run = option_given(re->args, OPTION_DRY_RUN);
	char path[PATH_MAX], changed[MATCH_TEXT];

	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	print_string("mode", "mode", mode_word(re->old.mode));
	print_string("origin", "origin", re->match.origin.path);
	print_string("origin_before", "before",
		     device_path_of(dev->origin, path));
	print_string("changed", NULL,
		     re->judged ? match_changed(&re->match, changed) : NULL);
	print_number("reads_waiting", "reads that waited",
		     re->before.field[NEARCACHE_FIELD_READS_WAITING]);
	if (!dry_run)
		print_after(re);
	reload_print_started(dev, dry_run);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
}

static void warn_of_rest(const struct reconnection *re)
{
	const struct origin_match *match = &re->match;
	const char *name = re->dev->name;

	if (option_given(re->args, OPTION_DRY_RUN))
		return;
	if (match->origin.size > re->dev->size)
		warn("origin '%s' has grown: 'nearcache resize %s' uses the new size",
		     match->origin.path, name);
	if (re->judged && match->differs & MATCH_ID)
		warn("the cache still records '%s' as its origin: the next open needs --origin, and --on-change=trust",
		     (const char *)match->super.best->origin_id);
}

static int run_reconnect(struct reconnection *re)
{
	if (reload_prepare(re->dev, option_given(re->args, OPTION_FORCE), &re->old) ||
	    describe_status(re->dev, &re->before))
		return fail_code();
	if (check_reconnect(re))
		return fail_add("device '%s' goes on as before",
				re->dev->name);
	if (!option_given(re->args, OPTION_DRY_RUN) && execute_reconnect(re))
		return fail_code();
	report_reconnect(re);
	warn_of_rest(re);
	return 0;
}

/*
 * Give a device in use its origin back; reads that waited for the origin then continue. After a
 * failure the device works as before, or the error says that it does not. Without --origin in @args
 * the origin is found by its device id.
 */
int reconnect(const struct dm_device *dev, const struct arguments *args)
{
	struct reconnection re = {
		.args = args,
		.dev = dev,
		.match = {
			.origin = DEVICE_CLOSED,
			.cache = DEVICE_CLOSED,
			.may_grow = true,
			.on_change = args->on_change,
		},
	};

	run_reconnect(&re);
	super_free(&re.match.super);
	device_close(&re.match.origin);
	device_close(&re.match.cache);
	members_close(&re.members);
	dm_device_free(&re.now);
	return fail_code();
}
