// SPDX-License-Identifier: GPL-2.0-only
/* nearcache plan: declare the order in which files will be read. */
#include <stdlib.h>

#include "files/node_share.h"
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "cmd/shared_help.h"
#include "cmd/node_part.h"
#include "lib/error.h"
#include "files/read_plan.h"
#include "ondisk/print_superblock.h"
#include "lib/print.h"
#include "files/operand.h"

/* Options that describe the list of --from. */
#define LIST_OPTIONS	(OPTION_ROOT | OPTION_SAMPLE_SIZE | OPTION_HEADER)

/* Options that need TARGETs. */
#define PLAN_OPTIONS	(OPTION_EPOCHS | OPTION_APPEND | OPTION_NO_PREFETCH | NODE_SHARE_OPTIONS)

static int check_list_words(const struct arguments *args)
{
	if (option_given(args, LIST_OPTIONS) && !option_given(args, OPTION_FROM))
		return fail(CODE_USAGE,
			    "--root, --sample-size and --header go with --from, a list of reads");
	/* An empty word probably comes from an unset shell variable. */
	if (option_given(args, OPTION_ROOT) && !*args->root)
		return fail(CODE_USAGE, "--root '': it is empty; give a folder, like /data");
	if (option_given(args, OPTION_HEADER) && !option_given(args, OPTION_SAMPLE_SIZE))
		return fail(CODE_USAGE, "--header goes with --sample-size");
	if (option_given(args, OPTION_SAMPLE_SIZE) &&
	    option_given(args, OPTION_SHARD_FORMAT | OPTION_CONCATENATED))
		return fail(CODE_USAGE,
			    "--sample-size conflicts with --format and --concatenated: samples of fixed size need no format");
	return 0;
}

