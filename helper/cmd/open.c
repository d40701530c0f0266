// SPDX-License-Identifier: GPL-2.0-only
/* nearcache open: open a cache that was created before. */
#include <stdio.h>
#include <stdlib.h>
#include <uuid/uuid.h>

#include "open/activate.h"
#include "cmd/commands.h"
#include "cmd/shared_help.h"
#include "open/origin_record.h"
#include "ondisk/print_superblock.h"
#include "block/device.h"
#include "block/dm.h"
#include "lib/error.h"
#include "block/lock.h"
#include "open/open_at_boot.h"
#include "open/origin_match.h"
#include "open/content_sample.h"
#include "open/unnoticed.h"
#include "lib/print.h"
#include "meta/recover.h"
#include "pins/restore.h"
#include "block/signals.h"
#include "lib/size.h"
#include "ondisk/superblock.h"
#include "open/passthrough.h"
#include "open/renamed.h"
#include "open/stage_device.h"
#include "open/witness.h"
#include "open/witness_proof.h"

/*
 * @match: the origin and the first cache device; @members: the other cache devices
 * @witness: its path is empty if there is none
 * @claim: the cache has no current record on @witness and needs a new one
 * @witness_is_newer: the record on @witness says that the cache moved to another witness
 * @heard: the superblock names @witness, and the record on @witness was read
 * @superseded: a former witness of the cache has a record of a later session than the cache device
 * @staged: the origin of the cache is @stage
 * @abandon: --abandon-stage: the origin is that of @stage, without its log
 * @log: uuid of the log of the stage, if the cache names one
 * @log_found: with @abandon, the log of @stage is there
 * @emptied: --drop-unreadable: the cache may have writes that the log loses, so it was emptied
 */
struct opening {
	const struct arguments *args;
	struct origin_match match;
	struct members members;
	struct witness witness;
	bool claim;
	bool witness_is_newer;
	bool heard;
	bool superseded;
	struct stage stage;
	bool staged;
	bool abandon;
	uuid_t log;
	bool log_found;
	bool emptied;
};

static bool has_witness(const struct opening *open)
{
	return *open->witness.path;
}

static const char *recorded_witness(const struct opening *open)
{
	return (const char *)open->match.super.best->witness;
}

/* After an error of the witness, only warn and open without it: the origin has all data. */
static void drop_witness(struct opening *open)
{
	warn("%s; opened without the witness: a crash in a writing mode empties the cache%s",
	     fail_message(), match_was_writing(&open->match) ?
	     "; the last session ended in a crash, so the cache is empty now" : "");
	fail_reset();
	witness_close(&open->witness);
	*open->witness.path = '\0';
	open->claim = false;
	open->match.proven = false;
}

/*
 * The witness that the superblock names has no current record of the cache.  Either the path of the
 * witness leads to another device now, or the cache device is a copy: only the user can tell.
 */
static int refuse_unknown(const struct opening *open)
{
	const struct device *dev = &open->witness.dev;

	return fail(CODE_DEVICE,
		    "%s '%s' has no record of this cache, or a record that names another witness: give --witness DEV with the device that has the record, or with this one for a new record; --witness none forgets the witness",
		    dev->role, dev->path);
}

static struct witness_claim claim_of(const struct opening *open)
{
	return (struct witness_claim){
		.uuid = open->match.super.best->uuid,
		.session = open->witness_is_newer ? open->match.session :
			   le64_to_cpu(open->match.super.best->session),
		.force = option_given(open->args, OPTION_FORCE),
	};
}

static int judge_witness(struct opening *open, bool given_by_user, bool found)
{
	struct origin_match *match = &open->match;
	struct witness *witness = &open->witness;
	struct witness_claim claim = claim_of(open);

	if (members_check_witness(&open->members, witness, &match->cache,
				  &match->origin))
		return fail_code();
	if (found)
		return 0;
	open->claim = true;
	return given_by_user ? witness_prepare(witness, &claim) : refuse_unknown(open);
}

