// SPDX-License-Identifier: GPL-2.0-only
/* Attach a cache device to a device in state bypass. */
#include "open/attach_cache.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <uuid/uuid.h>

#include "block/device_sysfs.h"
#include "block/dm_reload.h"
#include "block/kmsg.h"
#include "block/lock.h"
#include "block/signals.h"
#include "lib/error.h"
#include "lib/name.h"
#include "lib/print.h"
#include "ondisk/print_superblock.h"
#include "open/activate.h"
#include "open/content_sample.h"
#include "open/format.h"
#include "open/origin_match.h"
#include "open/reconnect_origin.h"
#include "open/remembered.h"
#include "open/witness.h"
#include "open/witness_proof.h"
#include "pins/restore.h"

/*
 * The cache device to attach, and the device that gets it.
 *
 * @dev, @old: the device and the parameters in its dm table before the change
 * @now, @status: the device and its status line after the change
 * @match: the origin, and the first of the cache devices to attach; @members: the other ones
 * @witness: the witness in the dm table; its path is empty if the dm table names no witness
 * @new: the cache to format, with --format-cache only
 * @other: the cache is not the one that @dev was created with
 * @superseded: a former witness of the cache has a record of a later session than the cache device
 * @witness_is_newer: the record on @witness says that the cache moved to another witness
 */
struct attachment {
	const struct arguments *args;
	const struct dm_device *dev;
	struct params old;
	struct dm_device now;
	struct status status;
	struct origin_match match;
	struct members members;
	struct witness witness;
	struct formatting new;
	bool other;
	bool superseded;
	bool witness_is_newer;
};

static int check_state(const struct attachment *attach)
{
	const char *name = attach->dev->name;
	struct status status;
	char path[PATH_MAX];

	if (describe_status(attach->dev, &status))
		return fail_code();
	device_path_of(attach->dev->cache, path);
	switch (status.field[NEARCACHE_FIELD_STATE]) {
	case NEARCACHE_BYPASS:
		return 0;
	case NEARCACHE_NORMAL:
		return fail(CODE_BUSY,
			    "device '%s' already works with cache device '%s': there is nothing to attach",
			    name, path);
	case NEARCACHE_DEGRADED:
		return fail(CODE_BUSY,
			    "device '%s' is degraded: it recovers by itself when cache device '%s' answers again",
			    name, path);
	default:
		return fail(CODE_BUSY,
			    "device '%s' has state '%s': attach needs state bypass",
			    name, describe_state(attach->dev, &status));
	}
}

static int open_origin(struct attachment *attach)
{
	if (!reconnect_needed(attach->dev))
		return device_open_number(&attach->match.origin,
					  attach->old.origin, "origin");
	return fail(CODE_DEVICE,
		    "the origin of '%s' is gone: connect it, run 'nearcache attach %s --origin DEV', then repeat this command",
		    attach->dev->name, attach->dev->name);
}

static int open_cache(struct attachment *attach)
{
	const char *role = "cache device";
	dev_t number = attach->dev->cache;
	char name[128];

	if (attach->args->cache)
		return device_open(&attach->match.cache, attach->args->cache,
				   role);
	if (identity_kernel_name(number, name, sizeof(name)))
		return device_open_number(&attach->match.cache, number, role);
	return fail(CODE_DEVICE,
		    "the cache device of '%s' (%u:%u) is gone: name one with --cache DEV; the same drive may have another name now",
		    attach->dev->name, major(number), minor(number));
}

static bool is_other(const struct attachment *attach,
		     const struct nearcache_super *sb)
{
	char uuid[sizeof(DM_UUID_PREFIX) + SUPER_UUID_TEXT] = DM_UUID_PREFIX;

	uuid_unparse_lower(sb->uuid, uuid + strlen(uuid));
	return strcmp(uuid, attach->dev->uuid);
}

/*
 * True if the kernel will find the cache cold.  After an interrupted write session a witness can
 * prove the content of a cache, but not if @dev was created with this cache: then the cache has
 * missed the writes since the kernel bypassed it.
 */
static bool is_cold(const struct attachment *attach)
{
	return match_is_cold(&attach->match) ||
	       (!attach->other && match_was_writing(&attach->match));
}

/*
 * In a writing mode, refuse a cache that the kernel would find warm, unless it is new or will be
 * emptied: the cache was absent when this device wrote to the origin, and these writes may have
 * left the fingerprint of the origin unchanged.  --force does not override this check: --force
 * only allows to resume a suspended device.
 */
