// SPDX-License-Identifier: GPL-2.0-only
/* Find the parts of a cache that is opened: its cache devices, its origin, and its stage. */
#include "open/opening.h"

#include "lib/error.h"
#include "open/origin_record.h"
#include "open/renamed.h"

/* If the cache device is missing, the error says that the origin has all data. */
static int open_cache(struct opening *open)
{
	if (device_open(&open->match.cache, open->args->cache, "cache device") ==
	    CODE_DEVICE)
		fail_add("use the origin itself, which has all data, or create a cache on another device with 'nearcache create'");
	return fail_code();
}

/* If the cache device is in use by a device that was renamed, the error says so. */
static int check_free(struct opening *open)
{
	if (match_check_free(&open->match.cache, NULL))
		renamed_explain(open->args->operand[0]);
	return fail_code();
}

/* Open the first cache device, and read its superblock. */
int opening_find_cache(struct opening *open)
{
	struct origin_match *match = &open->match;

	return open_cache(open) || super_read(&match->super, &match->cache) ||
	       super_require(&match->super, &match->cache) ||
	       members_check_first(&match->cache, &match->super) || check_free(open) ? fail_code() : 0;
}

/* Open the other cache devices. */
int opening_find_members(struct opening *open)
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
int opening_find_origin(struct opening *open)
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
