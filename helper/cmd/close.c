// SPDX-License-Identifier: GPL-2.0-only
/* nearcache close: stop a device cleanly. */
#include <stdlib.h>
#include <sys/stat.h>

#include "cmd/commands.h"
#include "ondisk/print_superblock.h"
#include "lib/error.h"
#include "block/parallel_devices.h"
#include "lib/enum_words.h"
#include "lib/name.h"
#include "open/lvm_filter.h"
#include "open/origin_match.h"
#include "block/table_params.h"
#include "open/passthrough.h"
#include "open/renamed.h"
#include "open/stage_device.h"
#include "stage/drain.h"
#include "stage/give_up.h"
#include "lib/print.h"
#include "meta/recover.h"
#include "block/signals.h"
#include "cluster/home.h"
#include "block/dm_remove.h"
#include "open/witness.h"
#include "open/witness_proof.h"

/* Time limit for a device with --all, seconds: longer than a drive takes to report an error. */
#define CLOSE_SECONDS	120U
/* The same for a device with a stage, whose log is written to the origin first: a week. */
#define DRAIN_SECONDS	(7 * 86400U)

/*
 * Options of the command. @keep: leave writes in the log of a stage. @abandon: the log of the stage
 * hangs or has failed: do not wait for it.
 */
struct close_options {
	bool dry_run;
	bool keep;
	bool abandon;
};

/*
 * A device that was just stopped, and its cache.
 *
 * @wrote: the origin was written through the device
 * @witness: open only if not yet named in the superblock, or if it missed the last session
 * @unseen: the new session number for the superblock and @witness; 0: unchanged
 */
struct closing {
	const struct dm_device *dev;
	bool wrote;
	struct origin_match match;
	struct witness witness;
	u64 unseen;
};

static const char *recorded_witness(const struct closing *closing)
{
	return (const char *)closing->match.super.best->witness;
}

static bool read_witness(struct closing *closing, struct nearcache_witness *record)
{
	bool found;

	return !witness_look(&closing->witness, closing->match.super.best->uuid,
			     record, &found) &&
	       found && witness_is_current(record);
}

/*
 * Choose a session number above those of superblock and witness.  record_session() writes the new
 * number to the superblock, then to the witness.
 */
static void renumber_session(struct closing *closing,
			     const struct nearcache_witness *record)
{
	u64 last = le64_to_cpu(closing->match.super.best->session);
	u64 known = le64_to_cpu(record->session);

	closing->unseen = (known > last ? known : last) + 1;
	match_take_session(&closing->match, closing->unseen);
}

/*
 * If 'nearcache set witness=' put witness @number into the dm table, let match_record() name it in
 * the superblock: 'set' could not write the superblock, which the kernel used.
 */
static void find_new(struct closing *closing, dev_t number)
{
	const struct nearcache_super *sb = closing->match.super.best;
	struct nearcache_witness record;
	struct stat st;

	if ((!stat(recorded_witness(closing), &st) && st.st_rdev == number) ||
	    witness_open_number(&closing->witness, number))
		return;
	if (read_witness(closing, &record)) {
		if (nc_recover_older(sb, &record))
			return;
		/* 'set' wrote a later session to the witness than the superblock has. */
		if (le64_to_cpu(record.session) > le64_to_cpu(sb->session))
			renumber_session(closing, &record);
	}
	closing->match.witness = closing->witness.path;
	closing->match.witness_now = number;
}

/*
 * The device ran without the witness that the superblock names.  After writes to the origin,
 * give this witness a new session number, so that it rejects older copies of the cache device.
 */
static void find_unseen(struct closing *closing)
{
	struct nearcache_witness record;

	if (closing->wrote && witness_named(recorded_witness(closing)) &&
	    !witness_open(&closing->witness, recorded_witness(closing)) &&
	    read_witness(closing, &record) &&
	    !nc_recover_older(closing->match.super.best, &record))
		renumber_session(closing, &record);
}

/* Write superblock, then witness: a witness that is one session behind still accepts the cache. */
static void record_session(struct closing *closing)
{
	struct origin_match *match = &closing->match;
	sigset_t before;

	/* ^C must not leave superblock and witness with different session numbers. */
	signals_hold(&before);
	if (!match_record(match, false) && closing->unseen)
		witness_end(&closing->witness, match->super.best->uuid,
			    closing->unseen);
	if (fail_code())
		warn("%s; the cache device's record of its witness is out of date",
		     fail_message());
	fail_reset();
	signals_release(&before);
}

