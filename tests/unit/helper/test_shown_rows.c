// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of heat, latency, classifier and ranges: no row without data, and each column that the help lists
 * has a value.
 */
#include <sys/sysmacros.h>

#include "block/dm.h"
#include "bpf/builtin_programs.h"
#include "capture.h"
#include "classify.h"
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "heat.h"
#include "latency.h"
#include "lib/cgroup_path.h"
#include "lib/print.h"
#include "lib/process.h"
#include "netlink/client.h"

#define MIB	(1ULL << 20)
#define DEV	(253U << 20 | 7)

const struct program_place built_in_classifier = { .word = "classifier" };
const struct program_place built_in_latency = { .word = "latency" };
const struct program_place built_in_heat = { .word = "heat" };

/* Fakes: a loaded program with one map, and what it counted. */
int program_look(const struct program_place *place, struct program *program, bool *found)
{
	(void)place;
	*program = (struct program){ .name = "p", .id = 3, .age = 5 };
	*found = true;
	return 0;
}

void program_maps(const struct program_place *place, void (*visit)(const char *name, void *arg), void *arg)
{
	(void)place;
	visit("mapname", arg);
}

const char *program_folder(const struct program_place *place)
{
	(void)place;
	return "/folder";
}

int program_load_own(const struct program_place *place, bool dry_run, struct program *loaded)
{
	(void)dry_run;
	bool found;

	return program_look(place, loaded, &found);
}

int program_load_file(const struct program_place *place, const char *path, bool dry_run,
		      struct program *loaded)
{
	(void)path;
	return program_load_own(place, dry_run, loaded);
}

int program_unload(const struct program_place *place, bool *found)
{
	(void)place;
	*found = true;
	return 0;
}

/* Each map has an element without data, and one with data. */
int program_each(const struct program_place *place, const char *name, size_t key, size_t value,
		 program_visit *visit, void *arg)
{
	(void)key;
	(void)value;
	if (place == &built_in_heat) {
		struct heat_key where = { DEV, 2 };
		struct heat heat = { 0 };

		assert_string_equal(name, "heats");
		visit(&where, &heat, arg);
		where.region = 3;
		heat = (struct heat){ .reads = 4, .hits = 3, .bytes = 8 * MIB, .hit_bytes = 6 * MIB };
		visit(&where, &heat, arg);
	} else if (place == &built_in_latency) {
		struct latency_key of = { .cgroup = 1, .dev = DEV, .path = PATH_JOIN };
		struct latency latency = { 0 };

		visit(&of, &latency, arg);
		of.path = PATH_MISS;
		latency = (struct latency){ .count = 10, .sum = 25000000 };
		latency.bucket[latency_bucket(2500000)] = 10;
		visit(&of, &latency, arg);
	} else {
		struct stream_key of = { .set = { .dev = DEV, .label = 7, .cgroup = 1 }, .pid = 41 };
		struct stream stream = { 0 };

		visit(&of, &stream, arg);
		of.pid = 42;
		stream.accesses = 100;
		stream.runs = 20;
		stream.bytes = 3 * MIB;
		visit(&of, &stream, arg);
		of.pid = 43;
		visit(&of, &stream, arg);
	}
	return 0;
}

int libbpf_num_possible_cpus(void)
{
	return 1;
}

const char *device_dm_name(dev_t number, char *name)
{
	assert_int_equal(number, makedev(253, 7));
	return strcpy(name, "nc");
}

const char *cgroup_path(uint64_t id, char path[PATH_MAX])
{
	(void)id;
	return strcpy(path, "/train");
}

bool process_ended(uint32_t pid)
{
	return pid == 43;
}

const char *process_command(uint32_t pid, char *text, size_t size)
{
	(void)pid;
	snprintf(text, size, "python3");
	return text;
}

int homes_find_cache(const char *operand, struct dm_device *dev)
{
	*dev = (struct dm_device){ .number = makedev(253, 7) };
	snprintf(dev->name, sizeof(dev->name), "%s", operand);
	return 0;
}

void dm_device_free(struct dm_device *dev)
{
	(void)dev;
}

int nl_range_room(dev_t number, struct nl_room *room)
{
	(void)number;
	*room = (struct nl_room){ .count = 1 };
	return 0;
}

int nl_range_each(dev_t number, void (*visit)(const struct nl_range *range, void *arg), void *arg)
{
	struct nl_range range = { .range = { MIB, 2 * MIB }, .label = "train", .flags = NEARCACHE_RANGE_PIN,
				  .priority = 3, .expires = 60 };

	(void)number;
	visit(&range, arg);
	return 0;
}