static int check_content(struct attachment *attach)
{
	struct origin_match *match = &attach->match;

	if (!mode_writes(attach->old.mode) || match->drop ||
	    le64_to_cpu(match->super.best->sequence) == 1 ||
	    is_cold(attach))
		return 0;
	if (attach->args->on_change == ON_CHANGE_DROP) {
		match->drop = true;
		return 0;
	}
	return fail(CODE_DEVICE,
		    "cache device '%s' may lack writes of '%s': --on-change=drop empties it",
		    match->cache.path, attach->dev->name);
}

/*
 * The default if the origin does not match the cache.  Empty the cache that @dev was created with:
 * it missed invalidations while bypassed.  Refuse any other cache: it may belong to another device.
 */
static enum on_change on_change(const struct attachment *attach)
{
	if (attach->args->on_change)
		return attach->args->on_change;
	return attach->other ? ON_CHANGE_REFUSE : ON_CHANGE_DROP;
}

/* Open the witness in the dm table: the new cache device needs a record on this witness. */
static int open_witness(struct attachment *attach)
{
	struct witness *witness = &attach->witness;

	if (!attach->old.witness)
		return 0;
	if (!witness_open_number(witness, attach->old.witness) &&
	    !members_check_witness(&attach->members, witness,
				   &attach->match.cache,
				   &attach->match.origin))
		return 0;
	return fail_add("'nearcache set %s witness=none' continues without a witness, witness=DEV names another one",
			attach->dev->name);
}

/*
 * Read the record that @witness has of an existing cache.  If the superblock of the cache does not
 * name @witness, match_record() will write the path of @witness to it.
 */
static int ask_witness(struct attachment *attach)
{
	struct origin_match *match = &attach->match;
	const struct nearcache_super *sb = match->super.best;
	struct witness_claim claim = {
		.uuid = sb->uuid,
		.force = option_given(attach->args, OPTION_FORCE),
	};
	struct nearcache_witness record;
	bool found, recorded;

	if (!*attach->witness.path) {
		attach->superseded = match_read_recorded(match);
		return 0;
	}
	recorded = !strcmp(attach->witness.path, (const char *)sb->witness);
	if (witness_look(&attach->witness, sb->uuid, &record, &found) ||
	    witness_prepare(&attach->witness, &claim))
		return fail_code();
	match_read_witness(match, found ? &record : NULL, recorded);
	attach->witness_is_newer = found && !witness_is_current(&record);
	attach->superseded = match->older && attach->witness_is_newer;
	if (!recorded && match_read_recorded(match))
		attach->superseded = true;
	if (attach->witness_is_newer)
		match_come_back(match, &record);
	if (attach->witness_is_newer || (attach->other && !recorded)) {
		match->witness = attach->witness.path;
		match->witness_now = attach->witness.dev.number;
	}
	return 0;
}

static int check_formatted(struct attachment *attach)
{
	struct origin_match *match = &attach->match;

	if (match_check_free(&match->cache, attach->dev->name))
		return fail_code();
	attach->other = is_other(attach, match->super.best);
	match->on_change = on_change(attach);
	/* Do not compare data that the kernel will drop, see is_cold(). */
	if (attach->other || !match_was_writing(match)) {
		match->sample = SAMPLE_BYTES;
		match->sample_ms = SAMPLE_MS;
		match->members = &attach->members;
	}
	if (ask_witness(attach))
		return fail_code();
	if (match_ask_gaps(match) || match_check_origin(match))
		return fail_code();
	if (lock_all(&match->origin) || match_check_gaps(match))
		return fail_code();
	if (attach->superseded) {
		match->drop = true;
		match->trust = false;
	}
	return check_content(attach);
}

static int check_blank(struct attachment *attach)
{
	unsigned int i;

	attach->other = true;
	for (i = 0; i < attach->members.count; i++)
		if (match_check_free(&attach->members.dev[i], NULL))
			return fail_code();
	/* NULL: also refuse a cache device that @dev uses: @dev would not notice the formatting. */
	return match_check_free(&attach->match.cache, NULL) ||
	       formatting_claim(&attach->new) ||
	       formatting_prepare(&attach->new) ? fail_code() : 0;
}

/* Like super_require(); if the device has no superblock, the error names --format-cache. */
static int require_super(const struct attachment *attach)
{
	const struct super *super = &attach->match.super;

	if (super->best || super->magic[0] || super->magic[1])
		return super_require(super, &attach->match.cache);
	return fail(CODE_DEVICE,
		    "cache device '%s' carries no nearcache superblock: --format-cache makes it a cache of '%s'",
		    attach->match.cache.path, attach->dev->name);
}