/*
 * After a session that wrote, take the fingerprint of the origin's file system at once: later,
 * other hosts could have changed it.  A failure here is harmless.  After a session that only
 * read, this function does not touch devices that may have failed: the next open takes the
 * fingerprint.
 */
static void refresh_fingerprint(struct closing *closing)
{
	struct origin_match *match = &closing->match;
	struct params params;

	if (params_parse(closing->dev->table, &params) &&
	    !device_open_number(&match->cache, closing->dev->cache,
				"cache device") &&
	    !super_read(&match->super, &match->cache) && match->super.best) {
		if (params.witness)
			find_new(closing, params.witness);
		else
			find_unseen(closing);
		fail_reset();
	}
	if (match->super.best &&
	    (match->witness || closing->unseen || match_can_refresh(match)) &&
	    !device_open_number(&match->origin, closing->dev->origin, "origin")) {
		match->size = match->origin.size;
		if (match_compare(match) || match->differs ||
		    (!match->witness && !closing->unseen))
			match_refresh(match);
		else
			record_session(closing);
	}
	fail_reset();
	witness_close(&closing->witness);
	super_free(&match->super);
	device_close(&match->origin);
	device_close(&match->cache);
}

/* Sets @wrote.  True if superblock or witness may be out of date and the state was normal. */
static bool wants_refresh(struct closing *closing)
{
	const struct dm_device *dev = closing->dev;
	struct params params;
	struct status status;

	if (describe_status(dev, &status))
		fail_reset();
	closing->wrote = status.counter[NEARCACHE_COUNTER_WRITES] ||
			 status.counter[NEARCACHE_COUNTER_DISCARDS] ||
			 status.counter[NEARCACHE_COUNTER_ZEROES];
	return dev->table && params_parse(dev->table, &params) &&
	       (mode_writes(params.mode) || closing->wrote || params.witness) &&
	       status.field[NEARCACHE_FIELD_STATE] == NEARCACHE_NORMAL;
}

/* Cut the name of a stage to that of its cache. */
static const char *cut_ending(char *name)
{
	size_t length = strlen(name), end = strlen(STAGE_ENDING);

	if (length > end && !strcmp(name + length - end, STAGE_ENDING))
		name[length - end] = '\0';
	return name;
}

/*
 * Remove the stage of a cache that is closed already.  Without --keep, all of its log is written to
 * the origin first; an interrupt then leaves the stage for the next open or close.
 */
static int close_stage(const struct dm_device *stage, const struct close_options *options)
{
	bool keep = options->keep, abandon = options->abandon;
	bool found, drained, committed = !keep && !abandon;
	struct stage_status status;
	struct dm_device now;
	uint64_t epoch;

	if (committed && stage->live && stage_drain(stage))
		return fail_code();
	/* Commit now: the kernel would at the removal, after the status was read. */
	if (keep && !abandon && stage->live)
		committed = !stage_commit(stage, &epoch);
	fail_reset();
	if (dm_find(stage->name, &now, &found))
		return fail_code();
	/* A run was killed before the device had a table: its log is unchanged. */
	drained = committed && found && now.stage && !stage_need_status(&now, &status) &&
		  stage_all_drained(&status);
	if (found && !fail_code() && !stage_remove(&now, drained, keep) && abandon)
		stage_print_lost(&now, cut_ending(now.name));
	dm_device_free(&now);
	return fail_code();
}

/*
 * Before a device closes, give up the log of its stage (--abandon-stage), or write the log to the
 * origin.  An interrupt of the drain leaves a working device.
 */
static int prepare_stage(const struct dm_device *dev, const struct dm_device *stage,
			 const struct close_options *options)
{
	if (options->keep && !options->abandon)
		return 0;
	if (!options->abandon)
		return stop_check(dev) || stage_drain(stage) ? fail_code() : 0;
	if (stage_give_up(stage))
		return fail_code();
	if (stop_check(dev))
		return fail_add("the log is given up, so requests that need it fail from now on: stop the users of '%s', then repeat this command",
				dev->name);
	return stage_wait_log(stage);
}

static void print_stage(const struct dm_device *stage, const struct close_options *options)
{
	struct stage_status status;
	bool known = stage->stage && !stage_need_status(stage, &status);

	fail_reset();
	if (options->dry_run)
		print_string("stage", options->abandon ? "would give up the log of" :
			     options->keep ? "would keep the log of" : "would drain",
			     stage->name);
	else
		print_string("stage", NULL, stage->name);
	print_bytes("behind_bytes", options->dry_run ? "not yet on the origin" : NULL,
		    known ? status.behind_bytes : 0);
	print_flag("kept", NULL, options->keep);
}

