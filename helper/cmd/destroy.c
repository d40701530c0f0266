// SPDX-License-Identifier: GPL-2.0-only
/* nearcache destroy: close the device, wipe the superblocks. */
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <uuid/uuid.h>

#include "cmd/commands.h"
#include "block/device.h"
#include "lib/error.h"
#include "block/lock.h"
#include "cluster/home.h"
#include "open/members.h"
#include "open/remembered.h"
#include "stage/log_wipe.h"
#include "lib/name.h"
#include "block/table_params.h"
#include "pins/record_owner.h"
#include "lib/print.h"
#include "block/dm_remove.h"
#include "ondisk/superblock.h"
#include "open/witness.h"

/*
 * @cache: one of the cache devices; @members: the other cache devices
 * @active: the device that uses the cache, if @is_active
 * @force: also wipe damaged superblocks
 * @log: the log of its stage
 */
struct destroy {
	struct device cache;
	struct members members;
	struct super super;
	struct dm_device active;
	bool is_active;
	bool force;
	struct log_wipe log;
};

static int find_by_name(struct destroy *destroy, const char *name)
{
	if (dm_need_ours(name, &destroy->active))
		return fail_add("name a cache that is not open by --cache DEV");
	destroy->is_active = true;
	if (!destroy->active.cache)
		return fail(CODE_DEVICE,
			    "device '%s' has no table: close it and use --cache DEV",
			    name);
	if (!device_open_number(&destroy->cache, destroy->active.cache, "cache device"))
		return 0;
	return fail_add("'nearcache close %s' closes the device, 'nearcache destroy --cache DEV' wipes the cache once its disk is back",
			name);
}

/* Find the dm device that uses the cache.  If device-mapper fails, assume that there is none. */
static void find_active(struct destroy *destroy)
{
	if (dm_find_cache(destroy->cache.number, &destroy->active,
			  &destroy->is_active))
		fail_reset();
}

static int find_by_cache(struct destroy *destroy, const char *path)
{
	if (device_open(&destroy->cache, path, "cache device"))
		return fail_code();
	find_active(destroy);
	if (!destroy->is_active)
		return 0;
	/* The name is known only now.  Take its lock and look again: the device may be gone. */
	lock_name(destroy->active.name);
	dm_device_free(&destroy->active);
	find_active(destroy);
	return 0;
}

static bool is_of_active(const struct destroy *destroy,
			 const struct nearcache_super *sb)
{
	char uuid[sizeof(DM_UUID_PREFIX) + SUPER_UUID_TEXT] = DM_UUID_PREFIX;

	uuid_unparse_lower(sb->uuid, uuid + strlen(uuid));
	return destroy->is_active && !strcmp(uuid, destroy->active.uuid);
}

/*
 * Fail if there is no superblock.  Without --force, also fail if the superblock is damaged or has
 * another uuid than the active device.
 */
static int check_ours(const struct destroy *destroy)
{
	const struct super *super = &destroy->super;
	char uuid[SUPER_UUID_TEXT];

	if (!super->best && destroy->force && (super->magic[0] || super->magic[1]))
		return 0;
	if (super_require(super, &destroy->cache)) {
		if (super->magic[0] || super->magic[1])
			fail_add("--force wipes it anyway");
		return fail_code();
	}
	if (!destroy->is_active || !destroy->active.uuid[0] ||
	    is_of_active(destroy, super->best) || destroy->force)
		return 0;
	uuid_unparse_lower(super->best->uuid, uuid);
	return fail(CODE_DEVICE,
		    "cache device '%s' carries the cache '" DM_UUID_PREFIX "%s', but device '%s' is '%s': if it was attached later, --force wipes it anyway",
		    destroy->cache.path, uuid, destroy->active.name,
		    destroy->active.uuid);
}

/*
 * Find the other cache devices.  If the cache is in use, take their numbers from the dm table, so
 * that copies of these devices, which have the same superblocks, are not wiped.
 */