static int find_members(struct attachment *attach)
{
	struct origin_match *match = &attach->match;
	unsigned int i;

	if (super_read(&match->super, &match->cache) ||
	    require_super(attach) ||
	    members_check_first(&match->cache, &match->super) ||
	    members_find(&attach->members, attach->args, &match->cache,
			 &match->super, &match->origin, &attach->old))
		return fail_code();
	for (i = 0; i < attach->members.count; i++)
		if (match_check_free(&attach->members.dev[i], attach->dev->name))
			return fail_code();
	return 0;
}

/* With --format-cache the user names all cache devices; otherwise find the members by the first one. */
static int open_members(struct attachment *attach)
{
	return option_given(attach->args, OPTION_FORMAT) ?
	       members_open(&attach->members, attach->args) :
	       find_members(attach);
}

/* All checks that are possible before the first change. */
static int check_attach(struct attachment *attach)
{
	struct origin_match *match = &attach->match;
	struct activation act = {
		.name = attach->dev->name,
		.origin = &match->origin,
		.cache = &match->cache,
		.members = &attach->members,
		.mode = attach->old.mode,
		.args = attach->args,
	};

	/* Check origin and first cache device before open_members() reads their content. */
	if (open_origin(attach) || open_cache(attach) || activate_check_devices(&act) ||
	    open_members(attach) || activate_check_devices(&act) || open_witness(attach))
		return fail_code();
	match->size = attach->dev->size;
	return option_given(attach->args, OPTION_FORMAT) ? check_blank(attach) :
						    check_formatted(attach);
}

/* Fail if right after the reload the kernel bypasses the new cache device. */
static int judge_attach(struct attachment *attach, struct kmsg *log)
{
	const char *name = attach->dev->name, *why;

	if (dm_need_ours(name, &attach->now) ||
	    describe_status(&attach->now, &attach->status))
		return fail_add("the new table is already active");
	if (attach->status.field[NEARCACHE_FIELD_STATE] != NEARCACHE_BYPASS)
		return 0;
	why = status_explain(&attach->status);
	fail(CODE_DEVICE, "cache device '%s' failed again: %s",
	     attach->match.cache.path, why);
	kmsg_explain(log, "is bypassed");
	return fail_add("device '%s' continues without its cache", name);
}

/*
 * Write the record of the cache to the witness.  The superblock normally comes after the record.
 * If @witness_is_newer, the superblock comes first, with the session number for the record.
 */
static int claim_record(struct attachment *attach)
{
	struct witness_claim claim = {
		.force = option_given(attach->args, OPTION_FORCE),
	};

	if (option_given(attach->args, OPTION_FORMAT))
		return formatting_claim_record(&attach->new);
	if (!*attach->witness.path)
		return 0;
	claim.uuid = attach->match.super.best->uuid;
	claim.session = attach->witness_is_newer ? attach->match.session :
			le64_to_cpu(attach->match.super.best->session);
	return witness_claim(&attach->witness, &claim);
}

static int attach_now(struct attachment *attach)
{
	struct kmsg log = kmsg_mark(attach->dev->number);
	struct params params = attach->old;
	struct origin_match *match = &attach->match;

	params.cache = match->cache.number;
	members_to_params(&attach->members, &params);
	if (match->drop || match->witness)
		match_record(match, params.cache == attach->old.cache);
	if (!fail_code() && attach->witness_is_newer)
		claim_record(attach);
	/* Close the devices: the kernel opens them exclusively. */
	device_close(&match->cache);
	members_close(&attach->members);
	if (!fail_code() &&
	    !reload(attach->dev, &attach->old, &params, attach->dev->size,
		    false))
		judge_attach(attach, &log);
	kmsg_close(&log);
	return fail_code();
}

static int execute_attach(struct attachment *attach)
{
	bool format = option_given(attach->args, OPTION_FORMAT);
	sigset_t before;

	if (format && (formatting_write_areas(&attach->new) ||
		       lock_all(&attach->match.origin)))
		return fail_code();
	/* No signals until the command ends: after ^C the result would be unknown. */
	signals_hold(&before);
	if (!attach->witness_is_newer && claim_record(attach))
		return fail_code();
	if (format && formatting_write_super(&attach->new))
		return fail_code();
	if (format)
		formatting_end_gaps(&attach->new);
	if (attach_now(attach) && format)
		fail_add("cache device '%s' is formatted already: add --force to try again",
			 attach->match.cache.path);
	return fail_code();
}

