// SPDX-License-Identifier: GPL-2.0-only
/* nearcache create: format a cache device, then open it. */
#include <stdlib.h>
#include <uuid/uuid.h>

#include "cluster/home.h"
#include "cluster/join.h"
#include "open/activate.h"
#include "cmd/commands.h"
#include "cmd/shared_help.h"
#include "ondisk/print_superblock.h"
#include "block/device.h"
#include "lib/error.h"
#include "open/format.h"
#include "block/lock.h"
#include "open/origin_users.h"
#include "open/remembered.h"
#include "open/stage_device.h"
#include "open/unnoticed.h"
#include "pins/pin_list.h"
#include "lib/path.h"
#include "lib/print.h"
#include "cluster/conf.h"
#include "block/signals.h"
#include "block/transport.h"
#include "open/next_step.h"

/*
 * @name: name of the dm device; also the label of the cache
 * @volume: the device below the stage that is the origin; NULL: the origin itself
 * @cache: the first cache device; @members: the other cache devices
 * @witness: its path is empty if there is none
 */
struct create {
	const struct arguments *args;
	const char *name;
	const struct device *volume;
	struct device origin;
	struct device cache;
	struct members members;
	struct witness witness;
	struct formatting new;
};

static int check_words(const struct create *create)
{
	return arguments_check_name(create->name) || formatting_check_words(create->args) ?
	       fail_code() : 0;
}

static int open_witness(struct create *create, struct activation *act)
{
	struct witness *witness = &create->witness;

	if (!witness_named(create->args->witness))
		return 0;
	if (witness_open(witness, create->args->witness) ||
	    members_check_witness(&create->members, witness, &create->cache,
				  &create->origin))
		return fail_code();
	act->witness = witness->dev.number;
	return 0;
}

static int check_one_swapped(const struct create *create, const struct device *cache)
{
	const char *origin = create->args->origin;
	char local[TRANSPORT_WORD], remote[TRANSPORT_WORD];

	if (transport_of(create->origin.number, local) != TRANSPORT_LOCAL ||
	    transport_of(cache->number, remote) != TRANSPORT_NETWORK)
		return 0;
	if (option_given(create->args, OPTION_FORCE)) {
		/* One --force does not overrule both checks: the volume of others may be lost. */
		if (formatting_check_content(cache, "remove it first ('wipefs -a', or 'nearcache destroy'): with a local origin, create overwrites no content behind a network, also with --force"))
			return fail_code();
		warn("the origin '%s' is a local drive, and the cache device '%s' is behind a network",
		     origin, cache->path);
		return 0;
	}
	return fail(CODE_DEVICE,
		    "the cache device '%s' (%s) is behind a network, and the origin '%s' (%s) is a local drive: are they swapped? create overwrites the cache device. The origin is the remote volume: --origin %s --cache %s. Only if you want a remote cache of a local drive, use --force",
		    cache->path, remote, origin, local, cache->path, origin);
}

/*
 * Fail if the origin is a local drive and a cache device is not: the user has probably swapped them,
 * and would lose the data of the volume. The check of the content of the cache device comes later: its
 * advice is --force.
 */
static int check_swapped(const struct create *create)
{
	unsigned int i;

	if (check_one_swapped(create, &create->cache))
		return fail_code();
	for (i = 0; i < create->members.count; i++)
		if (check_one_swapped(create, &create->members.dev[i]))
			return fail_code();
	return 0;
}

/* All checks that are possible before the first byte is written. */
static int prepare_create(struct create *create, struct activation *act)
{
	const struct arguments *args = create->args;
	bool no_start = option_given(args, OPTION_DRY_RUN | OPTION_FORMAT_ONLY);

	if (check_words(create) ||
	    device_open(&create->origin, args->origin, "origin") ||
	    device_open(&create->cache, args->cache, "cache device") ||
	    members_open(&create->members, args) || check_swapped(create) ||
	    /* The origin may lack writes of a log; that of --stage is checked already. */
	    (!args->stage && stage_check_origin(&create->origin, NULL, true)) ||
	    activate_check_devices(act) || open_witness(create, act) ||
	    formatting_claim(&create->new) ||
	    activate_check_kernel(act, no_start))
		return fail_code();
	return formatting_prepare(&create->new);
}

