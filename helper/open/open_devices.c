// SPDX-License-Identifier: GPL-2.0-only
/* Open a cache that was created before. */
#include "open/open_devices.h"

#include <stdio.h>
#include <stdlib.h>

#include "block/dm.h"
#include "block/lock.h"
#include "block/signals.h"
#include "lib/error.h"
#include "ondisk/superblock.h"
#include "open/content_sample.h"
#include "open/opening.h"
#include "open/origin_record.h"
#include "open/witness_proof.h"

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
	    (option_given(open->args, OPTION_WITNESS) && !open->witness_remembered))
		return fail_code();
	snprintf(why, sizeof(why), "%s", fail_message());
	fail_reset();
	act->witness = 0;
	if (activate(act))
		return fail_code();
	fail(CODE_DEVICE, "witness device '%s': %s", open->witness.path, why);
	opening_drop_witness(open);
	return 0;
}

/* Update the superblock if necessary, then start the device. */
static int execute_open(struct opening *open, struct activation *act)
{
	struct origin_match *match = &open->match;
	sigset_t before;

	/*
	 * After a crash behind this step the cache names a log that is lost or wiped: the same command
	 * completes the work.
	 */
	if (open->abandon)
		stage_abandon_log(&open->stage, open->log, open->log_found);
	/* If @witness_is_newer, match_record() below must first store the new session number. */
	if (!open->witness_is_newer)
		opening_claim_record(open, act);
	if (!match->drop && !match->trust && !match->witness) {
		match_refresh(match);
		return start_open(open, act);
	}
	/* No signals until the command ends: ^C could empty the cache without opening it. */
	signals_hold(&before);
	if (match_record(match, false))
		return fail_code();
	if (open->witness_is_newer)
		opening_claim_record(open, act);
	if (!start_open(open, act))
		return 0;
	return fail_add("%sthe superblock has the new facts of the origin",
			match->drop ? "the cached data is dropped already, and " : "");
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
	/* For print_noticed(); ignore an error. */
	if (!match->drop && !match_is_cold(match) && match_look(match))
		fail_reset();
	return 0;
}

static int run_open(struct opening *open, struct activation *act)
{
	bool dry_run = option_given(open->args, OPTION_DRY_RUN);
	sigset_t before;

	if (opening_find_witness(open))
		return fail_code();
	act->witness = opening_has_witness(open) ? open->witness.dev.number : 0;
	if (check_origin(open, act))
		return fail_code();
	if (!dry_run) {
		/* lock_all() needs device-mapper. */
		if (dm_need_target())
			return fail_code();
		if (lock_all(&open->match.origin))
			return fail_code();
	}
	if (match_check_gaps(&open->match))
		return fail_code();
	if (activate_check_devices(act) || activate_check_kernel(act, dry_run))
		return opening_explain_mode(open);
	if (!dry_run && execute_open(open, act))
		return fail_code();
	/* No signals until the command ends: the user must learn that the device is open. */
	if (!dry_run) {
		signals_hold(&before);
		opening_remember(open, act->name);
		opening_set_read_ahead(open, act->name);
	}
	opening_print(open, act);
	return 0;
}

/* Open a cache whose first device was found. */
static int open_found(struct opening *open, struct activation *act)
{
	if (opening_take_remembered(open) || opening_find_origin(open))
		return fail_code();
	act->args = open->args;
	act->mode = open->args->mode;
	act->sb = open->match.super.best;
	open->match.size = open->match.origin.size;
	/* A cache with a stage is for writing: writearound is its default mode. */
	if (open->staged && !option_given(open->args, OPTION_MODE | OPTION_READ_ONLY))
		act->mode = NEARCACHE_WRITEAROUND;
	if (open->staged && !open->stage.running)
		opening_print_stage_only(open, act->name);
	else if (!opening_find_members(open))
		run_open(open, act);
	return fail_code();
}

/* Open a cache whose devices are given on the command line or in nearcachetab(5). */
int open_devices(const struct arguments *args)
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
	};

	/* A size that the user gives has no time limit. */
	if (option_given(args, OPTION_COMPARE_AT_OPEN)) {
		open.match.sample = args->sample;
		open.match.sample_ms = 0;
	}
	if (!arguments_check_name(act.name) && !dataset_check_version(args->dataset_version) &&
	    !opening_find_cache(&open)) {
		open_found(&open, &act);
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