static int check_abandon(const struct close_options *options, const char *name, bool staged)
{
	return options->abandon && !staged ?
	       fail(CODE_USAGE, "device '%s' has no stage: leave out --abandon-stage", name) : 0;
}

/* Closes the device @name-stage if it exists without a cache above it. */
static bool close_left_stage(const char *name, const struct close_options *options)
{
	struct dm_device stage;
	bool found;

	if (stage_of_name(name, &stage, &found) || !found) {
		fail_reset();
		return false;
	}
	if (options->dry_run ? !stop_check(&stage) :
	    !(options->abandon && prepare_stage(&stage, &stage, options)) &&
	    !close_stage(&stage, options)) {
		print_string("name", options->dry_run ? "would close" : NULL, name);
		print_stage(&stage, options);
		print_flag("closed", NULL, !options->dry_run);
		print_flag("dry_run", NULL, options->dry_run);
	}
	dm_device_free(&stage);
	return true;
}

/* Closes @name if it is a pass-through device.  Returns whether it is one. */
static bool close_passing(const char *name, const struct close_options *options)
{
	struct dm_device dev, stage = { .table = NULL };
	bool found, staged = false;

	if (dm_find(name, &dev, &found)) {
		fail_reset();
		return false;
	}
	found = found && dm_uuid_passes_through(dev.uuid);
	if (found && !stage_of_name(name, &stage, &staged) &&
	    !check_abandon(options, name, staged) &&
	    (!staged || options->dry_run || !prepare_stage(&dev, &stage, options)) &&
	    !passthrough_close(&dev, options->dry_run) && staged && !options->dry_run)
		close_stage(&stage, options);
	dm_device_free(&stage);
	dm_device_free(&dev);
	return found;
}

/* Stop the cache, and its stage (not @stage->name if there is none). */
static int stop_devices(struct closing *closing, const struct dm_device *stage,
			const struct close_options *options)
{
	const struct dm_device *dev = closing->dev;
	bool staged = *stage->name;

	if (home_check_free(dev))
		return fail_code();
	if (options->dry_run)
		return stop_check(dev);
	if (staged && prepare_stage(dev, stage, options))
		return fail_code();
	if (stop(dev))
		return fail_code();
	lvm_filter_notify(dev->origin);
	if (!options->abandon && wants_refresh(closing))
		refresh_fingerprint(closing);
	if (staged && close_stage(stage, options))
		fail_add("the cache is closed; 'nearcache close %s' tries again to close its stage",
			 dev->name);
	return fail_code();
}

static int close_one(const char *name, const struct close_options *options)
{
	struct dm_device dev, stage = { .table = NULL };
	struct closing closing = {
		.dev = &dev,
		.match = {
			.origin = DEVICE_CLOSED,
			.cache = DEVICE_CLOSED,
			.may_grow = true,
		},
		.witness = WITNESS_CLOSED,
	};
	const char *gone;
	bool staged;

	if (close_passing(name, options))
		return fail_code();
	if (dm_need_ours(name, &dev)) {
		char why[1024];

		snprintf(why, sizeof(why), "%s", fail_message());
		if (fail_code() == CODE_DEVICE) {
			fail_reset();
			if (close_left_stage(name, options))
				return fail_code();
			fail(CODE_DEVICE, "%s", why);
		}
		renamed_explain(name);
		return fail_code();
	}
	gone = renamed_table_gone(&dev);
	if (gone)
		warn("device '%s': %s", name, gone);
	if (stage_below(&dev, &stage, &staged))
		fail_reset();
	if (!staged)
		*stage.name = '\0';
	if (!check_abandon(options, name, staged) && !stop_devices(&closing, &stage, options)) {
		print_string("name", options->dry_run ? "would close" : NULL, dev.name);
		if (staged)
			print_stage(&stage, options);
		print_flag("closed", NULL, !options->dry_run);
		print_flag("dry_run", NULL, options->dry_run);
	}
	dm_device_free(&stage);
	dm_device_free(&dev);
	return fail_code();
}

static int close_job(const struct many_job *job)
{
	return close_one(job->name, job->data);
}