/* Others could start to use the origin before the caller got lock_all(): repeat the checks. */
static int check_again(const struct activation *act)
{
	return activate_check_free(act->origin) ||
	       neighbour_check(act->origin, act->mode, act->name) ?
	       fail_code() : 0;
}

static int execute_create(struct create *create, const struct activation *act)
{
	int error = formatting_write_areas(&create->new);
	char uuid[SUPER_UUID_TEXT];
	sigset_t before;

	if (error)
		return error;
	if (lock_all(&create->origin) ||
	    (!option_given(create->args, OPTION_FORMAT_ONLY) && check_again(act)))
		return fail_code();
	/* No signals until the command ends: ^C would leave a half-made cache. */
	signals_hold(&before);
	/* Write them before the superblock: a crash then leaves no cache without its settings. */
	uuid_unparse_lower(create->new.sb->uuid, uuid);
	remembered_options(uuid, create->name, create->args);
	error = formatting_claim_record(&create->new) ||
		formatting_write_super(&create->new) ? fail_code() : 0;
	if (!error)
		formatting_end_gaps(&create->new);
	if (!error && !option_given(create->args, OPTION_FORMAT_ONLY))
		error = activate(act);
	if (error) {
		formatting_undo(&create->new);
		remembered_forget(uuid);
	}
	return error;
}

/* Remove the record of an earlier device of this name: its pins refer to other data. */
static void forget_pins(const struct create *create)
{
	bool found;

	if (pins_forget(create->name, &found)) {
		warn("%s; the pins of an earlier device '%s' are still recorded",
		     fail_message(), create->name);
		fail_reset();
	} else if (found) {
		warn("removed the pins of an earlier device '%s'",
		     create->name);
	}
}

static void print_next_steps(const struct create *create)
{
	const struct arguments *args = create->args;
	char uuid[SUPER_UUID_TEXT];
	struct next_step next = {
		.name = create->name,
		.device = option_given(args, OPTION_CLUSTER) ? args->operand[0] : create->name,
		.cluster = option_given(args, OPTION_CLUSTER) ? args->config : NULL,
		.origin = &create->origin,
		.volume = create->volume ? create->volume : &create->origin,
		.cache = &create->cache,
		.uuid = uuid,
		.writes = mode_writes(args->mode),
	};

	uuid_unparse_lower(create->new.sb->uuid, uuid);
	if (option_given(args, OPTION_FORMAT_ONLY)) {
		next_step_open(&next);
	} else {
		next_step_memory(create->name);
		next_step_mount(&next);
	}
	next_step_tab(&next);
}

static void report_create(const struct create *create, const struct activation *act)
{
	bool dry_run = option_given(create->args, OPTION_DRY_RUN);

	print_record(NULL, create->name);
	activate_print(act);
	describe_super(create->new.sb, dry_run);
	unnoticed_print(&create->new.content, true, false);
	print_flag("active", NULL,
		   !option_given(create->args, OPTION_DRY_RUN | OPTION_FORMAT_ONLY));
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	if (dry_run)
		describe_areas(create->new.sb);
	else
		print_next_steps(create);
	print_end();
}

/*
 * @volume: see struct create.
 * @check_only: do the checks of a dry run and print nothing.
 */
static int create_cache(const struct arguments *args, const char *name,
			const struct device *volume, bool check_only)
{
	struct create create = {
		.args = args,
		.name = name,
		.volume = volume,
		.origin = DEVICE_CLOSED,
		.cache = DEVICE_CLOSED,
		.witness = WITNESS_CLOSED,
		.new = {
			.args = args,
			.witness = &create.witness,
			.label = name,
			.origin = &create.origin,
			.cache = &create.cache,
			.members = &create.members,
		},
	};
	struct activation act = {
		.name = create.name,
		.origin = &create.origin,
		.cache = &create.cache,
		.members = &create.members,
		.mode = args->mode,
		.args = args,
	};
	int error = prepare_create(&create, &act);

	act.sb = create.new.sb;
	if (!error && !option_given(args, OPTION_DRY_RUN))
		error = execute_create(&create, &act);
	if (!error && !option_given(args, OPTION_DRY_RUN | OPTION_FORMAT_ONLY))
		forget_pins(&create);
	if (!error && !check_only)
		report_create(&create, &act);
	free(create.new.sb);
	witness_close(&create.witness);
	device_close(&create.origin);
	device_close(&create.cache);
	members_close(&create.members);
	return error;
}