static int find_members(struct destroy *destroy)
{
	struct params params;

	if (destroy->is_active && destroy->active.table &&
	    params_parse(destroy->active.table, &params)) {
		members_find_used(&destroy->members, &params,
				  destroy->cache.number);
		return 0;
	}
	if (destroy->super.best)
		return members_find_rest(&destroy->members, &destroy->super,
					 &destroy->cache);
	members_tell_left(&destroy->super, &destroy->cache);
	return 0;
}

static int check_destroy(struct destroy *destroy, bool dry_run)
{
	if (super_read(&destroy->super, &destroy->cache) ||
	    check_ours(destroy) || find_members(destroy))
		return fail_code();
	if (destroy->is_active &&
	    (home_check_free(&destroy->active) || stop_check(&destroy->active)))
		return fail_code();
	destroy->log.above = destroy->is_active ? &destroy->active : NULL;
	return log_wipe_check(&destroy->log, destroy->super.best, dry_run);
}

/*
 * Another process could write to the cache device before this process claimed the device: check
 * again that the device carries the same cache.  A superblock that was damaged may be valid now,
 * because the kernel writes the superblock when the dm device stops.
 */
static int check_same(const struct destroy *destroy)
{
	const struct nearcache_super *before = destroy->super.best;
	struct super now;
	bool same = false;

	if (!super_read(&now, &destroy->cache)) {
		if (before)
			same = now.best && !memcmp(now.best->uuid, before->uuid,
						   sizeof(before->uuid));
		else
			same = now.best ? is_of_active(destroy, now.best) :
					  now.magic[0] || now.magic[1];
		if (!same)
			fail(CODE_BUSY,
			     "another process wrote to cache device '%s' meanwhile: nothing was wiped",
			     destroy->cache.path);
	}
	super_free(&now);
	return fail_code();
}

/* True if @super is of member @index.  --force on a cache in use: also if @super is damaged. */
static bool is_part(const struct destroy *destroy, const struct super *super,
		    unsigned int index)
{
	const struct nearcache_super *first = destroy->super.best;
	const struct nearcache_super *sb = super->best;

	if (!sb)
		return destroy->is_active && destroy->force &&
		       (super->magic[0] || super->magic[1]);
	return super->geo.stripe_index == index &&
	       super->geo.stripe_count > 1 &&
	       (!first || !memcmp(sb->uuid, first->uuid, sizeof(sb->uuid)));
}

static int wipe_member(struct destroy *destroy, unsigned int at)
{
	struct device *dev = &destroy->members.dev[at];
	struct super now = { 0 };

	if (device_claim(dev) || super_read(&now, dev))
		fail_add("'%s' still carries a member of the cache", dev->path);
	else if (!is_part(destroy, &now, destroy->members.index[at]))
		fail(CODE_DEVICE,
		     "cache device '%s' does not carry member %u of the cache: not wiped",
		     dev->path, destroy->members.index[at] + 1);
	else if (super_wipe(dev))
		fail_add("'%s' still carries a member of the cache", dev->path);
	super_free(&now);
	return fail_code();
}

/* Only warn if a member is not wiped: without the other members this one cannot be opened. */
static void wipe_members(struct destroy *destroy)
{
	unsigned int i = 0;

	while (i < destroy->members.count) {
		if (!wipe_member(destroy, i)) {
			i++;
			continue;
		}
		warn("%s", fail_message());
		fail_reset();
		members_forget(&destroy->members, i);
	}
}

/*
 * Wipe the log, then the first cache device, then the others.  An interruption leaves:
 * - before the log is completely wiped: the cache, and a log that says whether the origin has all
 *   its writes.  destroy can be repeated, and open works as before.
 * - between log and cache: a cache that names a missing log.  open refuses the cache, because the
 *   origin may lack writes that the cache has; open --abandon-stage empties the cache.  destroy can
 *   be repeated with --abandon-stage.
 * - between the cache devices: a cache without its first device, which cannot be opened.
 * In the reverse order, destroy could not be repeated: no cache would name the log, and
 * 'open --stage' could still drain the log after the user gave up its writes.
 */
