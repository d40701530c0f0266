// SPDX-License-Identifier: GPL-2.0-only
/* nearcache set: change settings of a device in use. */
#include <string.h>
#include <sys/stat.h>

#include "open/activate.h"
#include "cmd/commands.h"
#include "ondisk/print_superblock.h"
#include "block/device.h"
#include "block/device_sysfs.h"
#include "lib/error.h"
#include "block/lock.h"
#include "block/signals.h"
#include "open/members.h"
#include "lib/name.h"
#include "open/origin_users.h"
#include "open/remembered.h"
#include "lib/print.h"
#include "open/reconnect_origin.h"
#include "block/readahead.h"
#include "block/dm_reload.h"
#include "cli/setting.h"
#include "cluster/home.h"
#include "cluster/homes.h"
#include "block/dm_remove.h"
#include "ondisk/superblock.h"
#include "open/stage_device.h"
#include "open/witness.h"

/*
 * @old, @new: parameters of the dm table before and after the change
 * @fill_memory: the cap of the memory for fills before the change, bytes, even if @old does not state it
 * @chosen: the same after the change, if @new does not state it
 * @waiting: number of reads that wait for the origin
 * @witness_path: the witness as the user names it; NULL: the user names none
 * @witness: the new witness; its path is empty if there is none
 * @uuid, @session: the cache's uuid and last session number in the superblock, if @witness is used
 * @claim: the cache has no current record on @witness and needs a new one
 * @known: the record on @witness says that the cache moved to another witness
 * @renew: @witness is in the dm table already, but a crash would empty the cache.  Reload the dm
 *	table, because a new session can make the record valid again
 * @ahead_said: the user gave a readahead; @ahead, @ahead_before: new and old readahead, bytes
 * @ahead_of: the device that has it: readers read the cluster device if the user named one
 */
struct change {
	struct dm_device dev;
	struct params old;
	struct params new;
	u64 fill_memory;
	u64 chosen;
	u64 waiting;
	const char *witness_path;
	struct witness witness;
	u8 uuid[16];
	u64 session;
	bool claim;
	bool known;
	bool renew;
	bool ahead_said;
	uint64_t ahead;
	uint64_t ahead_before;
	dev_t ahead_of;
};

/* Read @uuid and @session from the cache device: the uuid of @dev may be of an earlier cache. */
static int read_uuid(struct change *change, struct device *cache)
{
	struct super super = { 0 };

	if (!device_open_number(cache, change->old.cache, "cache device") &&
	    !super_read(&super, cache) && !super_require(&super, cache)) {
		memcpy(change->uuid, super.best->uuid, sizeof(change->uuid));
		change->session = le64_to_cpu(super.best->session);
	}
	super_free(&super);
	device_close(cache);
	return fail_code();
}

/* The witness must not be on the drive of a cache device.  @old has the numbers of the devices. */
static int check_members(struct change *change, const struct device *cache,
			 const struct device *origin)
{
	struct members members;

	if (!members_open_numbers(&members, &change->old))
		members_check_witness(&members, &change->witness, cache, origin);
	members_close(&members);
	return fail_code();
}

static int check_witness(struct change *change, bool force)
{
	struct device cache = DEVICE_CLOSED, origin = DEVICE_CLOSED;
	struct witness_claim claim = { .uuid = change->uuid, .force = force };
	struct nearcache_witness record;
	bool found;

	/* The number of the origin is enough: opening the origin may hang or fail. */
	origin.number = change->old.origin;
	origin.role = "origin";
	device_path_of(origin.number, origin.path);
	if (witness_open(&change->witness, change->witness_path) ||
	    read_uuid(change, &cache) ||
	    check_members(change, &cache, &origin) ||
	    witness_look(&change->witness, change->uuid, &record, &found) ||
	    witness_prepare(&change->witness, &claim))
		return fail_code();
	change->known = found && !witness_is_current(&record);
	change->claim = !found || change->known;
	change->new.witness = change->witness.dev.number;
	return 0;
}

