// SPDX-License-Identifier: GPL-2.0-only
/* nearcache index: list the samples of training shards and their places. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "block/device.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "shard/detect_format.h"
#include "shard/sample_select.h"
#include "lib/print.h"

/* Maximum number of samples and parts in a listing, which is built in memory, then printed. */
#define LISTED_MAX	1000000U

/* One file, and a selection of its samples to print. */
struct listing {
	const struct arguments *args;
	const char *path;
	struct shard_index index;
	struct index_selection selection;
};

/* Are the samples of all files one table, with nothing around it? */
static bool is_table(const struct arguments *args)
{
	return option_given(args, OPTIONS_TABLE) && !option_given(args, OPTION_SUMMARY);
}

static bool has_parts(const struct shard_index *index)
{
	return index->format == INDEX_TAR || index->format == INDEX_PARQUET;
}

/* Prints the parts of a sample, in JSON only. */
static void print_parts(const struct shard_index *index, uint64_t sample)
{
	uint64_t i, parts = index_parts(index, sample);

	print_table("parts");
	for (i = 0; i < parts; i++) {
		const struct index_part *part =
			&index->part[index->sample[sample].part + i];

		print_record(NULL, NULL);
		print_string("name", NULL, index_name(index, part->name));
		print_number("offset", NULL, part->range.offset);
		print_number("length", NULL, part->range.length);
		print_end();
	}
	print_end();
}

static void print_sample(const struct listing *listing, uint64_t number)
{
	const struct shard_index *index = &listing->index;
	const struct index_sample *sample = &index->sample[number];
	/* One table of all files: each row has all columns, whatever the format of its file. */
	bool all = is_table(listing->args);
	bool named = all || sample->name != INDEX_NO_NAME;

	print_record(NULL, NULL);
	print_number("number", "number", number);
	print_number("offset", "offset", sample->range.offset);
	print_number("length", "length", sample->range.length);
	if (has_parts(index))
		print_number(NULL, "parts", index_parts(index, number));
	else if (all)
		print_string(NULL, "parts", NULL);
	if (all)
		print_string("file", NULL, listing->path);
	/* The name comes last because it may be long. */
	print_string("name", named ? "name" : NULL,
		     index_name(index, sample->name));
	if (has_parts(index))
		print_parts(index, number);
	print_end();
}

static void print_samples(const struct listing *listing)
{
	const struct index_span *span = listing->selection.span;
	uint64_t i, number;

	for (i = 0; i < listing->selection.spans; i++)
		for (number = span[i].first; number < span[i].end; number++)
			print_sample(listing, number);
}

/* Prints the ranges of the file that hold its index, in JSON only. */
static void print_index(const struct shard_index *index)
{
	unsigned int i;

	print_table("index");
	for (i = 0; i < index->ranges; i++) {
		print_record(NULL, NULL);
		print_number("offset", NULL, index->range[i].offset);
		print_number("length", NULL, index->range[i].length);
		print_end();
	}
	print_end();
}

static void print_file(const struct listing *listing)
{
	const struct shard_index *index = &listing->index;
	bool summary = option_given(listing->args, OPTION_SUMMARY);

	print_record(NULL, summary ? NULL : listing->path);
	print_string("path", NULL, listing->path);
	print_string("format", "format", index_format_word(index->format));
	print_bytes("size", "size", index->size);
	print_number("sample_count", "samples", index->samples);
	print_bytes("index_bytes", "index", index_bytes(index));
	print_flag("unended", NULL, index->unended);
	print_bytes("following_bytes", NULL, index_rest_bytes(index));
	if (summary)
		print_string(NULL, "file", listing->path);
	print_index(index);
	if (!summary) {
		print_main_table("samples");
		print_samples(listing);
		print_end();
	}
	print_end();
}

/*
 * Add the file's samples and their parts to @listed.  Fail if @listed would exceed LISTED_MAX: then
 * the file is not listed and does not count.
 */
