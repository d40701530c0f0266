// SPDX-License-Identifier: GPL-2.0-only
/* nearcache plan: declare the order in which files will be read. */
#include <stdlib.h>

#include "files/node_share.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "lib/name.h"
#include "files/read_plan.h"
#include "ondisk/print_superblock.h"
#include "lib/print.h"
#include "files/operand.h"

static int check_words(const struct arguments *args)
{
	bool plans = target_given(args);

	if (option_given(args, OPTION_CLEAR) &&
	    (plans || option_given(args, OPTION_EPOCHS | NODE_SHARE_OPTIONS)))
		return fail(CODE_USAGE, "--clear takes no TARGETs and no options of a plan");
	if (!plans && option_given(args, OPTION_EPOCHS | NODE_SHARE_OPTIONS))
		return fail(CODE_USAGE, "no TARGETs given: options of the order need TARGETs");
	return node_share_check_words(args) ?: target_check_words(args, false);
}

/* Append the reads of all epochs to the plan. Each epoch has its own order. */
static int add_epochs(const struct arguments *args, const struct shards *shards,
		      struct plan *plan)
{
	size_t *order = calloc(shards->count + 1, sizeof(*order)), count, i;
	unsigned int epoch, epochs = args->epochs ? args->epochs : 1;
	uint32_t checksum;

	if (!order)
		return fail_memory();
	for (epoch = 0; epoch < epochs && !fail_code(); epoch++) {
		count = node_share_select(args, args->epoch + epoch, shards, order, &checksum);
		for (i = 0; i < count && !fail_code(); i++)
			plan_add(plan, shards->shard[order[i]].range,
				 shards->shard[order[i]].ranges);
	}
	free(order);
	return fail_code();
}

/* @shards: the TARGETs of @plan, which is NULL if only the progress is shown. */
static void report_plan(const struct dm_device *dev, const struct plan *plan,
			const struct shards *shards, const struct nl_plan *now, bool dry_run)
{
	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	if (plan) {
		print_bytes("bytes", "bytes planned", plan->bytes);
		print_number("planned_ranges", NULL, plan->count);
		omitted_print(&shards->omitted);
		print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	}
	if (!dry_run)
		plan_print(now);
	print_end();
}

static int make_plan(const struct arguments *args, const struct dm_device *dev,
		     const struct shards *shards)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	struct nl_plan now = { 0 };
	struct plan plan = { 0 };

	if (!add_epochs(args, shards, &plan) &&
	    (dry_run || (!describe_need_cache(dev) && !plan_submit(&plan, dev, &now))))
		report_plan(dev, &plan, shards, &now, dry_run);
	plan_free(&plan);
	return fail_code();
}

static int make_of_targets(const struct arguments *args, const struct dm_device *dev)
{
	struct shards shards = { 0 };

	if (dm_need_table(dev))
		return fail_code();
	if (!target_resolve(args, dev, &shards))
		make_plan(args, dev, &shards);
	shards_free(&shards);
	return fail_code();
}

static int show_plan(const struct dm_device *dev)
{
	struct nl_plan now;

	if (!nl_plan_get(dev->number, &now))
		report_plan(dev, NULL, NULL, &now, false);
	return fail_code();
}

static int clear_plan(const struct arguments *args, const struct dm_device *dev)
{
	bool dry_run = option_given(args, OPTION_DRY_RUN);
	uint64_t count = 0;

	if (!dry_run && nl_plan_clear(dev->number, &count))
		return fail_code();
	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	print_number("cleared", dry_run ? NULL : "cleared plans", count);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	print_end();
	return 0;
}

int cmd_plan(const struct arguments *args)
{
	struct dm_device dev;

	if (check_words(args) || dm_need_ours(name_of_operand(args->operand[0]), &dev))
		return fail_code();
	if (option_given(args, OPTION_CLEAR))
		clear_plan(args, &dev);
	else if (target_given(args))
		make_of_targets(args, &dev);
	else
		show_plan(&dev);
	dm_device_free(&dev);
	return fail_code();
}
