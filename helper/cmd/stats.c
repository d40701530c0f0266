// SPDX-License-Identifier: GPL-2.0-only
/* nearcache stats: show each value of the status line, or its growth. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/homes.h"
#include "cmd/commands.h"
#include "cmd/device_samples.h"
#include "cmd/node_part.h"
#include "ondisk/print_superblock.h"
#include "block/dm_unprivileged.h"
#include "lib/error.h"
#include "netlink/device_state.h"
#include "lib/print.h"
#include "lib/periodic_wait.h"

#define SECOND		1000000000ULL
#define MILLISECOND	1000000ULL
/* Default time from one sample to the next, milliseconds. */
#define INTERVAL	1000U

static int describe_stats(const struct dm_device *dev, const struct status *status)
{
	unsigned int i;

	print_string("name", NULL, dev->name);
	node_part_print_cluster(dev);
	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++) {
		const struct status_row *row = &status_field_row[i];
		const char *word = status_word(i, status->field[i]);

		if (word)
			print_word(row->name, word, row->help);
		else
			print_quantity(row->name, status->field[i], row->unit,
				       row->help);
	}
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		print_quantity(status_counter_row[i].name, status->counter[i],
			       status_counter_row[i].unit,
			       status_counter_row[i].help);
	return 0;
}

/* Prints all values and the growth of the counters, in JSON only. */
static void print_numbers(const struct device_sample *sample,
			  const struct status *delta)
{
	const struct status *status = &sample->status;
	unsigned int i;

	for (i = 0; i < NEARCACHE_STATUS_FIELD_COUNT; i++) {
		const char *word = status_word(i, status->field[i]);

		if (word)
			print_string(status_field_row[i].name, NULL, word);
		else
			print_number(status_field_row[i].name, NULL,
				     status->field[i]);
	}
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		print_number(status_counter_row[i].name, NULL,
			     status->counter[i]);
	print_record("delta", NULL);
	for (i = 0; i < NEARCACHE_COUNTER_COUNT; i++)
		print_number(status_counter_row[i].name, NULL,
			     delta->counter[i]);
	print_end();
}

static void print_sample(const struct device_sample *old, const struct device_sample *new)
{
	uint64_t span = new->time > old->time ? new->time - old->time : 1;
	struct status delta = { 0 };
	const uint64_t *c = delta.counter;

	counters_subtract(&old->status, &new->status, &delta);
	print_record(NULL, NULL);
	print_string("name", "device", new->name);
	print_number("span_ns", NULL, span);
	print_bytes(NULL, "read/s",
		    per_second(status_read_bytes(&delta), span));
	print_ratio("hit_ratio", "hits", c[NEARCACHE_COUNTER_HIT_BYTES],
		    status_read_bytes(&delta));
	print_number(NULL, "hits/s",
		     per_second(c[NEARCACHE_COUNTER_HITS], span));
	print_number(NULL, "misses/s",
		     per_second(c[NEARCACHE_COUNTER_MISSES], span));
	print_bytes(NULL, "filled/s",
		    per_second(c[NEARCACHE_COUNTER_FILL_ORIGIN_BYTES], span));
	print_bytes(NULL, "bypassed/s",
		    per_second(c[NEARCACHE_COUNTER_BYPASS_BYTES], span));
	print_bytes(NULL, "written/s",
		    per_second(c[NEARCACHE_COUNTER_WRITE_BYTES], span));
	print_numbers(new, &delta);
	print_end();
}

/* Leaves out a device that was opened after the earlier sample @old. */
static void show_samples(const struct device_samples *old, const struct device_samples *new)
{
	struct timespec now;
	size_t i;

	clock_gettime(CLOCK_REALTIME, &now);
	print_number("time_ns", NULL,
		     (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec);
	print_main_table("devices");
	for (i = 0; i < new->count; i++) {
		const struct device_sample *before = device_samples_find(old, new->sample[i].name);

		if (before)
			print_sample(before, &new->sample[i]);
	}
	print_end();
}

static int watch_stats(const struct arguments *args)
{
	struct device_samples old, new;
	struct watch pace;
	unsigned int i;

	device_samples_take(args, &old);
	watch_start(&pace, (args->interval ? args->interval : INTERVAL) * MILLISECOND);
	for (i = 0; !fail_code() && (!args->count || i < args->count); i++) {
		watch_wait(&pace);
		if (!device_samples_take(args, &new)) {
			show_samples(&old, &new);
			print_next();
		}
		device_samples_free(&old);
		old = new;
	}
	device_samples_free(&old);
	return fail_code();
}

static int cmd_stats(const struct arguments *args)
{
	dm_read_unprivileged(nl_device_state);
	if (option_given(args, OPTION_WATCH))
		print_lines();
	if (homes_rename_operands(args->operand, args->operands))
		return fail_code();
	if (option_given(args, OPTION_WATCH))
		return watch_stats(args);
	if (arguments_no_table(args, "--watch"))
		return fail_code();
	if (option_given(args, OPTION_INTERVAL | OPTION_COUNT))
		return fail(CODE_USAGE, "--interval and --count go with --watch");
	return describe_devices(args->operand, args->operands, describe_stats);
}

static const struct verb_column columns[] = {
	{ .name = "device", .help = "name" },
	{ .name = "read/s", .help = "bytes read per second" },
	{ .name = "hits", .help = "part of these bytes that was a hit" },
	{ .name = "hits/s", .help = "reads that were a hit" },
	{ .name = "misses/s", .help = "reads that were filled from the origin" },
	{ .name = "filled/s", .help = "bytes that fills read from the origin" },
	{ .name = "bypassed/s", .help = "bytes read from the origin and not cached" },
	{ .name = "written/s", .help = "bytes written" },
	{ .name = "span_ns", .help = "time between the samples", .chosen = true },
	{ 0 },
};

const struct verb stats_verb = {
	.name = "stats",
	.group = VERBS_OBSERVE,
	.operands = "[NAME...]",
	.operands_max = -1,
	.optional = OPTION_WATCH | OPTION_INTERVAL | OPTION_COUNT | OPTIONS_TABLE,
	.summary = "show every counter with its unit and meaning",
	.details =
"Without NAME, all devices are shown. In JSON, one NAME gives the values at the top\n"
"level; none or several give an array \"devices\".\n"
"\n"
"--watch repeats: text has rates; JSON has one object per line, whose \"devices\" have the\n"
"counters and under \"delta\" their growth within \"span_ns\".\n",
	.columns = columns,
	.run = cmd_stats,
};