static int check_length(const struct listing *listing, uint64_t *listed)
{
	const struct index_span *span = listing->selection.span;
	uint64_t i, number, length = *listed;

	if (option_given(listing->args, OPTION_SUMMARY))
		return 0;
	for (i = 0; i < listing->selection.spans; i++)
		for (number = span[i].first;
		     number < span[i].end && length <= LISTED_MAX; number++)
			length += 1 + index_parts(&listing->index, number);
	if (length <= LISTED_MAX) {
		*listed = length;
		return 0;
	}
	return fail(CODE_USAGE,
		    "'%s' has %llu samples with %llu parts, more than the limit of %u for both: choose some with --samples, or give --summary",
		    listing->path, (unsigned long long)listing->index.samples,
		    (unsigned long long)listing->index.parts, LISTED_MAX);
}

/* Fail if a read of the file would hang. */
static int check_answers(const char *path)
{
	char what[PATH_MAX + 8];
	struct stat st;

	snprintf(what, sizeof(what), "'%s'", path);
	return stat(path, &st) ? 0 : device_need_running(st.st_dev, what);
}

static int list_file(const struct arguments *args, const char *path,
		     uint64_t *listed)
{
	struct listing listing = { .args = args, .path = path };
	struct shard_index *index = &listing.index;
	unsigned int flags = (option_given(args, OPTION_CHECK) ? INDEX_CHECK : 0) |
			     (option_given(args, OPTION_CONCATENATED) ? INDEX_CONCATENATED : 0);
	int error = check_answers(path);

	if (!error)
		error = index_open(index, path, args->shard_format, flags);
	if (!error && flags & INDEX_CONCATENATED)
		error = index_check_concatenated(index, path);
	if (!error && option_given(args, OPTION_SAMPLES))
		error = index_select(&listing.selection, index, path,
				     args->samples);
	else if (!error)
		error = index_select_all(&listing.selection, index);
	if (!error)
		error = check_length(&listing, listed);
	if (!error) {
		index_warn(index, path);
		if (is_table(args))
			print_samples(&listing);
		else
			print_file(&listing);
	}
	index_select_free(&listing.selection);
	index_free(index);
	return error;
}

/* A file that is not listed, and the error. */
struct problem {
	const char *path;
	enum exit_code code;
	char *message;
};

/* Moves the recorded error to @problem, so that the next file can be listed. */
static void take_problem(struct problem *problem, const char *path)
{
	problem->path = path;
	problem->code = fail_code();
	problem->message = strdup(fail_message());
	fail_reset();
	if (!problem->message)
		fail_memory();
}

/* Prints @problems and records an error about them, with the exit code of the first one. */
static void report_problems(const struct problem *problem, int problems, int files)
{
	int i;

	print_table("problems");
	for (i = 0; i < problems; i++) {
		print_record(NULL, NULL);
		print_string("path", NULL, problem[i].path);
		print_number("code", NULL, problem[i].code);
		print_reason("error", files > 1 ? "not listed" : NULL, problem[i].message);
		print_end();
	}
	print_end();
	if (problems && files == 1)
		fail(problem[0].code, "%s", problem[0].message);
	else if (problems)
		fail(problem[0].code, "%d of %d files are not listed: %s", problems, files,
		     problem[0].message);
}

/* Lists the files. A bad file does not hide the files behind it. */
static void list_files(const struct arguments *args, struct problem *problem)
{
	uint64_t listed = 0;
	int i, problems = 0;

	if (is_table(args))
		print_main_table("samples");
	else if (option_given(args, OPTION_SUMMARY))
		print_main_table("files");
	else
		print_list("files");
	for (i = 0; i < args->operands && fail_code() != CODE_MEMORY; i++)
		if (list_file(args, args->operand[i], &listed) && fail_code() != CODE_MEMORY)
			take_problem(&problem[problems++], args->operand[i]);
	print_end();
	if (!fail_code())
		report_problems(problem, problems, args->operands);
	for (i = 0; i < problems; i++)
		free(problem[i].message);
}