static int take_witness(struct change *change, bool force)
{
	if (!change->witness_path)
		return 0;
	change->new.witness = 0;
	return witness_named(change->witness_path) ? check_witness(change, force) : 0;
}

static int claim_record(struct change *change, bool force)
{
	struct witness_claim claim = {
		.uuid = change->uuid,
		.session = change->session,
		.ahead = true,
		.force = force,
	};

	return change->claim ? witness_claim(&change->witness, &claim) : 0;
}

/* True if the dm table names witness @number, or if the dm table cannot be read. */
static bool may_be_witness(const struct change *change, dev_t number)
{
	struct dm_device now;
	struct params params;
	bool found, may;

	if (dm_find(change->dev.name, &now, &found))
		return true;
	may = found && (!now.table || !params_parse(now.table, &params) ||
			params.witness == number);
	dm_device_free(&now);
	return may;
}

/* Undo claim_record() after a failed reload.  A failure here is harmless. */
static void give_back(const struct change *change, dev_t number)
{
	struct witness other = WITNESS_CLOSED;

	if (witness_open_number(&other, number))
		return;
	if (change->known)
		witness_move(&other, change->uuid, change->session);
	else
		witness_free(&other, change->uuid);
	witness_close(&other);
}

/*
 * Mark the record on the old witness as moved if the superblock does not name the old witness: then
 * no 'close' ran between the 'set' that chose the old witness and this 'set'.
 */
static void leave_unrecorded(const struct change *change)
{
	struct device cache = DEVICE_CLOSED;
	struct super super = { 0 };
	dev_t old = change->old.witness;
	struct stat st;

	if (!change->witness_path || !old || old == change->new.witness)
		return;
	if (!device_open_number(&cache, change->old.cache, "cache device") &&
	    !super_read(&super, &cache) && super.best &&
	    !(witness_named((const char *)super.best->witness) &&
	      (stat((const char *)super.best->witness, &st) ||
	       st.st_rdev == old))) {
		struct witness before = WITNESS_CLOSED;

		if (!witness_open_number(&before, old))
			witness_move(&before, super.best->uuid,
				     le64_to_cpu(super.best->session));
		witness_close(&before);
	}
	super_free(&super);
	device_close(&cache);
	fail_reset();
}

static int prepare_set(struct change *change, const struct arguments *args)
{
	struct status status;

	if (reload_prepare(&change->dev, option_given(args, OPTION_FORCE),
			   &change->old) ||
	    describe_status(&change->dev, &status))
		return fail_code();
	change->fill_memory = status.field[NEARCACHE_FIELD_FILL_MEMORY_MAX];
	change->waiting = status.field[NEARCACHE_FIELD_READS_WAITING];
	change->new = change->old;
	readahead_get(change->ahead_of, &change->ahead_before);
	change->ahead = change->ahead_before;
	change->ahead_said = setting_read_ahead(args->operand + 1,
						args->operands - 1,
						&change->ahead);
	change->witness_path = setting_witness(args->operand + 1, args->operands - 1);
	if (setting_apply(args->operand + 1, args->operands - 1,
			  &change->new) ||
	    take_witness(change, option_given(args, OPTION_FORCE)))
		return fail_code();
	change->renew = change->witness_path && change->new.witness &&
		status.field[NEARCACHE_FIELD_WITNESS] == NEARCACHE_WITNESS_COLD;
	/* Do not add a value to the dm table if it equals the default. */
	if (!change->old.cache_timeout_given &&
	    change->new.cache_timeout == PARAMS_CACHE_TIMEOUT_DEFAULT)
		change->new.cache_timeout_given = false;
	if (!change->old.origin_timeout_given && !change->new.origin_timeout)
		change->new.origin_timeout_given = false;
	if (!change->old.verify_given && !change->new.verify)
		change->new.verify_given = false;
	return 0;
}

static bool table_differs(const struct change *change)
{
	return change->old.mode != change->new.mode ||
	       change->old.fill_memory != change->new.fill_memory ||
	       params_cache_timeout(&change->old) !=
	       params_cache_timeout(&change->new) ||
	       change->old.origin_timeout != change->new.origin_timeout ||
	       change->old.verify != change->new.verify ||
	       change->old.witness != change->new.witness;
}