/* Warn and go on without an unusable witness, but fail if judge_witness() refuses --witness DEV. */
static int find_named(struct opening *open)
{
	bool found, current, given_by_user = option_given(open->args, OPTION_WITNESS);
	const char *path = given_by_user ? open->args->witness : recorded_witness(open);
	struct nearcache_witness record;

	if (given_by_user && !witness_named(path) && *recorded_witness(open))
		open->match.witness = "";
	if (!witness_named(path))
		return 0;
	if (witness_open(&open->witness, path) ||
	    witness_look(&open->witness, open->match.super.best->uuid, &record,
			 &found)) {
		drop_witness(open);
		return 0;
	}
	open->heard = !given_by_user ||
		      !strcmp(open->witness.path, recorded_witness(open));
	/* Use the record even if judge_witness() refuses the witness: the record is true. */
	current = found && witness_is_current(&record);
	match_read_witness(&open->match, found ? &record : NULL, open->heard);
	open->superseded = open->match.older && !current;
	open->witness_is_newer = found && !current;
	if (judge_witness(open, given_by_user, current)) {
		if (given_by_user)
			return fail_code();
		drop_witness(open);
		/* The cache will be emptied, so it needs no witness to detect older copies. */
		if (open->superseded)
			open->match.witness = "";
	} else if (given_by_user && (open->witness_is_newer || !open->heard)) {
		open->match.witness = open->witness.path;
		open->match.witness_now = open->witness.dev.number;
		if (open->witness_is_newer)
			match_come_back(&open->match, &record);
	}
	return 0;
}

static int find_witness(struct opening *open)
{
	if (find_named(open))
		return fail_code();
	if (!open->heard && match_read_recorded(&open->match))
		open->superseded = true;
	return 0;
}

static void claim_record(struct opening *open, struct activation *act)
{
	struct witness_claim claim = claim_of(open);

	if (!open->claim || !witness_claim(&open->witness, &claim))
		return;
	drop_witness(open);
	act->witness = 0;
	open->match.witness = NULL;
}

/*
 * The kernel also checks the witness.  If the start fails and the witness is from the superblock,
 * not from the user, start without the witness: a success shows that the witness was the reason.
 */
static int start_open(struct opening *open, struct activation *act)
{
	char why[1024];

	/* Without lock_all() another process, not the witness, may have caused the failure. */
	if (!activate(act) || !act->witness || open->match.older ||
	    !lock_holds_all() ||
	    option_given(open->args, OPTION_WITNESS))
		return fail_code();
	snprintf(why, sizeof(why), "%s", fail_message());
	fail_reset();
	act->witness = 0;
	if (activate(act))
		return fail_code();
	fail(CODE_DEVICE, "witness device '%s': %s", open->witness.path, why);
	drop_witness(open);
	return 0;
}

/* Update the superblock if necessary, then start the device. */
static int execute_open(struct opening *open, struct activation *act)
{
	struct origin_match *match = &open->match;
	sigset_t before;

	/*
	 * A crash behind this step leaves a cache that names a lost log, and the same command goes on
	 * from there.
	 */
	if (open->abandon)
		stage_abandon_log(&open->stage, open->log, open->log_found);
	/* If @witness_is_newer, match_record() below must first store the new session number. */
	if (!open->witness_is_newer)
		claim_record(open, act);
	if (!match->drop && !match->trust && !match->witness) {
		match_refresh(match);
		return start_open(open, act);
	}
	/* No signals until the command ends: ^C could empty the cache without opening it. */
	signals_hold(&before);
	if (match_record(match, false))
		return fail_code();
	if (open->witness_is_newer)
		claim_record(open, act);
	if (!start_open(open, act))
		return 0;
	return fail_add("%sthe superblock has the new facts of the origin",
			match->drop ? "the cached data is dropped already, and " : "");
}

static const char *why_dropped(const struct opening *open, const char *before)
{
	if (*before)
		return before;
	return open->emptied ? "it may have writes that the log has lost" :
	       "the witness knows of a later session";
}

static const char *content_word(const struct origin_match *match)
{
	if (match->drop)
		return "dropped";
	return match_is_cold(match) ? "cold" : "warm";
}

/*
 * Print how many bytes were compared and which changes of the origin open cannot notice, as found
 * before the start. Do not read the origin now: the device is in use, and the caller holds the lock
 * of its name.
 */
static void print_noticed(const struct origin_match *match)
{
	print_bytes("sampled", match->sampled ? "compared with origin" : NULL, match->sampled);
	if (match->looked)
		unnoticed_print(&match->content, match->sample, match->blind && !match->drop);
}