static int wipe_devices(struct destroy *destroy)
{
	if (destroy->is_active &&
	    (log_wipe_give_up(&destroy->log) || stop(&destroy->active) ||
	     log_wipe_stop_stage(&destroy->log)))
		return fail_code();
	if (device_claim(&destroy->cache) || check_same(destroy) || log_wipe(&destroy->log) ||
	    super_wipe(&destroy->cache))
		return fail_code();
	wipe_members(destroy);
	return 0;
}

static int open_recorded(const struct destroy *destroy, struct witness *witness)
{
	const struct nearcache_super *sb = destroy->super.best;

	return sb && witness_named((const char *)sb->witness) ?
	       witness_open(witness, (const char *)sb->witness) : 0;
}

/* Returns the witness in the dm table, or 0.  The superblock may still name an earlier witness. */
static dev_t table_witness(const struct destroy *destroy)
{
	struct params params;

	return destroy->is_active && destroy->active.table &&
	       params_parse(destroy->active.table, &params) ?
		       params.witness : 0;
}

static int open_witness(const struct destroy *destroy, struct witness *witness)
{
	dev_t number = table_witness(destroy);

	return number ? witness_open_number(witness, number) :
			open_recorded(destroy, witness);
}

/* Only warn if the record cannot be freed: it takes a place on the witness, but does no harm. */
static void free_record(const struct destroy *destroy, struct witness *witness)
{
	if (!fail_code() && *witness->path)
		witness_free(witness, destroy->super.best->uuid);
	if (!fail_code())
		return;
	warn("%s; the record of the cache stays there and takes one of %u places",
	     fail_message(), NEARCACHE_WITNESS_RECORDS);
	fail_reset();
	*witness->path = '\0';
}

static void free_records(const struct destroy *destroy, struct witness *witness)
{
	const struct nearcache_super *sb = destroy->super.best;
	struct witness recorded = WITNESS_CLOSED;
	dev_t number = table_witness(destroy);
	struct stat st;

	if (!sb)
		return;
	open_witness(destroy, witness);
	free_record(destroy, witness);
	if (number && (stat((const char *)sb->witness, &st) ||
		       st.st_rdev != number)) {
		open_recorded(destroy, &recorded);
		free_record(destroy, &recorded);
	}
	witness_close(&recorded);
}

/*
 * Returns the name under which the pins of the cache are recorded: for a closed cache, its label.
 * Returns NULL if this label is the name of an active device, to which the recorded pins belong.
 */
static const char *name_of(const struct destroy *destroy)
{
	const struct nearcache_super *sb = destroy->super.best;
	const char *name = sb ? (const char *)sb->label : "", *why;
	struct dm_device other;
	bool found = true;

	if (destroy->is_active)
		return destroy->active.name;
	if (!name_check(name, &why))
		return NULL;
	if (dm_find(name, &other, &found))
		fail_reset();
	dm_device_free(&other);
	return found ? NULL : name;
}

/* A later device of the same name must not inherit these pins. */
static void forget_pins(const struct destroy *destroy)
{
	const struct nearcache_super *sb = destroy->super.best;
	const char *name = name_of(destroy);
	char uuid[SUPER_UUID_TEXT] = "";
	struct owner owner;

	if (!name)
		return;
	owner_of(&destroy->active, &owner);
	if (sb)
		uuid_unparse_lower(sb->uuid, uuid);
	if (!record_forget(name, *owner.uuid ? owner.uuid : uuid))
		return;
	warn("%s; the pins of '%s' are still recorded", fail_message(),
	     name);
	fail_reset();
}

static void forget_settings(const struct destroy *destroy)
{
	const struct nearcache_super *sb = destroy->super.best;
	const char *opened = destroy->is_active ? remembered_uuid(destroy->active.uuid) : NULL;
	char uuid[SUPER_UUID_TEXT];

	if (opened)
		remembered_forget(opened);
	if (!sb)
		return;
	uuid_unparse_lower(sb->uuid, uuid);
	remembered_forget(uuid);
}

