// SPDX-License-Identifier: GPL-2.0-only
/* nearcache residency: show how much of a device, or of files on it, is cached. */
#include "cmd/commands.h"
#include "lib/density_bar.h"
#include "block/dm.h"
#include "lib/error.h"
#include "lib/name.h"
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

	print_table("shards");
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

static int show_device(const struct dm_device *dev)
{
	struct range range = { 0, dev->size };
	struct shard all = { .range = &range, .ranges = 1, .bytes = dev->size };
	uint64_t cell[DENSITY_CELLS] = { 0 };
	struct density density = { .cell = cell, .cells = DENSITY_CELLS };

	if (residency_of(dev->number, &all, &density))
		return fail_code();
	print_density(&density);
	return 0;
}

static int show_residency(const struct arguments *args, const struct dm_device *dev)
{
	struct shards shards = { 0 };

	if (dm_need_table(dev))
		return fail_code();
	if (target_given(args) && target_resolve_for(TARGET_SHOW, args, dev, &shards))
		goto out;
	print_record(NULL, dev->name);
	print_string("name", NULL, dev->name);
	if (target_given(args))
		show_shards(dev, &shards);
	else
		show_device(dev);
	print_end();
out:
	shards_free(&shards);
	return fail_code();
}

int cmd_residency(const struct arguments *args)
{
	struct dm_device dev;
	int error = target_check_words(args, false);

	if (!error)
		error = dm_need_ours(name_of_operand(args->operand[0]), &dev);
	if (error)
		return error;
	error = show_residency(args, &dev);
	dm_device_free(&dev);
	return error;
}