static void print_content(struct opening *open, bool dry_run)
{
	struct origin_match *match = &open->match;
	const char *recorded = (const char *)match->super.best->dataset_version;
	bool anew = match->version && (match->drop || match->trust);
	char before[MATCH_TEXT], changed[MATCH_TEXT], text[MATCH_TEXT + 64];
	char size[SIZE_TEXT];

	match_before(match, before);
	print_string("dataset_version", "dataset version",
		     anew ? match->version : recorded);
	print_string("witness", has_witness(open) ? "witness" : NULL,
		     has_witness(open) ? open->witness.path : NULL);
	print_string("content", NULL, content_word(match));
	print_string("changed", NULL, match_changed(match, changed));
	print_noticed(match);
	if (match->drop) {
		snprintf(text, sizeof(text), "%sdropped: %s",
			 dry_run ? "would be " : "", why_dropped(open, before));
		print_string(NULL, "cached content", text);
	} else if (match_is_cold(match)) {
		print_string(NULL, "cached content", match->older ?
			     "none: the witness knows of a later session than the cache device" :
			     "none: a writing mode was not stopped cleanly");
	} else if (match->trust) {
		snprintf(text, sizeof(text), "trusted, though %s", before);
		print_string(NULL, "cached content", text);
	} else if (match->proven) {
		snprintf(text, sizeof(text),
			 "kept over a crash, except %llu region%s of %s that were being written",
			 (unsigned long long)match->regions,
			 match->regions == 1 ? "" : "s",
			 size_print(match->super.geo.intent_region, size));
		print_string(NULL, "cached content", text);
	}
}

/* A failing cache device does not prevent the start: warn instead. */
static void warn_of_state(const char *name, const struct status *status)
{
	if (status->field[NEARCACHE_FIELD_STATE] == NEARCACHE_BYPASS)
		warn("device '%s' works without its cache: %s (see the kernel log, dmesg); 'nearcache attach %s' attaches the cache device again when it works, or another one",
		     name, status_explain(status), name);
	else if (status->field[NEARCACHE_FIELD_LOADED] ==
		 NEARCACHE_LOADED_DAMAGED)
		warn("a part of the slot table is damaged: its data for '%s' is read from the origin again",
		     name);
}

/* Restores the pins and prints their number. */
static void print_pins(const char *name)
{
	struct restored restored;

	restore(name, NULL, &restored);
	print_number("pins", restored.pins ? "pinned" : NULL, restored.pins);
	if (restored.job)
		print_number("job", "prefetch job", restored.job);
}

static void print_state(const char *name)
{
	struct dm_device dev;
	struct status status;
	bool found;

	if (dm_find(name, &dev, &found) || describe_status(&dev, &status)) {
		/* No error of this command: the device is open. */
		fail_reset();
	} else if (dev.status) {
		print_string("state", NULL, describe_state(&dev, &status));
		print_string("loaded", NULL,
			     status_word(NEARCACHE_FIELD_LOADED,
					 status.field[NEARCACHE_FIELD_LOADED]));
		warn_of_state(name, &status);
	}
	dm_device_free(&dev);
}

static void print_abandoned(const struct opening *open)
{
	char text[STAGE_MOMENT];

	if (open->abandon)
		print_string("abandoned", "origin shows",
			     stage_moment(&open->stage, open->log_found, text));
}

/* Check origin and cache.  Empty an older copy if no witness tells the kernel that it is old. */
static int check_origin(struct opening *open, const struct activation *act)
{
	struct origin_match *match = &open->match;

	if (match_ask_gaps(match) || match_check_origin(match))
		return fail_code();
	if (open->superseded || open->emptied || (match->older && !act->witness)) {
		match->drop = true;
		match->trust = false;
	}
	/* For print_noticed(); an error is no reason not to open. */
	if (!match->drop && !match_is_cold(match) && match_look(match))
		fail_reset();
	return 0;
}

static int run_open(struct opening *open, struct activation *act)
{
	bool dry_run = option_given(open->args, OPTION_DRY_RUN);
	sigset_t before;

	if (find_witness(open))
		return fail_code();
	act->witness = has_witness(open) ? open->witness.dev.number : 0;
	if (check_origin(open, act))
		return fail_code();
	if (!dry_run) {
		/* lock_all() needs device-mapper. */
		if (dm_need_target())
			return fail_code();
		if (lock_all(&open->match.origin))
			return fail_code();
	}
	if (match_check_gaps(&open->match) || activate_check_devices(act) ||
	    activate_check_kernel(act, dry_run) ||
	    (!dry_run && execute_open(open, act)))
		return fail_code();
	/* No signals until the command ends: the user must learn that the device is open. */
	if (!dry_run)
		signals_hold(&before);
	print_record(NULL, act->name);
	activate_print(act);
	print_content(open, dry_run);
	print_abandoned(open);
	if (!dry_run)
		print_state(act->name);
	if (!dry_run)
		print_pins(act->name);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
	if (open->staged)
		stage_print(&open->stage);
	return 0;
}