static void report_destroy(const struct destroy *destroy, const char *witness,
			   bool dry_run)
{
	print_string("name", dry_run ? "would close" : NULL,
		     destroy->is_active ? destroy->active.name : NULL);
	print_string("cache", dry_run ? "would wipe" : NULL,
		     destroy->cache.path);
	members_print_as(&destroy->members, dry_run ? "would wipe" : NULL);
	if (destroy->log.staged || destroy->log.is_below)
		print_string("log", dry_run ? "would wipe" : NULL,
			     destroy->log.log_found ? destroy->log.stage.log.path : NULL);
	print_string("witness",
		     dry_run && *witness ? "would free the record on" : NULL,
		     *witness ? witness : NULL);
	print_flag("destroyed", NULL, !dry_run);
	print_flag("dry_run", NULL, dry_run);
}

static int cmd_destroy(const struct arguments *args)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	struct destroy destroy = {
		.cache = DEVICE_CLOSED,
		.force = option_given(args, OPTION_FORCE),
		.log = {
			.abandon = option_given(args, OPTION_ABANDON_STAGE),
			.stage = STAGE_CLOSED,
		},
	};
	struct witness witness = WITNESS_CLOSED;
	int error;

	if (args->members)
		return fail(CODE_USAGE,
			    "--cache '%s': give one cache device, the others are found",
			    args->member[0]);
	if (!!args->operands + !!args->cache + !!args->stage != 1)
		return fail(CODE_USAGE,
			    "'destroy' needs either NAME, --cache DEV or --stage DEV");
	if (args->stage)
		return log_wipe_alone(args);
	if (args->operands)
		error = find_by_name(&destroy,
				     name_of_operand(args->operand[0]));
	else
		error = find_by_cache(&destroy, args->cache);
	if (!error)
		error = check_destroy(&destroy, dry_run);
	if (!error && dry_run && open_witness(&destroy, &witness))
		fail_reset();
	if (!error && !dry_run)
		error = wipe_devices(&destroy);
	if (!error && !dry_run) {
		free_records(&destroy, &witness);
		forget_pins(&destroy);
		forget_settings(&destroy);
	}
	if (!error)
		report_destroy(&destroy, witness.path, dry_run);
	witness_close(&witness);
	super_free(&destroy.super);
	device_close(&destroy.cache);
	members_close(&destroy.members);
	log_wipe_close(&destroy.log);
	dm_device_free(&destroy.active);
	return error;
}

const struct verb destroy_verb = {
	.name = "destroy",
	.group = VERBS_DEVICES,
	.operands = "[NAME]",
	.operands_max = 1,
	.optional = OPTION_CACHE | OPTION_STAGE | OPTION_FORCE | OPTION_ABANDON_STAGE,
	.changes = true,
	.summary = "close a device and wipe the superblocks of its cache",
	.details =
"Give the NAME of an open device or --cache DEV, any one of several. The origin is not\n"
"touched. destroy frees the record of the cache on its witness. --force also wipes\n"
"superblocks that are damaged.\n"
"\n"
"The other devices of a cache are those of its table while it is open, otherwise those\n"
"that carry the same cache. If two devices carry the same member, destroy names both and\n"
"wipes nothing. A missing device keeps its superblocks, and so do the others of a cache\n"
"whose device is damaged and not open; destroy names them.\n"
"\n"
"If the cache has a stage, destroy wipes its log as well. It refuses if the log holds\n"
"writes that the origin lacks, or if there is no log: 'nearcache close' writes them to the\n"
"origin, --abandon-stage loses them.\n"
"\n"
"--stage DEV wipes a log alone: its cache is lost, or was opened without the log. It needs\n"
"--abandon-stage if the log holds writes that the origin lacks.\n",
	.run = cmd_destroy,
};
