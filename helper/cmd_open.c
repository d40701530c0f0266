// SPDX-License-Identifier: GPL-2.0-only
/* nearcache open: a cache that was created before. */
#include <stdio.h>

#include "activate.h"
#include "commands.h"
#include "dataset.h"
#include "describe.h"
#include "device.h"
#include "dm.h"
#include "fail.h"
#include "pair.h"
#include "print.h"
#include "signals.h"
#include "super.h"

/**
 * struct opening - a cache on its way
 * @args: the command line
 * @pair: its devices
 */
struct opening {
	const struct arguments *args;
	struct pair pair;
};

/* Drop what is to be dropped, record what is to be recorded, then start. */
static int execute(struct opening *open, const struct activation *act)
{
	struct pair *pair = &open->pair;
	sigset_t before;

	if (!pair->drop && !pair->trust) {
		pair_refresh(pair);
		return activate(act);
	}
	/* From here on, to the end: a ^C would open nothing and have dropped
	 * what was cached.
	 */
	signals_hold(&before);
	if (pair_record(pair, false))
		return fail_code();
	if (!activate(act))
		return 0;
	return fail_add("%sthe origin is recorded as it is",
			pair->drop ? "what was cached is dropped already, and " : "");
}

static const char *content_word(const struct pair *pair)
{
	if (pair->drop)
		return "dropped";
	return pair_is_active(pair) ? "cold" : "warm";
}

/* What the device starts with. */
static void print_content(const struct opening *open, bool dry_run)
{
	const struct pair *pair = &open->pair;
	const char *recorded = (const char *)pair->super.best->dataset_version;
	bool anew = pair->version && (pair->drop || pair->trust);
	char before[PAIR_TEXT], changed[PAIR_TEXT], text[PAIR_TEXT + 64];

	pair_before(pair, before);
	print_string("dataset_version", "dataset version",
		     anew ? pair->version : recorded);
	print_string("content", NULL, content_word(pair));
	print_string("changed", NULL, pair_changed(pair, changed));
	if (pair->drop) {
		snprintf(text, sizeof(text), "%sdropped: %s",
			 dry_run ? "would be " : "", before);
		print_string(NULL, "cached content", text);
	} else if (pair_is_active(pair)) {
		print_string(NULL, "cached content",
			     "none: it was not stopped cleanly in a writing mode");
	} else if (pair->trust) {
		snprintf(text, sizeof(text), "trusted, though %s", before);
		print_string(NULL, "cached content", text);
	}
}

/* A start never fails because of the cache device alone. */
static void warn_of_state(const char *name, const struct status *status)
{
	if (status->field[NEARCACHE_FIELD_STATE] == NEARCACHE_BYPASS)
		warn("device '%s' works without its cache: %s (the kernel log, dmesg, tells more); 'nearcache attach %s' takes it back when it works again, or another one",
		     name, status_explain(status), name);
	else if (status->field[NEARCACHE_FIELD_LOADED] ==
		 NEARCACHE_LOADED_DAMAGED)
		warn("a part of the slot table was damaged: what it cached for '%s' is read from the origin again",
		     name);
}

/* What the kernel made of it. */
static void print_state(const char *name)
{
	struct dm_device dev;
	struct status status;
	sigset_t before;
	bool found;

	/* To the end: it is open, and a ^C would not say so. */
	signals_hold(&before);
	if (dm_find(name, &dev, &found) || describe_status(&dev, &status)) {
		/* The device was opened all the same. */
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

static int run(struct opening *open, const struct activation *act)
{
	bool dry_run = given(open->args, OPTION_DRY_RUN);

	if (pair_check_origin(&open->pair) || activate_check_devices(act) ||
	    activate_check_kernel(act, dry_run) ||
	    (!dry_run && execute(open, act)))
		return fail_code();
	print_record(NULL, act->name);
	activate_print(act);
	print_content(open, dry_run);
	if (!dry_run)
		print_state(act->name);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
	return 0;
}

/* A local drive that is not there must not stop anybody: no data is only there. */
static int open_cache(struct opening *open)
{
	if (device_open(&open->pair.cache, open->args->cache, "cache device") ==
	    CODE_DEVICE)
		fail_add("without it use the origin itself, which holds all data; or make a cache on another device with 'nearcache create'");
	return fail_code();
}

int cmd_open(const struct arguments *args)
{
	struct opening open = {
		.args = args,
		.pair = {
			.origin = DEVICE_CLOSED,
			.cache = DEVICE_CLOSED,
			.may_grow = given(args, OPTION_GROW),
			.version = args->dataset_version,
			.on_change = args->on_change,
			.advice = "--on-change=drop, or a new --dataset-version, empties the cache; --on-change=trust serves what it holds all the same",
		},
	};
	struct activation act = {
		.name = args->operand[0],
		.origin = &open.pair.origin,
		.cache = &open.pair.cache,
		.mode = args->mode,
		.args = args,
	};

	if (!arguments_check_name(args->operand[0]) &&
	    !dataset_check_version(args->dataset_version) &&
	    !open_cache(&open) &&
	    !super_read(&open.pair.super, &open.pair.cache) &&
	    !super_require(&open.pair.super, &open.pair.cache) &&
	    !pair_check_free(&open.pair.cache, NULL)) {
		int error = args->origin ?
			    device_open(&open.pair.origin, args->origin, "origin") :
			    pair_find_origin(&open.pair);

		act.sb = open.pair.super.best;
		open.pair.size = open.pair.origin.size;
		if (!error)
			run(&open, &act);
	}
	super_free(&open.pair.super);
	device_close(&open.pair.origin);
	device_close(&open.pair.cache);
	return fail_code();
}
