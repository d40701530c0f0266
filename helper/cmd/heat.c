// SPDX-License-Identifier: GPL-2.0-only
/* nearcache heat: reads and hits by region of the devices. */
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "block/device.h"
#include "bpf/builtin_programs.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "heat.h"
#include "bpf/load_unload_verb.h"
#include "lib/print.h"

struct region {
	struct heat_key key;
	struct heat heat;
};

struct regions {
	size_t count;
	struct region region[HEAT_REGIONS];
};

static int by_place(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	if (x->key.dev != y->key.dev)
		return x->key.dev < y->key.dev ? -1 : 1;
	return (x->key.region > y->key.region) - (x->key.region < y->key.region);
}

static int add_region(const void *key, const void *heat, void *arg)
{
	struct regions *regions = arg;

	if (regions->count == HEAT_REGIONS)
		return 1;
	if (!((const struct heat *)heat)->reads)
		return 0;
	regions->region[regions->count].key = *(const struct heat_key *)key;
	regions->region[regions->count++].heat = *(const struct heat *)heat;
	return 0;
}

static void show_region(const struct region *region)
{
	dev_t number = makedev(region->key.dev >> 20, region->key.dev & 0xfffff);
	const struct heat *heat = &region->heat;
	char name[128];

	print_record(NULL, NULL);
	print_string("device", "device", device_dm_name(number, name));
	print_number("major", NULL, major(number));
	print_number("minor", NULL, minor(number));
	print_position("start", "start", (uint64_t)region->key.region << (HEAT_REGION_SHIFT + 9));
	print_bytes("length", NULL, 1ULL << (HEAT_REGION_SHIFT + 9));
	print_number("reads", "reads", heat->reads);
	print_bytes("bytes", "bytes", heat->bytes);
	print_ratio("hit_ratio", "hits", heat->hit_bytes, heat->bytes);
	print_bytes("hit_bytes", NULL, heat->hit_bytes);
	print_end();
}

static void show_regions(struct regions *regions)
{
	struct region *region = regions->region;
	size_t i;

	qsort(region, regions->count, sizeof(*region), by_place);
	for (i = 0; i < regions->count; i++)
		/* The map may return a region twice if another one was evicted meanwhile. */
		if (!i || by_place(&region[i - 1], &region[i]))
			show_region(&region[i]);
}

static int show_heat(const struct program_place *place, const struct arguments *args)
{
	struct regions *regions = calloc(1, sizeof(*regions));

	(void)args;
	if (!regions)
		return fail_memory();
	print_main_table("regions");
	if (!program_each(place, "heats", sizeof(struct heat_key),
			  sizeof(struct heat), add_region, regions))
		show_regions(regions);
	print_end();
	free(regions);
	return fail_code();
}

static int cmd_heat(const struct arguments *args)
{
	static const struct loading heat = {
		.place = &built_in_heat,
		.show = show_heat,
	};

	return loading_run(&heat, args);
}

static const struct verb_column columns[] = {
	{ .name = "device", .help = "name" },
	{ .name = "start", .help = "first byte of the region of 16 MiB" },
	{ .name = "reads", .help = "number of reads" },
	{ .name = "bytes", .help = "bytes read" },
	{ .name = "hits", .help = "part of the bytes that was a hit (estimate)" },
	{ .name = "major", .help = "of the device number", .chosen = true },
	{ .name = "minor", .help = "of the device number", .chosen = true },
	{ .name = "length", .help = "size of the region", .chosen = true },
	{ .name = "hit_bytes", .help = "bytes that were a hit (estimate)", .chosen = true },
	{ 0 },
};

const struct verb heat_verb = {
	.name = "heat",
	.group = VERBS_OBSERVE,
	.operands = "load|unload|show",
	.operands_min = 1,
	.operands_max = 1,
	.optional = OPTIONS_TABLE,
	.summary = "count reads by region",
	.details =
"load starts a BPF program that counts the reads of all caches until unload. show lists\n"
"the regions of 16 MiB that were read: number of reads, bytes, and an estimate of the\n"
"cached share from samples. At most 65,536 regions are kept.\n",
	.columns = columns,
	.run = cmd_heat,
};
