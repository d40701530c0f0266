// SPDX-License-Identifier: GPL-2.0-only
/* nearcache stage: show the log of a stage, drain it, and change its limits. */
#include <stdio.h>
#include <string.h>

#include "block/lock.h"
#include "block/stage_params.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "lib/name.h"
#include "lib/print.h"
#include "open/remembered.h"
#include "open/stage_device.h"
#include "stage/drain.h"
#include "stage/report.h"
#include "stage/write_back.h"

/* Find the stage of a cache.  After success dm_device_free() is needed. */
static int need_stage(const char *name, struct dm_device *dev)
{
	struct dm_device cache;
	bool found;

	if (stage_of_name(name, dev, &found))
		return fail_code();
	if (found && dev->stage)
		return 0;
	dm_device_free(dev);
	if (found)
		return fail(CODE_DEVICE,
			    "the stage '%s' has no table: 'nearcache close %s', then open it again",
			    dev->name, name);
	if (dm_find(name, &cache, &found))
		return fail_code();
	dm_device_free(&cache);
	return found ? fail(CODE_DEVICE,
			    "device '%s' has no stage: 'nearcache create --stage DEV' makes one",
			    name) :
		       fail(CODE_DEVICE,
			    "there is no device '%s': 'nearcache list' shows those that are open",
			    name);
}

static int report_all(void)
{
	struct dm_device *list;
	size_t i, count;

	if (dm_all_stages(&list, &count))
		return fail_code();
	print_list("stages");
	for (i = 0; i < count && !fail_code(); i++) {
		print_record(NULL, list[i].name);
		stage_report(&list[i]);
		print_end();
	}
	print_end();
	dm_device_free_all(list, count);
	return fail_code();
}

static int run_status(const struct arguments *args, const char *name)
{
	struct dm_device dev;

	(void)args;
	if (!name)
		return report_all();
	if (need_stage(name, &dev))
		return fail_code();
	stage_report(&dev);
	dm_device_free(&dev);
	return fail_code();
}

static int run_drain(const struct arguments *args, const char *name)
{
	const char *path = args->operands > 2 ? args->operand[2] : NULL;
	bool waits = option_given(args, OPTION_WAIT_DRAINED);
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	struct dm_device dev;
	uint64_t epoch = 0;

	if (need_stage(name, &dev))
		return fail_code();
	if (!dry_run &&
	    !(path ? write_back_path(dev.number, name, path) : write_back_all(dev.number)) &&
	    !stage_commit(&dev, &epoch) && waits)
		stage_wait_epoch(dev.name, epoch);
	if (!fail_code()) {
		print_string("name", dry_run ? "would drain" : NULL, dev.name);
		print_string("path", path ? "file" : NULL, path);
		print_number("epoch", dry_run ? NULL : "commit", epoch);
		print_flag("drained", waits && !dry_run ? "on the origin" : NULL,
			   waits && !dry_run);
		if (!waits && !dry_run)
			print_string(NULL, "next step",
				     "--wait returns when it is on the origin");
		print_flag("dry_run", NULL, dry_run);
	}
	dm_device_free(&dev);
	return fail_code();
}

static int change_rate(const struct dm_device *dev, const char *value, bool dry_run)
{
	const char *why;
	uint64_t rate;

	why = stage_rate_parse(value, &rate);
	if (why)
		return fail(CODE_USAGE, "rate '%s': %s", value, why);
	if (!dry_run && stage_set(dev, "rate", rate))
		return fail_code();
	print_bytes("rate", rate ? "rate per second" : NULL, rate);
	if (!rate)
		print_string(NULL, "rate", "no limit");
	return 0;
}

static int change_limit(const struct dm_device *dev, const char *value, bool dry_run)
{
	struct stage_limit limit;
	const char *why = stage_limit_parse(value, &limit);

	if (why)
		return fail(CODE_USAGE, "max-behind '%s': %s", value, why);
	if (!dry_run && stage_set_limit(dev, &limit))
		return fail_code();
	print_bytes("max_behind_bytes", limit.bytes ? "writes wait beyond" : NULL, limit.bytes);
	print_seconds("max_behind_seconds", limit.seconds ? "writes wait beyond" : NULL,
		      limit.seconds);
	if (!limit.bytes && !limit.seconds)
		print_string(NULL, "writes wait beyond", "the size of the log");
	return 0;
}

static int change_on_full(const struct dm_device *dev, const char *value, bool dry_run)
{
	unsigned int on_full;

	if (!stage_on_full_parse(value, &on_full))
		return fail(CODE_USAGE, "on-full '%s': give " STAGE_ON_FULL_WORDS, value);
	if (!dry_run && stage_set_on_full(dev, on_full))
		return fail_code();
	print_string("on_full", "if the log is full", stage_on_full_word(on_full));
	return 0;
}