int nl_label_each(dev_t number, void (*visit)(const struct nl_label *label, void *arg), void *arg)
{
	struct nl_label label = { .name = "train", .id = 4, .ranges = 1, .bytes = 2 * MIB };

	(void)number;
	label.counter[NEARCACHE_LABEL_HIT_BYTES] = MIB;
	visit(&label, arg);
	label = (struct nl_label){ .name = "val", .id = 5, .ranges = 2, .bytes = 3 * MIB };
	visit(&label, arg);
	return 0;
}

static const char *run(const struct verb *verb, const char *operand, option_set given,
		       const struct column_choice *choice)
{
	char *words[] = { (char *)operand, NULL };
	const struct arguments args = { .given = given, .operand = words, .operands = 1 };

	fail_reset();
	capture();
	print_start(false);
	print_choose(choice);
	assert_int_equal(verb->run(&args), 0);
	print_finish();
	print_choose(&(struct column_choice){ 0 });
	return captured();
}

/* The rows of the table, each with all of its default columns. */
static void rows_are(const struct verb *verb, const char *operand, option_set given, const char *rows)
{
	const struct column_choice raw = { .active = true, .raw = true, .no_headings = true };

	assert_string_equal(run(verb, operand, given, &raw), rows);
}

static void no_empty_rows(void **state)
{
	(void)state;
	rows_are(&heat_verb, "show", 0, "nc 50331648 4 8388608 0.75\n");
	rows_are(&latency_verb, "show", 0,
		 "nc miss 10 2500000 2621440 2621440 2621440 2621440 /train\n");
	rows_are(&classifier_verb, "show", 0, "42 read unknown 100 20 3145728 0 nc label\\x207 /train python3\n");
	rows_are(&classifier_verb, "show", OPTION_ENDED,
		 "42 read unknown 100 20 3145728 0 nc label\\x207 /train python3\n"
		 "43 read unknown 100 20 3145728 0 nc label\\x207 /train python3\n");
	rows_are(&ranges_verb, "nc", 0, "1048576 2097152 pin 3 60 train\n");
	/* The kernel drops a label with its last range. */
	rows_are(&ranges_verb, "nc", OPTION_LABELS,
		 "1 2097152 1 1048576 0 0 0 0 train\n"
		 "2 3145728 - 0 0 0 0 0 val\n");
}

/* Fails if a column of the help does not exist: each has a heading and, in some row, a value. */
static void columns_exist(const struct verb *verb, const char *operand, option_set given)
{
	const struct verb_column *column;
	unsigned int by_default = 0;
	const char *output;

	for (column = verb->columns; column->name; column++) {
		const struct column_choice one = { .active = true, .list = column->name, .no_headings = true };

		if ((column->with && !(given & column->with)) || given & column->without)
			continue;
		by_default += !column->chosen;
		output = run(verb, operand, given, &one);
		if (!strcmp(output, "-\n") || !strcmp(output, "-\n-\n") || !*output)
			fail_msg("%s has no column '%s'", verb->name, column->name);
	}
	/* The heading of the usual table has the default columns, in the order of the help. */
	output = run(verb, operand, given, &(struct column_choice){ .active = true, .raw = true });
	for (column = verb->columns; column->name; column++) {
		size_t length = strcspn(output, " \n");

		if (column->chosen || (column->with && !(given & column->with)) || given & column->without)
			continue;
		if (!column_is(column->name, output, length))
			fail_msg("%s: the table has '%.*s', the help '%s'", verb->name, (int)length, output,
				 column->name);
		output += length + 1;
		by_default--;
	}
	assert_int_equal(by_default, 0);
}

static void all_columns(void **state)
{
	(void)state;
	columns_exist(&heat_verb, "show", 0);
	columns_exist(&latency_verb, "show", 0);
	columns_exist(&classifier_verb, "show", 0);
	columns_exist(&ranges_verb, "nc", 0);
	columns_exist(&ranges_verb, "nc", OPTION_LABELS);
}

/* Without the options of the table, the program and its maps are shown as well. */
static void whole(void **state)
{
	const char *output;
	char *words[] = { (char *)"load", NULL };
	const struct arguments args = { .given = OPTION_RAW, .operand = words, .operands = 1 };

	(void)state;
	output = run(&heat_verb, "show", 0, &(struct column_choice){ 0 });
	assert_non_null(strstr(output, "mapname"));
	assert_non_null(strstr(output, "DEVICE  START  READS  BYTES    HITS\nnc        48M      4  8 MiB  75.0 %\n"));
	assert_null(strstr(output, "32M"));
	fail_reset();
	assert_int_equal(heat_verb.run(&args), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "go with show"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_empty_rows),
		cmocka_unit_test(all_columns),
		cmocka_unit_test(whole),
	};

	return RUN(tests);
}
