// SPDX-License-Identifier: GPL-2.0-only
/* nearcache classifier: load, unload or show the BPF program that classifies streams. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "block/device.h"
#include "bpf/builtin_programs.h"
#include "lib/enum_words.h"
#include "classify.h"
#include "cmd/commands.h"
#include "lib/cgroup_path.h"
#include "lib/error.h"
#include "bpf/load_unload_verb.h"
#include "lib/print.h"
#include "lib/process.h"
#include "lib/size.h"

struct row {
	struct stream_key key;
	struct stream stream;
};

/* @all: also the streams of processes that have ended */
struct rows {
	bool all;
	struct row *row;
	size_t count;
};

/* The part of the device: without it the streams of a process would look the same. */
static const char *part_text(const struct set_key *set, char *text, size_t size)
{
	char start[SIZE_TEXT];

	if (set->label)
		snprintf(text, size, "label %u", set->label);
	else
		snprintf(text, size, "from %s", size_print(set->place << (PLACE_SHIFT + 9), start));
	return text;
}

static void show_stream(const struct row *row)
{
	const struct stream_key *key = &row->key;
	const struct stream *stream = &row->stream;
	dev_t number = makedev(key->set.dev >> 20, key->set.dev & 0xfffff);
	char name[128], part[64], command[32], group[PATH_MAX];

	print_record(NULL, NULL);
	print_number("pid", "pid", key->pid);
	print_string("access", "access", key->writes ? "write" : "read");
	print_string("class", "class", class_word(stream->told));
	print_number("accesses", "accesses", stream->accesses);
	print_number("runs", "runs", stream->runs);
	print_bytes("bytes", "bytes", stream->bytes);
	print_number("changes", "changes", stream->changes);
	print_string("device", "device", device_dm_name(number, name));
	print_number("major", NULL, major(number));
	print_number("minor", NULL, minor(number));
	print_string(NULL, "part", part_text(&key->set, part, sizeof(part)));
	print_number("start", NULL, key->set.place << (PLACE_SHIFT + 9));
	print_number("label_id", NULL, key->set.label);
	print_number("cgroup", NULL, key->set.cgroup);
	print_string("cgroup_path", "cgroup", cgroup_path(key->set.cgroup, group));
	print_string("command", "command", process_command(key->pid, command, sizeof(command)));
	print_end();
}

static int add_row(const void *key_, const void *value, void *arg)
{
	const struct stream_key *key = key_;
	struct rows *rows = arg;
	struct row *longer;

	if (!((const struct stream *)value)->accesses)
		return 0;
	if (!rows->all && process_ended(key->pid))
		return 0;
	longer = reallocarray(rows->row, rows->count + 1, sizeof(*longer));
	if (!longer)
		return fail_memory();
	rows->row = longer;
	longer[rows->count++] = (struct row){ *key, *(const struct stream *)value };
	return 0;
}

static int by_key(const void *a, const void *b)
{
	return memcmp(&((const struct row *)a)->key, &((const struct row *)b)->key,
		      sizeof(struct stream_key));
}

/* By device; on a device the streams with the most bytes first. */
static int by_bytes(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->key.set.dev != y->key.set.dev)
		return x->key.set.dev < y->key.set.dev ? -1 : 1;
	if (x->stream.bytes != y->stream.bytes)
		return x->stream.bytes > y->stream.bytes ? -1 : 1;
	return by_key(a, b);
}

/* The map may list a stream twice if another one was evicted meanwhile: keep one entry. */
static void sort_rows(struct rows *rows)
{
	size_t i, kept = 0;

	if (!rows->count)
		return;
	qsort(rows->row, rows->count, sizeof(*rows->row), by_key);
	for (i = 1; i < rows->count; i++)
		if (by_key(&rows->row[kept], &rows->row[i]))
			rows->row[++kept] = rows->row[i];
	rows->count = kept + 1;
	qsort(rows->row, rows->count, sizeof(*rows->row), by_bytes);
}

/* Prints the map "streams", or an empty list if a program from a file has no such map. */
static int show_classifier(const struct program_place *place, const struct arguments *args)
{
	struct rows rows = { .all = option_given(args, OPTION_ENDED) };
	size_t i;

	print_main_table("streams");
	program_each(place, "streams", sizeof(struct stream_key),
		     sizeof(struct stream), add_row, &rows);
	sort_rows(&rows);
	for (i = 0; i < rows.count; i++)
		show_stream(&rows.row[i]);
	print_end();
	free(rows.row);
	return fail_code();
}

static int cmd_classifier(const struct arguments *args)
{
	static const struct loading classifier = {
		.place = &built_in_classifier,
		.files = true,
		.show = show_classifier,
	};

	return loading_run(&classifier, args);
}

static const struct verb_column columns[] = {
	{ .name = "pid", .help = "process" },
	{ .name = "access", .help = "read or write" },
	{ .name = "class", .help = "sequential, strided, shuffled, ..." },
	{ .name = "accesses", .help = "number" },
	{ .name = "runs", .help = "accesses that started a sequential run" },
	{ .name = "bytes", .help = "their size" },
	{ .name = "changes", .help = "how often the class changed" },
	{ .name = "device", .help = "name" },
	{ .name = "part", .help = "part of the device" },
	{ .name = "cgroup", .help = "control group of the process" },
	{ .name = "command", .help = "name of the process" },
	{ .name = "major", .help = "of the device number", .chosen = true },
	{ .name = "minor", .help = "of the device number", .chosen = true },
	{ .name = "start", .help = "first byte of the part", .chosen = true },
	{ .name = "label_id", .help = "number of the label", .chosen = true },
	{ 0 },
};

const struct verb classifier_verb = {
	.name = "classifier",
	.group = VERBS_AUTOMATIC,
	.operands = "load|unload|show [FILE]",
	.operands_min = 1,
	.operands_max = 2,
	.optional = OPTION_ENDED | OPTIONS_TABLE,
	.summary = "load or show the BPF program that classifies streams",
	.details =
"load makes the kernel call a program for each read and write through all caches: the\n"
"built-in one, or that of FILE (an object with one program in\n"
"SEC(\"raw_tp.w/nearcache_classify\"), see nearcache(7)). It stays until unload or\n"
"shutdown, and the module stays loaded with it. No result of the program can corrupt\n"
"data. With --dry-run the kernel only verifies the program.\n"
"\n"
"show lists the BPF maps of the program, which bpftool reads, and for the built-in program\n"
"the streams of processes that run; with --all also of those that have ended. The reads\n"
"or writes of a process are sequential, strided, checkpoint (sequential writes) or\n"
"scattered; scattered reads turn out to be shuffled (each run once per pass), looping (the\n"
"same order again) or random once enough runs were read twice. The processes of a control\n"
"group share this class, see nearcache(7).\n",
	.columns = columns,
	.run = cmd_classifier,
};