/* If the cache device is missing, the error says that the origin has all data. */
static int open_cache(struct opening *open)
{
	if (device_open(&open->match.cache, open->args->cache, "cache device") ==
	    CODE_DEVICE)
		fail_add("use the origin itself, which has all data, or create a cache on another device with 'nearcache create'");
	return fail_code();
}

static int find_members(struct opening *open)
{
	unsigned int i;

	if (members_find(&open->members, open->args, &open->match.cache,
			 &open->match.super, &open->match.origin, NULL))
		return fail_code();
	for (i = 0; i < open->members.count; i++)
		if (match_check_free(&open->members.dev[i], NULL))
			return fail_code();
	return 0;
}

/* If the cache device is in use by a device that was renamed, the error says so. */
static int check_free(struct opening *open)
{
	if (match_check_free(&open->match.cache, NULL))
		renamed_explain(open->args->operand[0]);
	return fail_code();
}

/*
 * Use the origin without the log of the stage.  The cache may hold data of the lost writes, so it is
 * emptied.
 */
static int find_abandoned(struct opening *open)
{
	struct origin_match *match = &open->match;
	struct stage *stage = &open->stage;

	if (stage_abandon_prepare(stage, open->args, open->log, &open->log_found))
		return fail_code();
	if (stage->origin.size < le64_to_cpu(match->super.best->origin_size))
		return fail(CODE_DEVICE,
			    "origin '%s' has %llu bytes, the stage of this cache had %llu bytes",
			    stage->origin.path, (unsigned long long)stage->origin.size,
			    (unsigned long long)le64_to_cpu(match->super.best->origin_size));
	match->on_change = ON_CHANGE_DROP;
	return device_open_number(&match->origin, stage->origin.number, "origin");
}

/* The cache has no stage.  A log on this machine may hold writes for its origin all the same. */
static int find_plain(struct opening *open)
{
	const struct arguments *args = open->args;
	struct origin_match *match = &open->match;

	if (open->abandon || stage_options_given(args) ||
	    option_given(args, OPTION_DROP_UNREADABLE | OPTION_RESERVE | OPTION_NO_RESERVE |
				OPTION_PREEMPT | OPTION_EXCLUSIVE))
		return fail(CODE_USAGE,
			    "the cache on '%s' has no stage: leave out --stage, --rate, --max-behind, --on-full, --reserve, --no-reserve, --preempt, --exclusive, --abandon-stage, --drop-unreadable and --mode writeback; 'nearcache create --stage DEV' makes a stage",
			    match->cache.path);
	if (args->origin ? device_open(&match->origin, args->origin, "origin") :
	    match_find_origin(match))
		return fail_code();
	/* Also in mode read-only: data that is cached now would be stale after the drain. */
	return stage_check_origin(&match->origin, NULL, mode_writes(args->mode));
}

/*
 * --drop-unreadable: the stage is going to start without writes that the cache may have.  Empty the
 * cache before that: a crash in between must not leave these writes in it.
 */
static int empty_cache(struct opening *open)
{
	struct origin_match *match = &open->match;

	open->emptied = option_given(open->args, OPTION_DROP_UNREADABLE);
	open->stage.emptied = open->emptied;
	if (!open->emptied || option_given(open->args, OPTION_DRY_RUN))
		return 0;
	if (dataset_empty(&match->cache, &match->super) || open_cache(open))
		return fail_code();
	super_free(&match->super);
	return super_read(&match->super, &match->cache) ||
	       super_require(&match->super, &match->cache) ? fail_code() : 0;
}

/*
 * Open the origin.  The superblock of a cache with a stage names the log in place of the origin: then
 * make the stage first.
 */
static int find_origin(struct opening *open)
{
	const char *id = (const char *)open->match.super.best->origin_id;

	open->abandon = option_given(open->args, OPTION_ABANDON_STAGE);
	if (!stage_id_parse(id, open->log))
		return find_plain(open);
	if (open->abandon)
		return find_abandoned(open);
	open->staged = true;
	if (empty_cache(open) || stage_open(&open->stage, open->args, open->log) || !open->stage.running)
		return fail_code();
	return device_open_number(&open->match.origin, open->stage.number, "origin");
}