static void print_changes(const struct attachment *attach, bool dry_run)
{
	const struct origin_match *match = &attach->match;
	bool format = option_given(attach->args, OPTION_FORMAT);
	char text[MATCH_TEXT + 32], before[MATCH_TEXT];

	print_string("changed", NULL,
		     format ? NULL : match_changed(match, before));
	if (!format)
		print_bytes("sampled", match->sampled ? "compared with origin" : NULL,
			    match->sampled);
	print_flag("dropped", NULL, match->drop && !dry_run);
	if (!match->drop)
		return;
	match_before(match, before);
	snprintf(text, sizeof(text), "%sdropped: %s", dry_run ? "would be " : "",
		 *before ? before : "it may lack writes");
	print_string(NULL, "cached content", text);
}

static void report_attach(const struct attachment *attach)
{
	const struct dm_device *dev = attach->dev;
	bool dry_run = option_given(attach->args, OPTION_DRY_RUN);
	const uint64_t *field = attach->status.field;
	char path[PATH_MAX];

	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	print_string("mode", "mode", mode_word(attach->old.mode));
	print_string("cache", "cache device", attach->match.cache.path);
	members_print(&attach->members);
	device_path_of(dev->cache, path);
	print_string("cache_before",
		     strcmp(path, attach->match.cache.path) ? "before" : NULL,
		     path);
	print_changes(attach, dry_run);
	print_flag("formatted", NULL,
		   option_given(attach->args, OPTION_FORMAT) && !dry_run);
	if (!dry_run) {
		print_string("state", "state",
			     describe_state(&attach->now, &attach->status));
		print_string("loaded", "loaded",
			     status_word(NEARCACHE_FIELD_LOADED,
					 field[NEARCACHE_FIELD_LOADED]));
		print_bytes("bytes_valid", "valid bytes",
			    field[NEARCACHE_FIELD_BYTES_VALID]);
	}
	reload_print_started(dev, dry_run);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
}

static void warn_of_other(const struct attachment *attach)
{
	char path[PATH_MAX];

	if (attach->other && !option_given(attach->args, OPTION_DRY_RUN))
		warn("the previous cache device of '%s' (%s) misses all writes from now on: format it before it serves this origin again",
		     attach->dev->name, device_path_of(attach->dev->cache, path));
}

static int run_attach(struct attachment *attach)
{
	const struct arguments *args = attach->args;

	if (reload_prepare(attach->dev, option_given(args, OPTION_FORCE),
			   &attach->old) ||
	    check_state(attach))
		return fail_code();
	if (check_attach(attach))
		return fail_add("device '%s' continues without its cache",
				attach->dev->name);
	if (!option_given(args, OPTION_DRY_RUN) && execute_attach(attach))
		return fail_code();
	report_attach(attach);
	warn_of_other(attach);
	return 0;
}

/* Give the new cache the settings of the device; pin the recorded ranges again and prefetch them into it. */
static void restore_settings_pins(const struct attachment *attach)
{
	const struct nearcache_super *sb = attach->new.sb ? attach->new.sb :
					   attach->match.super.best;
	const char *opened = remembered_uuid(attach->dev->uuid);
	char uuid[SUPER_UUID_TEXT];
	struct restored restored;

	uuid_unparse_lower(sb->uuid, uuid);
	if (opened)
		remembered_attached(opened, attach->dev->name, uuid);
	restore(attach->dev->name, attach->other ? uuid : "", &restored);
}

int attach_cache(const struct dm_device *dev, const struct arguments *args)
{
	struct attachment attach = {
		.args = args,
		.dev = dev,
		.match = {
			.origin = DEVICE_CLOSED,
			.cache = DEVICE_CLOSED,
			.may_grow = true,
			.advice = "--on-change=drop empties the cache",
		},
		.witness = WITNESS_CLOSED,
		.new = {
			.args = args,
			.witness = &attach.witness,
			.label = dev->name,
			.origin = &attach.match.origin,
			.cache = &attach.match.cache,
			.members = &attach.members,
		},
	};

	if (!run_attach(&attach) && !option_given(args, OPTION_DRY_RUN))
		restore_settings_pins(&attach);
	super_free(&attach.match.super);
	free(attach.match.written);
	free(attach.new.sb);
	witness_close(&attach.witness);
	device_close(&attach.match.origin);
	device_close(&attach.match.cache);
	members_close(&attach.members);
	dm_device_free(&attach.now);
	return fail_code();
}