/*
 * The suspend freezes only a file system on the device itself. A device above, such as a logical
 * volume, may have dirty data that cannot be written later.
 */
static void warn_of_holder(const struct dm_device *dev)
{
	char name[512];

	if (identity_writable_holder(dev->number, name, sizeof(name)))
		warn("'%s' is above device '%s': data that a file system on '%s' has not written to '%s' by now is lost",
		     name, dev->name, name, dev->name);
}

/* Fail if users of the device or of the origin conflict with the new mode. */
static int check_mode(const struct change *change, bool force)
{
	struct device origin = DEVICE_CLOSED;
	enum nearcache_mode mode = change->new.mode;

	if (!mode_writes(mode)) {
		if (!mode_writes(change->old.mode))
			return 0;
		if (force)
			warn_of_holder(&change->dev);
		if (force || !stop_check_writers(&change->dev))
			return 0;
		return fail_add("or give --force: further writes fail");
	}
	/* Writes would make the caches of the other nodes stale. */
	if (home_check_free(&change->dev))
		return fail_code();
	/* The lock keeps others from starting a device on the origin until the change. */
	if (!device_open_number(&origin, change->old.origin, "origin") &&
	    !lock_all(&origin) && !activate_check_mode(&origin, mode) &&
	    !activate_check_holders(&origin, change->dev.number))
		neighbour_check(&origin, mode, change->dev.name);
	device_close(&origin);
	return fail_code();
}

static bool changes_table(const struct change *change)
{
	return table_differs(change) || change->claim || change->renew;
}

static bool anything_changes(const struct change *change)
{
	return changes_table(change) || change->ahead != change->ahead_before;
}

/* A suspended device gets here only with --force, and the reload resumes it. */
static bool needs_reload(const struct change *change)
{
	return changes_table(change) || change->dev.suspended;
}

/*
 * True if the new dm table takes over the reads that wait for the origin.  Otherwise the suspension
 * waits for these reads, up to origin_timeout.  A change of the mode waits for them: a change to
 * read-only freezes the file system first, and the others flush the origin.
 */
static bool hands_over(const struct change *change)
{
	return change->waiting && change->old.mode == change->new.mode;
}

/* Read the cap that the kernel has chosen.  A dry run can only tell the lowest one. */
static void look_at_cap(struct change *change, bool dry_run)
{
	struct dm_device now;
	struct status status;

	change->chosen = change->old.fill_memory ? PARAMS_FILL_MEMORY_LEAST : change->fill_memory;
	if (dry_run || !change->old.fill_memory || change->new.fill_memory)
		return;
	if (!dm_need_ours(change->dev.name, &now)) {
		if (!describe_status(&now, &status))
			change->chosen = status.field[NEARCACHE_FIELD_FILL_MEMORY_MAX];
		dm_device_free(&now);
	}
	fail_reset();
}

static void report_timeouts(const struct params *old, const struct params *new)
{
	unsigned int before = params_cache_timeout(old);
	unsigned int after = params_cache_timeout(new);

	print_milliseconds("cache_timeout_ms", "cache timeout", after);
	print_milliseconds("cache_timeout_ms_before",
			   before != after ? "before" : NULL, before);
	before = old->origin_timeout;
	after = new->origin_timeout;
	print_seconds("origin_timeout_s", "origin timeout", after);
	print_seconds("origin_timeout_s_before",
		      before != after ? "before" : NULL, before);
}

static void report_witness(const struct params *old, const struct params *new)
{
	bool differ = old->witness != new->witness;
	char path[PATH_MAX];

	print_string("witness", old->witness || new->witness ? "witness" : NULL,
		     new->witness ? device_path_of(new->witness, path) : NULL);
	print_string("witness_before", differ ? "before" : NULL,
		     old->witness ? device_path_of(old->witness, path) : NULL);
}