/* A dry run cannot look at the content of a stage that does not run yet. */
static void report_stage_only(const struct opening *open, const struct activation *act)
{
	print_record(NULL, act->name);
	print_string("name", NULL, act->name);
	print_string("cache", "cache device", open->match.cache.path);
	print_flag("dry_run", "dry run", true);
	print_end();
	stage_print(&open->stage);
}

/* Open a cache whose devices are given on the command line or in nearcachetab(5). */
static int open_devices(const struct arguments *args)
{
	struct opening open = {
		.args = args,
		.witness = WITNESS_CLOSED,
		.stage = {
			.cache = args->operand[0],
			.log = DEVICE_CLOSED,
			.origin = DEVICE_CLOSED,
		},
		.match = {
			.origin = DEVICE_CLOSED,
			.cache = DEVICE_CLOSED,
			.may_grow = option_given(args, OPTION_GROW),
			.version = args->dataset_version,
			.on_change = args->on_change,
			.sample = SAMPLE_BYTES,
			.sample_ms = SAMPLE_MS,
			.members = &open.members,
			.advice = "--on-change=drop, or a new --dataset-version, empties the cache; --on-change=trust serves the cached data anyway",
		},
	};
	struct activation act = {
		.name = args->operand[0],
		.origin = &open.match.origin,
		.cache = &open.match.cache,
		.members = &open.members,
		.mode = args->mode,
		.args = args,
	};

	/* A size that the user gives has no time limit. */
	if (option_given(args, OPTION_SAMPLE_AT_OPEN)) {
		open.match.sample = args->sample;
		open.match.sample_ms = 0;
	}
	if (!arguments_check_name(args->operand[0]) &&
	    !dataset_check_version(args->dataset_version) &&
	    !open_cache(&open) &&
	    !super_read(&open.match.super, &open.match.cache) &&
	    !super_require(&open.match.super, &open.match.cache) &&
	    !members_check_first(&open.match.cache, &open.match.super) &&
	    !check_free(&open)) {
		int error = find_origin(&open);

		act.sb = open.match.super.best;
		open.match.size = open.match.origin.size;
		/* A cache with a stage was made to be written to. */
		if (open.staged && !option_given(args, OPTION_MODE | OPTION_READ_ONLY))
			act.mode = NEARCACHE_WRITEAROUND;
		if (!error && open.staged && !open.stage.running)
			report_stage_only(&open, &act);
		else if (!error && !find_members(&open))
			run_open(&open, &act);
		if (fail_code())
			stage_undo(&open.stage);
	}
	stage_close(&open.stage);
	super_free(&open.match.super);
	free(open.match.written);
	witness_close(&open.witness);
	device_close(&open.match.origin);
	device_close(&open.match.cache);
	members_close(&open.members);
	return fail_code();
}

/*
 * The cache is lost, and its stage is not: open the stage, and NAME as a pass-through device above
 * it.  A cache of this stage that comes back is emptied, if NAME is writable.
 */
static int open_without_cache(const struct arguments *args)
{
	struct stage stage = STAGE_CLOSED;
	struct device upper = DEVICE_CLOSED;
	struct passthrough pass = {
		.name = args->operand[0],
		.origin = &upper,
		.mode = option_given(args, OPTION_MODE | OPTION_READ_ONLY) ? args->mode :
			NEARCACHE_WRITEAROUND,
		.why = "--stage is given without --cache",
	};
	bool dry_run = option_given(args, OPTION_DRY_RUN);

	stage.cache = args->operand[0];
	if (!arguments_check_name(stage.cache) && !activate_check_name(stage.cache) &&
	    !stage_open(&stage, args, NULL)) {
		if (stage.running &&
		    !device_open_number(&upper, stage.number, "origin"))
			passthrough_start(&pass, dry_run);
		if (!fail_code())
			stage_print(&stage);
		else
			stage_undo(&stage);
	}
	device_close(&upper);
	stage_close(&stage);
	return fail_code();
}