static void report_all(const struct many_job *job, size_t count, bool dry_run)
{
	size_t i;

	print_table("devices");
	for (i = 0; i < count; i++) {
		const char *state = dry_run ? "would close" : "closed";

		print_record(NULL, NULL);
		print_string("name", "name", job[i].name);
		print_string("state", "state", job[i].code ? "failed" : state);
		print_string("reason", "reason",
			     *job[i].message ? job[i].message : NULL);
		print_end();
	}
	print_end();
	print_flag("dry_run", NULL, dry_run);
}

/* Whether a stage is below a device of this name: its log may take long. */
static bool has_stage(const char *name)
{
	struct dm_device stage;
	bool found;

	if (stage_of_name(name, &stage, &found))
		fail_reset();
	if (found)
		dm_device_free(&stage);
	return found;
}

/* Add the job for a device, unless there is one of this name. */
static void add_job(struct many_job *job, size_t *count, const char *name,
		    const struct close_options *options)
{
	size_t i;

	for (i = 0; i < *count; i++)
		if (!strcmp(job[i].name, name))
			return;
	job[*count].name = name;
	job[*count].data = options;
	job[*count].seconds = !options->keep && has_stage(name) ? DRAIN_SECONDS : CLOSE_SECONDS;
	++*count;
}

static int close_list(const struct dm_device *list, size_t lists,
		      const struct dm_device *passing, size_t passings,
		      const struct close_options *options)
{
	struct dm_device *stage = NULL;
	struct many_job *job;
	size_t i, stages, count = 0;

	if (dm_all_stages(&stage, &stages))
		return fail_code();
	job = calloc(lists + passings + stages + 1, sizeof(*job));
	for (i = 0; job && i < lists; i++)
		add_job(job, &count, list[i].name, options);
	for (i = 0; job && i < passings; i++)
		add_job(job, &count, passing[i].name, options);
	for (i = 0; job && i < stages; i++)
		add_job(job, &count, cut_ending(stage[i].name), options);
	if (job) {
		many_run(job, count, close_job);
		report_all(job, count, options->dry_run);
		many_sum(job, count, "closed");
	} else {
		fail_memory();
	}
	free(job);
	dm_device_free_all(stage, stages);
	return fail_code();
}

static int close_all(const struct close_options *options)
{
	struct dm_device *list, *passing;
	size_t lists, passings;

	if (dm_all(&list, &lists))
		return fail_code();
	if (!dm_all_passing(&passing, &passings)) {
		close_list(list, lists, passing, passings, options);
		dm_device_free_all(passing, passings);
	}
	dm_device_free_all(list, lists);
	return fail_code();
}

static int cmd_close(const struct arguments *args)
{
	const struct close_options options = {
		.dry_run = option_given(args, OPTION_DRY_RUN),
		.keep = option_given(args, OPTION_KEEP),
		.abandon = option_given(args, OPTION_ABANDON_STAGE),
	};

	if (arguments_check_operand(args))
		return fail_code();
	if (options.abandon && !args->operands)
		return fail(CODE_USAGE, "--abandon-stage and --all: name the device whose log is given up");
	if (options.abandon && options.keep)
		return fail(CODE_USAGE, "--keep and --abandon-stage: a log that is given up stays as it is, leave out --keep");
	return args->operands ?
	       close_one(name_of_operand(args->operand[0]), &options) :
	       close_all(&options);
}

const struct verb close_verb = {
	.name = "close",
	.group = VERBS_DEVICES,
	.operands = "[NAME]",
	.operands_max = 1,
	.optional = OPTION_ALL | OPTION_KEEP | OPTION_ABANDON_STAGE,
	.changes = true,
	.summary = "stop a device cleanly; its cache stays warm",
	.details =
"--all stops every open device, including those that pass through to their origin. A\n"
"device in use does not keep the others open.\n"
"\n"
"If the cache has a stage, close first writes its log to the origin, which may take long.\n"
"The device stays in use until then, and ^C leaves it so. With --keep, writes stay in the\n"
"log, and the next open goes on; until then the origin has an older state. With --keep, a\n"
"reservation of the origin stays; otherwise close releases the origin.\n"
"\n"
"--abandon-stage is for a log that hangs or has failed: new requests that need the log fail\n"
"at once, and the device closes when the driver of the log has ended its requests. close\n"
"prints which moment the origin shows. Later writes are lost, unless the log can be read\n"
"again: close does not wipe it. A device in use stays open, but its requests fail, so that\n"
"its users can be stopped.\n",
	.run = cmd_close,
};
