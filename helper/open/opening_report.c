// SPDX-License-Identifier: GPL-2.0-only
/* Print the result of an open: devices, content, pins. */
#include "open/opening.h"

#include <stdio.h>

#include "block/dm.h"
#include "lib/error.h"
#include "lib/print.h"
#include "lib/size.h"
#include "ondisk/print_superblock.h"
#include "open/unnoticed.h"
#include "open/witness_proof.h"
#include "pins/restore.h"

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
	print_string("witness", opening_has_witness(open) ? "witness" : NULL,
		     opening_has_witness(open) ? open->witness.path : NULL);
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
		/* Ignore the error: the device is open. */
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

/* Print the open device, which @act describes, and restore its pins. */
void opening_print(struct opening *open, const struct activation *act)
{
	bool dry_run = option_given(open->args, OPTION_DRY_RUN);

	print_record(NULL, act->name);
	activate_print(act);
	opening_print_remembered(open);
	print_content(open, dry_run);
	print_abandoned(open);
	if (!dry_run) {
		print_state(act->name);
		print_pins(act->name);
	}
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
	if (open->staged)
		stage_print(&open->stage);
}

/* A dry run cannot look at the content of a stage that does not run yet. */
void opening_print_stage_only(const struct opening *open, const char *name)
{
	print_record(NULL, name);
	print_string("name", NULL, name);
	print_string("cache", "cache device", open->match.cache.path);
	print_flag("dry_run", "dry run", true);
	print_end();
	stage_print(&open->stage);
}