static int cmd_index(const struct arguments *args)
{
	struct problem *problem;

	if (option_given(args, OPTION_SUMMARY) && option_given(args, OPTION_SAMPLES))
		return fail(CODE_USAGE, "--summary and --samples exclude each other");
	problem = calloc((size_t)args->operands, sizeof(*problem));
	if (!problem)
		return fail_memory();
	list_files(args, problem);
	free(problem);
	return fail_code();
}

static const struct verb_column columns[] = {
	{ .name = "number", .help = "of the sample, from 0", .without = OPTION_SUMMARY },
	{ .name = "offset", .help = "first byte in the file", .without = OPTION_SUMMARY },
	{ .name = "length", .help = "size", .without = OPTION_SUMMARY },
	{ .name = "parts", .help = "number of parts (tar, parquet)", .without = OPTION_SUMMARY },
	{ .name = "name", .help = "name of the sample", .without = OPTION_SUMMARY },
	{ .name = "file", .help = "name of the file", .chosen = true, .without = OPTION_SUMMARY },
	{ .name = "format", .help = "of the file", .with = OPTION_SUMMARY },
	{ .name = "size", .help = "of the file", .with = OPTION_SUMMARY },
	{ .name = "samples", .help = "number of samples", .with = OPTION_SUMMARY },
	{ .name = "index", .help = "bytes that a reader needs to open the file", .with = OPTION_SUMMARY },
	{ .name = "file", .help = "name of the file", .with = OPTION_SUMMARY },
	{ .name = "unended", .help = "the archive has no end mark", .chosen = true, .with = OPTION_SUMMARY },
	{ .name = "following_bytes", .help = "bytes behind the end", .chosen = true, .with = OPTION_SUMMARY },
	{ 0 },
};

const struct verb index_verb = {
	.name = "index",
	.group = VERBS_DATA,
	.operands = "FILE...",
	.operands_min = 1,
	.operands_max = -1,
	.optional = OPTION_SHARD_FORMAT | OPTION_SAMPLES |
		    OPTION_SUMMARY | OPTION_CHECK | OPTION_CONCATENATED | OPTIONS_TABLE,
	.summary = "list the samples of training shards and their places",
	.details =
"Formats, recognised by the content or given by --format:\n"
"  tar        WebDataset: consecutive files that share their path up to the first dot\n"
"             of the file name are one sample of that name; a file without a dot\n"
"             belongs to no sample\n"
"  tfrecord   records\n"
"  parquet    row groups, with their column chunks\n"
"  mds        MosaicML data shards\n"
"  npz        arrays of NumPy\n"
"\n"
"Offsets and lengths are bytes of the file; those of a sample include its headers. JSON\n"
"shows the parts of a sample (files of a tar archive, column chunks). The index is the\n"
"part of the file that a reader needs to open it. Only headers are read, and nothing is\n"
"written. A file that is damaged, truncated, compressed, encrypted or sparse is refused;\n"
"the others are listed all the same. An archive without an end mark is listed with a\n"
"warning. If another archive follows, --concatenated reads it too.\n"
"\n"
"--samples takes numbers, ranges and names; write = in front of a number that is a name.\n"
"JSON escapes a name that is not UTF-8 or begins with a backslash: it shows a backslash\n"
"and the name, with \\xHH for each byte that is not UTF-8 and \\\\ for a backslash. --samples,\n"
"FILEs, TARGETs and lines of --from take this form if they begin with a backslash and have\n"
"another one; also with \\x2c for a comma, \\x0a for a newline and \\x0d for a carriage return.\n"
"To give such a name unescaped, write ./ before a file or = before a sample.\n"
"index works without root privileges.\n",
	.columns = columns,
	.run = cmd_index,
};