static void report_set(const struct change *change, bool dry_run)
{
	u64 before = change->fill_memory;
	u64 after = change->new.fill_memory ? change->new.fill_memory : change->chosen;

	print_record(NULL, change->dev.name);
	print_string("name", NULL, change->dev.name);
	print_flag("changed", NULL, anything_changes(change) && !dry_run);
	print_string("mode", "mode", mode_word(change->new.mode));
	print_string("mode_before",
		     change->old.mode != change->new.mode ? "before" : NULL,
		     mode_word(change->old.mode));
	print_bytes("fill_memory", "fill memory cap", after);
	print_bytes("fill_memory_before", before != after ? "before" : NULL,
		    before);
	print_flag("fill_memory_auto", NULL, !change->new.fill_memory);
	report_timeouts(&change->old, &change->new);
	print_number("verify", "verify", change->new.verify);
	print_number("verify_before",
		     change->old.verify != change->new.verify ? "before" : NULL,
		     change->old.verify);
	report_witness(&change->old, &change->new);
	print_bytes("read_ahead", change->ahead_said ? "read-ahead" : NULL,
		    change->ahead);
	print_bytes("read_ahead_before",
		    change->ahead != change->ahead_before ? "before" : NULL,
		    change->ahead_before);
	if (!anything_changes(change))
		print_string(NULL, "unchanged", "all values were set already");
	reload_print_started(&change->dev, dry_run);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
}

static int execute_set(struct change *change, bool force)
{
	dev_t new = change->new.witness;

	if (claim_record(change, force))
		return fail_code();
	if (reload(&change->dev, &change->old, &change->new,
		   change->dev.size, hands_over(change))) {
		if (change->claim && new != change->old.witness &&
		    !may_be_witness(change, new))
			give_back(change, new);
		describe_bypass(change->dev.name);
		return reconnect_explain(&change->dev);
	}
	leave_unrecorded(change);
	return 0;
}

/* Remember the new settings for the next open: the read-ahead if @ahead, otherwise all others. */
static void remember_words(const struct change *change, const struct arguments *args, bool ahead)
{
	const char *uuid = remembered_uuid(change->dev.uuid);

	if (uuid)
		remembered_words(uuid, change->dev.name, args->operand + 1, args->operands - 1, ahead);
}

/*
 * Remember the new witness for the next open. Only close writes it to the superblock, which the
 * kernel uses while the device is open.
 */
static void remember_witness(const struct change *change)
{
	const char *uuid = remembered_uuid(change->dev.uuid);
	struct device cache = DEVICE_CLOSED;
	struct super super = { 0 };

	if (!uuid || !change->witness_path)
		return;
	if (!device_open_number(&cache, change->old.cache, "cache device") &&
	    !super_read(&super, &cache) && super.best)
		remembered_witness(uuid, change->dev.name,
				   change->new.witness ? change->witness.path : WITNESS_NONE,
				   (const char *)super.best->witness);
	super_free(&super);
	device_close(&cache);
	if (fail_code())
		warn("%s; a crash before 'nearcache close' loses the new witness", fail_message());
	fail_reset();
}

/* Called after the reload, which keeps the old readahead. */
static int set_read_ahead(const struct change *change)
{
	if (change->ahead == change->ahead_before)
		return 0;
	if (!readahead_set(change->ahead_of, change->ahead))
		return 0;
	return needs_reload(change) ?
	       fail_add("the other settings are changed already") : fail_code();
}

/* One setting governs both: a stage below the cache gets the same origin_timeout. */
static int set_stage(const struct change *change, const struct arguments *args)
{
	struct dm_device stage;
	bool found, given = false;
	int i;

	for (i = 1; i < args->operands; i++)
		given |= !strncmp(args->operand[i], "origin_timeout=", strlen("origin_timeout="));
	if (!given || stage_below(&change->dev, &stage, &found) || !found)
		return fail_code();
	if (stage_set(&stage, "origin_timeout", change->new.origin_timeout))
		fail_add("the other settings are changed already");
	dm_device_free(&stage);
	return fail_code();
}

