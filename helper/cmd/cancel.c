// SPDX-License-Identifier: GPL-2.0-only
/* nearcache cancel: cancel prefetch jobs. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "cluster/homes.h"
#include "cmd/commands.h"
#include "block/dm.h"
#include "lib/error.h"
#include "netlink/client.h"
#include "lib/print.h"

static int parse_id(const char *word, uint32_t *id)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(word, &end, 10);
	if (!isdigit((unsigned char)*word) || *end || errno || !number ||
	    number > UINT32_MAX)
		return fail(CODE_USAGE,
			    "'%s' is not the number of a job: 'nearcache jobs NAME' lists them",
			    word);
	*id = (uint32_t)number;
	return 0;
}

static int check_words(const struct arguments *args)
{
	bool all = option_given(args, OPTION_EVERYTHING);
	uint32_t id;
	int i;

	if (all && args->operands > 1)
		return fail(CODE_USAGE, "--all takes no job numbers");
	if (!all && args->operands == 1)
		return fail(CODE_USAGE,
			    "no job given: give job numbers ('nearcache jobs %s' lists them), or --all",
			    args->operand[0]);
	for (i = 1; i < args->operands; i++)
		if (parse_id(args->operand[i], &id))
			return fail_code();
	return 0;
}

/* Cancel all named jobs, even if one of them fails.  Returns how many were running. */
static uint64_t cancel_named(const struct dm_device *dev,
			     const struct arguments *args)
{
	uint64_t count, cancelled = 0;
	uint32_t id;
	int i;

	for (i = 1; i < args->operands; i++) {
		parse_id(args->operand[i], &id);
		nl_job_cancel(dev->number, id, &count);
		cancelled += count;
	}
	return cancelled;
}

static int cmd_cancel(const struct arguments *args)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	uint64_t cancelled = 0;
	struct dm_device dev;
	int error = check_words(args);

	if (!error)
		error = homes_find_cache(args->operand[0], &dev);
	if (error)
		return error;
	if (!dry_run && option_given(args, OPTION_EVERYTHING))
		nl_job_cancel(dev.number, 0, &cancelled);
	else if (!dry_run)
		cancelled = cancel_named(&dev, args);
	print_record(NULL, dev.name);
	print_string("name", NULL, dev.name);
	print_number("cancelled", dry_run ? NULL : "cancelled jobs", cancelled);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
	dm_device_free(&dev);
	return fail_code();
}

const struct verb cancel_verb = {
	.name = "cancel",
	.group = VERBS_DATA,
	.operands = "NAME [JOB...]",
	.operands_min = 1,
	.operands_max = -1,
	.optional = OPTION_EVERYTHING,
	.summary = "cancel prefetch jobs",
	.details =
"JOB is a number that 'nearcache jobs' lists. Requests in flight complete, and loaded\n"
"data stays.\n",
	.run = cmd_cancel,
};