/* Remember a limit with the cache above the stage, if it is open. */
static void remember_limit(const char *name, const char *action, const char *value)
{
	char text[128], *word[] = { text };
	struct dm_device cache;
	const char *uuid;
	bool found;

	if (dm_find(name, &cache, &found)) {
		fail_reset();
		return;
	}
	uuid = found && cache.ours ? remembered_uuid(cache.uuid) : NULL;
	if (uuid && snprintf(text, sizeof(text), "%s=%s", action, value) < (int)sizeof(text))
		remembered_words(uuid, name, word, 1, false);
	dm_device_free(&cache);
}

static int change_stage(const struct arguments *args, const char *name,
			int (*change)(const struct dm_device *dev, const char *value, bool dry_run))
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	struct dm_device dev;

	if (args->operands < 3)
		return fail(CODE_USAGE, "'stage %s' needs NAME and a value: 'nearcache stage status %s' shows the present one",
			    args->operand[0], name);
	/* No other command may change the limit before it is remembered. */
	lock_name(name);
	if (need_stage(name, &dev))
		return fail_code();
	print_string("name", dry_run ? "would change" : NULL, dev.name);
	if (!change(&dev, args->operand[2], dry_run) && !dry_run)
		remember_limit(name, args->operand[0], args->operand[2]);
	print_flag("dry_run", NULL, dry_run);
	dm_device_free(&dev);
	return fail_code();
}

static int run_rate(const struct arguments *args, const char *name)
{
	return change_stage(args, name, change_rate);
}

static int run_max_behind(const struct arguments *args, const char *name)
{
	return change_stage(args, name, change_limit);
}

static int run_on_full(const struct arguments *args, const char *name)
{
	return change_stage(args, name, change_on_full);
}

static const struct stage_action {
	const char *name;
	int operands_max;
	int (*run)(const struct arguments *args, const char *name);
} actions[] = {
	{ "status", 2, run_status },
	{ "drain", 3, run_drain },
	{ "rate", 3, run_rate },
	{ "max-behind", 3, run_max_behind },
	{ "on-full", 3, run_on_full },
	{ NULL, 0, NULL },
};

static int cmd_stage(const struct arguments *args)
{
	const struct stage_action *action = actions;
	const char *name = args->operands > 1 ? name_of_operand(args->operand[1]) : NULL;

	while (action->name && strcmp(action->name, args->operand[0]))
		action++;
	if (!action->name)
		return fail(CODE_USAGE,
			    "'%s' is not an action of 'stage': give status, drain, rate, max-behind or on-full",
			    args->operand[0]);
	if (!name && action->run != run_status)
		return fail(CODE_USAGE, "'stage %s' needs NAME, the cache above the stage",
			    action->name);
	if (name && arguments_check_name(name))
		return fail_code();
	if (args->operands > action->operands_max)
		return fail(CODE_USAGE, "'stage %s' does not take '%s'", action->name,
			    args->operand[action->operands_max]);
	if (option_given(args, OPTION_WAIT_DRAINED) && action->run != run_drain)
		return fail(CODE_USAGE, "'stage %s' takes no --wait: it is for drain", action->name);
	return action->run(args, name);
}

const struct verb stage_verb = {
	.name = "stage",
	.group = VERBS_DEVICES,
	.operands = "status|drain|rate|max-behind|on-full [NAME] [PATH|LIMIT|WHAT]",
	.operands_min = 1,
	.operands_max = 3,
	.optional = OPTION_WAIT_DRAINED,
	.summary = "show and drain the log of a stage",
	.details =
"NAME is a cache that was created with --stage. Its writes go to a log on a local device,\n"
"and to the origin later, so that the origin is a valid image at every instant.\n"
"\n"
"  status [NAME]          show how much the origin lacks, which moment it shows, the rate\n"
"                         and the time until all is there; without NAME, of all stages\n"
"  drain NAME [PATH]      write back the file systems on NAME, in all mount namespaces, and\n"
"                         begin to write the log to the origin; with PATH, write back only\n"
"                         that file, or the file system of that folder\n"
"  rate NAME SIZE         write at most SIZE per second to the origin; 0: no limit\n"
"  max-behind NAME LIMIT  let writes wait while the origin lacks more than LIMIT, a size\n"
"                         (50G) or an age (10m: ten minutes); 0: the size of the log\n"
"  on-full NAME WHAT      while the log is full: let writes wait for room (wait), or empty\n"
"                         it and write to the origin until the writers pause (writethrough)\n"
"\n"
"drain --wait returns when all that was written before the call is on the origin, and\n"
"flushed there. That includes PATH: the log is drained in the order of the flushes, so\n"
"there is no shorter way for a file. ^C ends the command, not the drain.\n"
"\n"
"The limits are remembered for the next open of the cache, as its other settings are.\n",
	.run = cmd_stage,
};
