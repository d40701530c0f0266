// SPDX-License-Identifier: GPL-2.0-only
/* The witness of a cache that is opened: find it, claim its record, or open without it. */
#include "open/opening.h"

#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "open/witness_proof.h"

static const char *recorded_witness(const struct opening *open)
{
	return (const char *)open->match.super.best->witness;
}

/* After an error of the witness, only warn and open without it: the origin has all data. */
void opening_drop_witness(struct opening *open)
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

	if (open->witness_remembered)
		return fail(CODE_DEVICE,
			    "%s '%s', which 'nearcache set' chose for this cache, has no record of it: another device may have its name now; 'nearcache set NAME witness=DEV' names the right one",
			    dev->role, dev->path);
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
	return given_by_user && !open->witness_remembered ? witness_prepare(witness, &claim) :
							    refuse_unknown(open);
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
		if (open->witness_remembered)
			fail_add("'nearcache set' chose it, and --forget drops it");
		opening_drop_witness(open);
		return 0;
	}
	open->recorded = !given_by_user ||
			 !strcmp(open->witness.path, recorded_witness(open));
	/* Use the record even if judge_witness() refuses the witness: the record is true. */
	current = found && witness_is_current(&record);
	match_read_witness(&open->match, found ? &record : NULL, open->recorded);
	open->superseded = open->match.older && !current;
	open->witness_is_newer = found && !current;
	if (judge_witness(open, given_by_user, current)) {
		if (given_by_user && !open->witness_remembered)
			return fail_code();
		opening_drop_witness(open);
		/* The cache will be emptied, so it needs no witness to detect older copies. */
		if (open->superseded)
			open->match.witness = "";
	} else if (given_by_user && (open->witness_is_newer || !open->recorded)) {
		open->match.witness = open->witness.path;
		open->match.witness_now = open->witness.dev.number;
		if (open->witness_is_newer)
			match_come_back(&open->match, &record);
	}
	return 0;
}

/* Open the witness, if the cache has one that works, and compare its record with the superblock. */
int opening_find_witness(struct opening *open)
{
	if (find_named(open))
		return fail_code();
	if (!open->recorded && match_read_recorded(&open->match))
		open->superseded = true;
	return 0;
}

/* Write a new record of the cache to the witness, if it needs one. */
void opening_claim_record(struct opening *open, struct activation *act)
{
	struct witness_claim claim = claim_of(open);

	if (!open->claim || !witness_claim(&open->witness, &claim))
		return;
	opening_drop_witness(open);
	act->witness = 0;
	open->match.witness = NULL;
}