static int check_stage_words(const struct arguments *args)
{
	if (!option_given(args, OPTION_STAGE))
		return stage_options_given(args) ||
		       option_given(args, OPTION_RESERVE | OPTION_PREEMPT) ?
		       fail(CODE_USAGE,
			    "--mode 'writeback', --rate, --max-behind, --on-full, --reserve and --preempt need --stage DEV: a local device for the log; other modes are " MODE_WORDS) : 0;
	if (option_given(args, OPTION_PREEMPT) && !option_given(args, OPTION_RESERVE))
		return fail(CODE_USAGE, "--preempt needs --reserve: leave it out, or give both");
	if (option_given(args, OPTION_READ_ONLY | OPTION_MODE) && !mode_writes(args->mode))
		return fail(CODE_USAGE,
			    "--stage is for writes, and mode read-only has none: leave out one of them");
	if (option_given(args, OPTION_FORMAT_ONLY | OPTION_CLUSTER | OPTION_SELF))
		return fail(CODE_USAGE,
			    "--stage goes with neither --format-only nor --cluster: leave out one of them");
	return 0;
}

/*
 * Make log and stage, then the cache above it.  All checks of the cache precede the first write, with
 * the origin in place of the stage, which has the same content.
 */
static int make_staged(struct stage *stage, const struct arguments *args)
{
	struct arguments above = *args;
	char path[PATH_MAX];
	sigset_t before;

	above.given |= OPTION_DRY_RUN;
	if (create_cache(&above, stage->cache, &stage->origin, true) || dm_need_stage_target() ||
	    lock_all(&stage->origin) || activate_check_free(&stage->origin))
		return fail_code();
	/* No signals until the command ends: ^C would leave a half-made cache. */
	signals_hold(&before);
	above.given = args->given;
	above.origin = stage_path(stage, path);
	if (!stage_format(stage, args) && !stage_activate(stage, args) &&
	    !create_cache(&above, stage->cache, &stage->origin, false))
		return 0;
	/* Without a superblock, nothing was written that must be undone. */
	if (stage->sb.version) {
		stage_undo(stage);
		stage_format_wipe(stage);
	}
	return fail_code();
}

static int create_staged(const struct arguments *words, const char *name)
{
	struct stage stage = STAGE_CLOSED;
	struct arguments args = *words;

	stage.cache = name;
	if (!option_given(&args, OPTION_MODE))
		args.mode = NEARCACHE_WRITEAROUND;
	if (!arguments_check_name(name) && !stage_format_prepare(&stage, &args)) {
		if (option_given(&args, OPTION_DRY_RUN) ?
		    !stage_activate(&stage, &args) && !create_cache(&args, name, &stage.origin, false) :
		    !make_staged(&stage, &args))
			stage_print(&stage);
	}
	stage_close(&stage);
	return fail_code();
}

/* Check what --cluster needs before anything is written. */
static int check_cluster(const struct arguments *args, const char *name)
{
	struct cluster_conf conf = { 0 };
	char *path;

	if (option_given(args, OPTION_SELF) && !option_given(args, OPTION_CLUSTER))
		return fail(CODE_USAGE, "--self names a node of --cluster FILE: give both");
	if (!option_given(args, OPTION_CLUSTER))
		return 0;
	if (option_given(args, OPTION_FORMAT_ONLY) || mode_writes(args->mode))
		return fail(CODE_USAGE, "--cluster opens the cache in mode read-only: leave out %s",
			    option_given(args, OPTION_FORMAT_ONLY) ? "--format-only" : "--mode");
	path = path_absolute(args->config);
	if (path && !home_check_name(name) && !activate_check_name(name))
		cluster_conf_read(&conf, path, args->self, NULL);
	free(path);
	cluster_conf_free(&conf);
	return fail_code();
}

/* Create NAME-home, and NAME above it. */
static int create_node(const struct arguments *args, const char *name)
{
	const struct join_request request = {
		.name = name,
		.config = args->config,
		.self = args->self,
	};
	char home[NAME_SIZE];

	home_lock(name);
	if (create_cache(args, home_name(name, home), NULL, false))
		return fail_code();
	print_record("joined", "Cluster");
	if (option_given(args, OPTION_DRY_RUN))
		print_string("config", "would join the cluster of", args->config);
	else if (cluster_join(&request))
		fail_add("the cache '%s' is open: 'nearcache cluster join %s --config %s' tries again",
			 home, name, args->config);
	print_end();
	return fail_code();
}

