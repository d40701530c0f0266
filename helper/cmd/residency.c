// SPDX-License-Identifier: GPL-2.0-only
/* nearcache residency: show how much of a device, or of files on it, is cached. */
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "cmd/node_part.h"
#include <stdlib.h>

#include "lib/density_bar.h"
#include "block/dm.h"
#include "lib/error.h"
#include "lib/print.h"
#include "files/residency.h"
#include "files/operand.h"

static void print_density(const struct density *density)
{
	char bar[DENSITY_CELLS + 1];

	print_string(NULL, "residency", density_bar(density, bar));
	print_ratio("ratio", "ratio", density->present, density->bytes);
	print_bytes("cached_bytes", "cached", density->present);
	print_bytes("bytes", "of", density->bytes);
}

static int show_shards(const struct dm_device *dev,
		       const struct shards *shards)
{
	uint64_t cached = 0;
	size_t i;

	print_main_table("shards");
	for (i = 0; i < shards->count; i++) {
		const struct shard *shard = &shards->shard[i];
		uint64_t cell[DENSITY_CELLS] = { 0 };
		struct density density = { .cell = cell, .cells = DENSITY_CELLS };

		if (residency_of(dev->number, shard, &density))
			break;
		cached += density.present;
		print_record(NULL, NULL);
		print_density(&density);
		print_number("ranges", NULL, shard->ranges);
		print_string("name", "shard", shard->name);
		print_end();
	}
	print_end();
	print_number("shard_count", NULL, shards->count);
	print_bytes("cached_bytes", NULL, cached);
	print_bytes("bytes", NULL, shards_bytes(shards));
	omitted_print(&shards->omitted);
	return fail_code();
}

static int show_device(const struct dm_device *dev, const struct shard *all)
{
	uint64_t cell[DENSITY_CELLS] = { 0 };
	struct density density = { .cell = cell, .cells = DENSITY_CELLS };

	if (residency_of(dev->number, all, &density))
		return fail_code();
	print_density(&density);
	return 0;
}

/* Show @bytes, by home. Only a peer knows how much of its part is cached. */
static void show_nodes(const struct homes *homes, const uint64_t *bytes)
{
	size_t i;

	print_table("nodes");
	for (i = 0; i < homes->table.nodes; i++) {
		print_record(NULL, NULL);
		print_string("node", "node", homes->table.node[i].name);
		print_bytes("bytes", "have their home there", bytes[i]);
		print_flag("here", NULL, i == homes->self);
		print_string(NULL, "cached there", i == homes->self ? "see above" :
			     "not known on this node");
		print_end();
	}
	print_end();
}

static uint64_t *count_by_node(const struct homes *homes, const struct shards *shards)
{
	uint64_t *bytes = calloc(homes->table.nodes + 1, sizeof(*bytes));
	size_t i;

	if (!bytes)
		fail_memory();
	for (i = 0; bytes && i < shards->count && homes_divide(homes); i++)
		homes_add_bytes(homes, shards->shard[i].range, shards->shard[i].ranges, bytes);
	return bytes;
}

/* Without TARGETs, one shard: the whole device. */
static int find_shards(const struct arguments *args, const struct dm_device *dev,
		       const struct homes *homes, struct shards *shards)
{
	struct shard *shard;

	if (target_given(args))
		return homes_resolve(TARGET_SHOW, args, dev, homes, shards);
	shards->size = dev->size;
	shard = shards_add(shards, dev->name);
	return shard ? shard_add_range(shard, 0, dev->size) : (int)fail_code();
}

/* Of a cluster device, show the part that has its home here. */
static int show_residency(const struct arguments *args, const struct dm_device *dev,
			  const struct homes *homes)
{
	struct shards shards = { 0 };
	struct homes_part part;
	uint64_t *bytes = NULL;

	if (dm_need_table(dev))
		return fail_code();
	if (find_shards(args, dev, homes, &shards))
		goto out;
	bytes = count_by_node(homes, &shards);
	if (!bytes || homes_keep(homes, &shards, &part))
		goto out;
	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	node_part_print(homes, &part);
	if (target_given(args)) {
		show_shards(dev, &shards);
		/* A table alone has no room for it. */
		if (option_given(args, OPTIONS_TABLE))
			omitted_warn(&shards.omitted);
	} else {
		show_device(dev, &shards.shard[0]);
	}
	if (homes_divide(homes))
		show_nodes(homes, bytes);
	print_end();
out:
	free(bytes);
	shards_free(&shards);
	return fail_code();
}

static int cmd_residency(const struct arguments *args)
{
	if (!target_given(args) && arguments_no_table(args, "TARGETs"))
		return fail_code();
	return node_part_show(args, show_residency);
}

static const struct verb_column columns[] = {
	{ .name = "residency", .help = "bar: # all, + some, . none" },
	{ .name = "ratio", .help = "cached part" },
	{ .name = "cached", .help = "cached bytes" },
	{ .name = "of", .help = "all bytes" },
	{ .name = "shard", .help = "TARGET" },
	{ .name = "ranges", .help = "number of pieces on the device", .chosen = true },
	{ 0 },
};

const struct verb residency_verb = {
	.name = "residency",
	.group = VERBS_DATA,
	.operands = "NAME [TARGET...]",
	.operands_min = 1,
	.operands_max = -1,
	.optional = TARGET_OPTIONS | OPTIONS_TABLE,
	.summary = "show how much of a device, or of files on it, is cached",
	.details =
"residency prints a bar for each TARGET, or one for the whole device: # where all data is\n"
"cached, + where some is, . where none is.\n"
"\n"
"NAME of a cluster device: the part that has its home on this node, and for each node the\n"
"bytes that have their home there. Only a node itself knows which of them it has cached.\n"
"\n" TARGET_HELP,
	.columns = columns,
	.run = cmd_residency,
};