static int cmd_open(const struct arguments *args)
{
	if (arguments_check_operand(args))
		return fail_code();
	if (option_given(args, OPTION_STAGE | OPTION_ABANDON_STAGE | OPTION_DROP_UNREADABLE) &&
	    option_given(args, OPTION_ALL))
		return fail(CODE_USAGE, "--all takes no --stage, --abandon-stage and --drop-unreadable: name one device");
	if (option_given(args, OPTION_STAGE) && option_given(args, OPTION_ABANDON_STAGE) &&
	    !option_given(args, OPTION_CACHE))
		return fail(CODE_USAGE, "--abandon-stage needs --cache DEV, or a line of NAME in nearcachetab; 'nearcache destroy --stage DEV --abandon-stage' gives up a log alone");
	if (option_given(args, OPTION_STAGE) && !option_given(args, OPTION_CACHE | OPTION_TAB))
		return open_without_cache(args);
	if (!option_given(args, OPTION_CACHE))
		return option_given(args, OPTION_ALL) ?
		       opentab_all(args, open_devices) :
		       opentab(args, open_devices);
	if (option_given(args, OPTION_ALL | OPTION_TAB | OPTION_WAIT_DEVICES))
		return fail(CODE_USAGE,
			    "--cache '%s': --all, --tab and --wait need the table, which names the cache device itself",
			    args->cache);
	return open_devices(args);
}

const struct verb open_verb = {
	.name = "open",
	.operands = "[NAME]",
	.operands_max = 1,
	.optional = OPTIONS_OPEN,
	.changes = true,
	.summary = "open a cache that was created before; its data is warm",
	.details =
"With --cache, open finds the origin by the device id that create recorded (wwid, serial\n"
"or uuid); --origin names the origin where the record has none. NAME need not be the name\n"
"that create used. Of several cache devices name the first one, and open finds the\n"
"others, or name all of them in their order. While a copy of one of them is plugged in,\n"
"name all of them.\n"
"\n"
"Without --cache, open reads the line of NAME in /etc/nearcache/nearcachetab (NAME ORIGIN\n"
"CACHE OPTIONS), with --all every line without noauto. --wait waits for missing devices\n"
"as long as the line says. If the cache device is missing or broken, NAME becomes a plain\n"
"dm-linear device on the origin. In a writing mode this device accepts writes if\n"
"/var/lib/nearcache can record them; the cache is emptied when it is back.\n"
"\n"
"--on-change says what to do if the size, device id or content of the origin (as far as\n"
"its fingerprint and a sample tell) or the --dataset-version is not as recorded:\n"
"  drop     empty the cache, record the origin as it is, and open\n"
"  refuse   open nothing and report the differences; this is the default, except that\n"
"           a --dataset-version other than the recorded one acts as drop for size and\n"
"           content\n"
"  trust    keep the cached data up to the end of the origin, and record the origin\n"
"           as it is: you assert that the data is the same\n"
"\n"
"--grow accepts an origin that grew and keeps the cached data. Writes through this device\n"
"do not count as a change.\n"
"\n"
"The sample is cached data that open compares with the origin: metadata of file systems,\n"
"the latest fills, and random blocks, 64 MiB or as much as can be read in a second.\n"
"--sample-at-open SIZE compares SIZE without a time limit, 0 nothing.\n"
"\n"
"Without --witness, open uses the recorded witness; --witness none forgets it. If the\n"
"witness is missing, the cache opens without it and reports a warning. --force accepts a\n"
"witness that carries something else.\n"
"\n"
"A cache that was created with --stage is opened above its stage, which open makes first;\n"
"it finds the log by the uuid that the cache names, and the origin by the id in the log.\n"
"Without the log, the cache is refused, as the origin may have an older state.\n"
"--abandon-stage opens it without the log, and empties it: writes that were not on the\n"
"origin are lost, and the log is wiped if it is there, otherwise refused when it is back.\n"
"--force accepts a volume whose device id has changed since the log was made. --stage\n"
"without --cache opens the stage alone, if the cache device is lost: NAME then passes\n"
"through to the stage. --drop-unreadable opens a log of which a block cannot be read:\n"
"writes from there on are lost, open says which, and empties the cache. --reserve makes the\n"
"stage reserve its origin from now on, and --no-reserve no longer. --preempt takes an\n"
"origin that is to be reserved from another node. --exclusive asserts that only this\n"
"device writes to the origin, so that data retained in the log is read there; see\n"
"nearcache(8).\n"
"\n" WITNESS_HELP
"\n" MODES_HELP,
	.run = cmd_open,
};