/* Warn if the kernel could not read or write the record on the witness. */
static void look_at_witness(const struct change *change)
{
	struct dm_device now;
	struct status status;

	if (!dm_need_ours(change->dev.name, &now)) {
		if (!describe_status(&now, &status) &&
		    status.field[NEARCACHE_FIELD_WITNESS] ==
			    NEARCACHE_WITNESS_COLD)
			warn("device '%s' does not use witness '%s': the kernel log (dmesg) gives the reason",
			     change->dev.name, change->witness.path);
		dm_device_free(&now);
	}
	fail_reset();
}

static int set_device(struct change *change, const struct arguments *args)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	sigset_t before;

	if (prepare_set(change, args))
		return fail_code();
	if (change->old.mode != change->new.mode &&
	    check_mode(change, option_given(args, OPTION_FORCE)))
		return reconnect_explain(&change->dev);
	/* Until the end, so that a ^C does not leave settings in force that are not remembered. */
	if (!dry_run)
		signals_hold(&before);
	if (needs_reload(change) && !dry_run &&
	    execute_set(change, option_given(args, OPTION_FORCE)))
		return fail_code();
	if (!dry_run) {
		remember_words(change, args, false);
		remember_witness(change);
		if (set_read_ahead(change))
			return fail_code();
		if (change->ahead_said && change->ahead_of == change->dev.number)
			remember_words(change, args, true);
		if (set_stage(change, args))
			return fail_code();
	}
	look_at_cap(change, dry_run);
	report_set(change, dry_run);
	if (change->witness_path && change->new.witness && !dry_run)
		look_at_witness(change);
	return 0;
}

static int cmd_set(const struct arguments *args)
{
	struct change change = { .witness = WITNESS_CLOSED };
	struct params unused = { 0 };
	struct homes homes;
	int error;

	error = setting_apply(args->operand + 1, args->operands - 1, &unused);
	if (!error)
		error = homes_find(args->operand[0], &change.dev, &homes);
	if (error)
		return error;
	change.ahead_of = homes_divide(&homes) ? homes.number : change.dev.number;
	homes_free(&homes);
	error = set_device(&change, args);
	witness_close(&change.witness);
	dm_device_free(&change.dev);
	return error;
}

const struct verb set_verb = {
	.name = "set",
	.group = VERBS_DEVICES,
	.operands = "NAME SETTING=VALUE...",
	.operands_min = 2,
	.operands_max = -1,
	.optional = OPTION_FORCE,
	.changes = true,
	.summary = "change settings of a device in use",
	.details =
"Settings:\n"
"  mode=MODE                read-only, writearound or writethrough\n"
"  fill_memory=SIZE|auto    cap of the memory for fills; auto: 64M, more for a distant origin\n"
"  cache_timeout=MS         do not use the cache device after MS without a completion,\n"
"                           until it has ended all requests and answered for 1 to 60\n"
"                           seconds; 0: never (100 to 600000)\n"
"  origin_timeout=SECONDS   how long reads are retried while the origin fails; 0:\n"
"                           they fail with it (to 86400). Writes to a stage fail when\n"
"                           its origin has failed for this time, or completed nothing\n"
"                           for this time and for 30 seconds; 0: never\n"
"  verify=N                 compare one of N hits with the origin, after the reader\n"
"                           was served; 0: none\n"
"  witness=DEV              device on another drive that keeps the cache warm over a\n"
"                           crash in a writing mode, or none; see 'open --help'\n"
"  read_ahead=SIZE          read-ahead of the device, for files opened from then on (0\n"
"                           to 1G); another setting, resize or attach keeps it\n"
"\n"
"I/O waits for a moment, and cached data stays. A device does not become read-only\n"
"without --force while it is mounted read-write, used as swap, open for writing, or open\n"
"by a user that nearcache cannot see (a loop device, an exported target). --force also\n"
"resumes a suspended device. After a failure the old settings hold, or the error says\n"
"that they do not.\n"
"\n"
"Settings are remembered for the next open, in /var/lib/nearcache/settings/UUID on this\n"
"node; 'open --forget' drops them. The read-ahead of a cluster device is not remembered.\n"
"--force accepts a witness that carries something else. Naming the same witness again\n"
"renews its record if 'nearcache status' reports that it has none.\n",
	.run = cmd_set,
};