static int cmd_create(const struct arguments *args)
{
	const char *name = args->operand[0];

	print_details(option_given(args, OPTION_VERBOSE));
	if (check_cluster(args, name) || check_stage_words(args))
		return fail_code();
	if (option_given(args, OPTION_STAGE))
		return create_staged(args, name);
	return option_given(args, OPTION_CLUSTER) ? create_node(args, name) :
						    create_cache(args, name, NULL, false);
}

const struct verb create_verb = {
	.name = "create",
	.group = VERBS_DEVICES,
	.operands = "NAME",
	.operands_min = 1,
	.operands_max = 1,
	.required = OPTION_ORIGIN | OPTION_CACHE,
	.optional = OPTION_MODE | OPTION_READ_ONLY | OPTION_BLOCK_SIZE |
		    OPTION_INTEGRITY | OPTION_FILL_MEMORY |
		    OPTION_CACHE_TIMEOUT |
		    OPTION_ORIGIN_TIMEOUT | OPTION_VERIFY |
		    OPTION_DATASET_VERSION | OPTION_WITNESS |
		    OPTION_FORCE | OPTION_FORMAT_ONLY | OPTION_CLUSTER | OPTION_SELF |
		    OPTIONS_STAGE | OPTION_RESERVE | OPTION_PREEMPT | OPTION_VERBOSE,
	.changes = true,
	.summary = "format a cache device for an origin and open it",
	.details =
"create makes /dev/mapper/NAME, which reads as the origin does. It refuses a cache device\n"
"in use. It refuses a cache device that carries a file system, a partition table, RAID,\n"
"LVM or another cache, unless --force is given. It writes nothing before all checks have\n"
"passed, and a failure leaves no cache behind.\n"
"\n"
"If the origin, or a partition of it, is a physical volume of LVM, create and open print\n"
"the LVM configuration for using the volume group through the cache; see nearcache(7).\n"
"\n"
"--cache may be given up to 16 times. Blocks are spread evenly over these devices; the\n"
"smallest one limits the share of each. Losing any of them loses the cache.\n"
"\n"
"--cluster makes the cache NAME-home in mode read-only, and the device NAME of the cluster\n"
"above it, as 'nearcache cluster join NAME' does. If that fails, the cache stays open.\n"
"\n"
"--stage DEV makes a write-back cache: writes go to a log on this local device, and to the\n"
"origin later, in an order in which the origin is a valid image at every instant. The device\n"
"NAME-stage is below the cache NAME. The log needs 1 GiB (--force: 17 MiB), on another drive\n"
"than the origin and not behind a network. --mode writeback is the default with it, and means\n"
"writearound: a write goes to the log alone, and is read there. 'nearcache stage' shows and\n"
"drains it. If the log is full, writes wait; with --on-full writethrough they go to the origin,\n"
"until the writers pause. With --reserve, a persistent reservation (SCSI, NVMe) keeps other nodes\n"
"from writing to the origin until it has all writes; --preempt takes the origin from another\n"
"node. See nearcache-stage(8).\n"
"\n"
"An origin that is a local drive, with a cache device behind a network (NVMe over TCP, RDMA or\n"
"FC, iSCSI, Fibre Channel, RBD, NBD), is refused without --force: they are probably swapped.\n"
"\n"
"create ends with the memory that the cache needs, the next command, and the line for\n"
"nearcachetab(5). -v also shows the table of the device.\n"
"\n"
"--integrity crc32c keeps a checksum of each sub-block and compares it at each hit.\n"
"Damaged data is read from the origin and cached again. The checksums take 1 GB of memory\n"
"per TB of cache with blocks of 256K, 256 MB with 1M.\n"
"\n"
WITNESS_HELP
"\n"
"--witness writes 4 KiB to the witness, so that up to 64 caches can share one. A witness\n"
"that carries anything else is refused without --force. A witness on the drive of the\n"
"cache or of the origin is always refused.\n"
"\n" SETTINGS_HELP "\n" MODES_HELP,
	.run = cmd_create,
};
