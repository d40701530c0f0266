// SPDX-License-Identifier: GPL-2.0-only
/* nearcache latency: latencies of reads and writes by path. */
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "block/device.h"
#include "bpf/builtin_programs.h"
#include "cmd/commands.h"
#include "lib/cgroup_path.h"
#include "lib/error.h"
#include "lib/histogram.h"
#include "latency.h"
#include "bpf/load_unload_verb.h"
#include "lib/enum_words.h"
#include "lib/print.h"

struct row {
	struct latency_key key;
	struct latency sum;
};

struct rows {
	struct row *row;
	size_t count;
};

static void show_latency(const struct row *row)
{
	dev_t number = makedev(row->key.dev >> 20, row->key.dev & 0xfffff);
	const struct latency *latency = &row->sum;
	char name[128], group[PATH_MAX];

	print_record(NULL, NULL);
	print_string("device", "device", device_dm_name(number, name));
	print_string("path", "path", path_word(row->key.path));
	print_number("count", "count", latency->count);
	print_nanoseconds("mean_ns", "mean", latency->sum / latency->count);
	print_nanoseconds("p50_ns", "p50", histogram_percentile(latency, 5000));
	print_nanoseconds("p90_ns", "p90", histogram_percentile(latency, 9000));
	print_nanoseconds("p99_ns", "p99", histogram_percentile(latency, 9900));
	print_nanoseconds("p999_ns", "p99.9", histogram_percentile(latency, 9990));
	print_number("major", NULL, major(number));
	print_number("minor", NULL, minor(number));
	print_number("cgroup", NULL, row->key.cgroup);
	print_string("cgroup_path", "cgroup", cgroup_path(row->key.cgroup, group));
	print_end();
}

/* Adds an entry of the map that counted anything: @value has one histogram per possible CPU. */
static int add_row(const void *key, const void *value, void *arg)
{
	struct rows *rows = arg;
	struct row row = { .key = *(const struct latency_key *)key }, *longer;

	histogram_add(&row.sum, value, libbpf_num_possible_cpus());
	if (!row.sum.count)
		return 0;
	longer = reallocarray(rows->row, rows->count + 1, sizeof(*longer));
	if (!longer)
		return fail_memory();
	rows->row = longer;
	longer[rows->count++] = row;
	return 0;
}

static int by_device(const void *a, const void *b)
{
	const struct latency_key *x = &((const struct row *)a)->key;
	const struct latency_key *y = &((const struct row *)b)->key;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->cgroup != y->cgroup)
		return x->cgroup < y->cgroup ? -1 : 1;
	return (x->path > y->path) - (x->path < y->path);
}

static int show_maps(const struct program_place *place, const struct arguments *args)
{
	struct rows rows = { 0 };
	size_t i;

	(void)args;
	print_main_table("latencies");
	program_each(place, "latencies", sizeof(struct latency_key), sizeof(struct latency),
		     add_row, &rows);
	if (rows.count)
		qsort(rows.row, rows.count, sizeof(*rows.row), by_device);
	for (i = 0; i < rows.count; i++)
		/* The map may list an entry twice if another one was evicted meanwhile. */
		if (!i || by_device(&rows.row[i - 1], &rows.row[i]))
			show_latency(&rows.row[i]);
	print_end();
	free(rows.row);
	return fail_code();
}

static int cmd_latency(const struct arguments *args)
{
	static const struct loading latency = {
		.place = &built_in_latency,
		.show = show_maps,
	};

	return loading_run(&latency, args);
}

static const struct verb_column columns[] = {
	{ .name = "device", .help = "name" },
	{ .name = "path", .help = "hit, miss, join, origin, write" },
	{ .name = "count", .help = "measured requests" },
	{ .name = "mean", .help = "mean latency" },
	{ .name = "p50", .help = "upper bound of 50 % of the requests" },
	{ .name = "p90", .help = "of 90 %" },
	{ .name = "p99", .help = "of 99 %" },
	{ .name = "p99.9", .help = "of 99.9 %" },
	{ .name = "cgroup", .help = "control group of the processes" },
	{ .name = "major", .help = "of the device number", .chosen = true },
	{ .name = "minor", .help = "of the device number", .chosen = true },
	{ 0 },
};

const struct verb latency_verb = {
	.name = "latency",
	.group = VERBS_OBSERVE,
	.operands = "load|unload|show",
	.operands_min = 1,
	.operands_max = 1,
	.optional = OPTIONS_TABLE,
	.summary = "measure how long reads and writes take",
	.details =
"load starts a BPF program that measures all caches until unload. show prints for each\n"
"control group and path the number of requests, their mean, and upper bounds of 50, 90,\n"
"99 and 99.9 % of them (to a quarter of an octave). Paths: hit (from the cache\n"
"device; one of 16 is measured), miss (from the origin into the cache), join (waits for a\n"
"fill in flight), origin (not into the cache) and write.\n",
	.columns = columns,
	.run = cmd_latency,
};