static int check_words(const struct arguments *args)
{
	bool plans = target_given(args), listed = option_given(args, OPTION_FROM);
	struct arguments words = *args;

	if (option_given(args, OPTION_CLEAR) &&
	    (plans || option_given(args, PLAN_OPTIONS)))
		return fail(CODE_USAGE, "--clear takes no TARGETs and no options of a plan");
	if (!plans && option_given(args, PLAN_OPTIONS))
		return fail(CODE_USAGE, "no TARGETs given: options of the order need TARGETs");
	if (check_list_words(args))
		return fail_code();
	/* With --from, --format and --concatenated are valid without --samples: the list may have
	 * sample numbers.
	 */
	if (listed)
		words.given &= ~(OPTION_SHARD_FORMAT | OPTION_CONCATENATED);
	return node_share_check_words(args) ?: target_check_words(&words, false);
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

/*
 * @shards: the TARGETs of a plan, mapped to the device; of a cluster device, the part of this node:
 * its cache gets no other reads, except those of peers
 * @part: their bytes
 */
struct planning {
	const struct arguments *args;
	struct dm_device dev;
	struct homes homes;
	struct shards shards;
	struct homes_part part;
};

/* @plan: NULL: only the progress is shown. */
static void report_plan(const struct planning *p, const struct plan *plan,
			const struct nl_plan *now)
{
	bool dry_run = plan && option_given(p->args, OPTION_DRY_RUN);
	const struct dm_device *dev = &p->dev;

	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	if (plan) {
		print_bytes("bytes", "bytes planned", plan->bytes);
		print_number("planned_ranges", NULL, plan->count);
		node_part_print(&p->homes, &p->part);
		omitted_print(&p->shards.omitted);
		print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	}
	if (!dry_run)
		plan_print(now);
	node_part_print_commands(p->args, &p->homes);
	print_end();
}

static unsigned int submit_flags(const struct arguments *args)
{
	return (option_given(args, OPTION_APPEND) ? NL_PLAN_APPEND : 0) |
	       (option_given(args, OPTION_NO_PREFETCH) ? NL_PLAN_NO_PREFETCH : 0);
}

static int make_plan(const struct planning *p)
{
	bool dry_run = option_given(p->args, OPTION_DRY_RUN);
	struct nl_plan now = { 0 };
	struct plan plan = { 0 };

	if (!add_epochs(p->args, &p->shards, &plan) &&
	    (dry_run || (!describe_need_cache(&p->dev) &&
			 !plan_submit(&plan, &p->dev, submit_flags(p->args), &now))))
		report_plan(p, &plan, &now);
	plan_free(&plan);
	return fail_code();
}

static int make_of_targets(struct planning *p)
{
	if (dm_need_table(&p->dev))
		return fail_code();
	if (!homes_resolve(TARGET_READ, p->args, &p->dev, &p->homes, &p->shards) &&
	    !homes_keep(&p->homes, &p->shards, &p->part))
		make_plan(p);
	return fail_code();
}

static int show_plan(const struct planning *p)
{
	struct nl_plan now;

	if (!nl_plan_get(p->dev.number, &now))
		report_plan(p, NULL, &now);
	return fail_code();
}

static int clear_plan(const struct planning *p)
{
	bool dry_run = option_given(p->args, OPTION_DRY_RUN);
	const struct dm_device *dev = &p->dev;
	uint64_t count = 0;

	if (!dry_run && nl_plan_clear(dev->number, &count))
		return fail_code();
	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	print_number("cleared", dry_run ? NULL : "cleared plans", count);
	print_flag("dry_run", dry_run ? "dry run" : NULL, dry_run);
	node_part_print_commands(p->args, &p->homes);
	print_end();
	return 0;
}

static int cmd_plan(const struct arguments *args)
{
	struct planning p = { .args = args };

	if (check_words(args) || node_part_find(args, &p.dev, &p.homes))
		return fail_code();
	if (option_given(args, OPTION_CLEAR))
		clear_plan(&p);
	else if (target_given(args))
		make_of_targets(&p);
	else
		show_plan(&p);
	shards_free(&p.shards);
	homes_free(&p.homes);
	dm_device_free(&p.dev);
	return fail_code();
}

const struct verb plan_verb = {
	.name = "plan",
	.group = VERBS_DATA,
	.operands = "NAME [TARGET...]",
	.operands_min = 1,
	.operands_max = -1,
	.optional = OPTION_CLEAR | PLAN_OPTIONS | LIST_OPTIONS | OPTION_EVERYWHERE |
		    TARGET_OPTIONS,
	.summary = "declare the order in which files will be read, or show progress",
	.details =
"While a plan is active, eviction is optimal: the block that is read again last is\n"
"evicted first, and data that is read later than all cached data, or not at all, is not\n"
"cached. Readers may deviate from the plan by 128 visits of blocks, and in a long plan by\n"
"1/16 of it, 16,384 at most; after a larger jump the module searches for their position.\n"
"Data that is not part of the plan evicts nothing. A plan ends when all of it was read,\n"
"or when hardly any read is part of it.\n"
"\n"
"Give the TARGETs in the order in which they will be read; a TARGET may be given several\n"
"times. Each line of the --from list is a TARGET, or a file, a tab and the numbers of the\n"
"samples in the order in which they will be read, like 7,3,8-15. Samples of a shard have\n"
"the numbers that 'index' shows. With --sample-size, sample N begins at byte\n"
"HEADER + N * SIZE of the file. nearcache(7) shows how to make plans for the samplers of\n"
"PyTorch and for WebDataset.\n"
"\n"
"--epochs repeats the TARGETs. --rank, --world-size, --seed, --epoch and --split work as\n"
"in prefetch; with --seed each epoch has its own order, the first one that of --epoch. A\n"
"new plan replaces the plan in force, or continues it with --append. While a plan is in\n"
"force, the module brings missing data before it is read; --no-prefetch switches this off.\n"
"A plan has up to 4,194,304 visits of blocks (1 TiB in blocks of 256 KiB); each takes up\n"
"to 24 bytes of kernel memory, and a plan takes about 4 KiB more for each processor.\n"
"'nearcache trace plan' makes a plan from a trace.\n"
"\n"
"Without TARGETs, plan shows the progress of the plan, or where the last one ended:\n"
"visits that are over, visits that began with a hit and those that did not, visits that\n"
"no reader made (skipped), and reads outside the plan (astray).\n"
"\n" CLUSTER_HELP
"Reads of the other nodes arrive there too: plan the order of all nodes.\n"
"\n" TARGET_HELP,
	.run = cmd_plan,
};
