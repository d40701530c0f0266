// SPDX-License-Identifier: GPL-2.0-only
/* 'nearcache index' (cmd/index.c): its output as text and as JSON. */
#include "capture.h"
#include "cmd/commands.h"
#include "lib/print.h"
#include "shard.h"

static char path[2][32];

/* Make @path[n] name the shard until the returned file descriptor is closed. */
static int place(const struct shard *shard, unsigned int n)
{
	int fd = shard_file(shard);

	snprintf(path[n], sizeof(path[n]), "/proc/self/fd/%d", fd);
	return fd;
}

/* Run 'index' on @files files; it must return @code.  The output is valid until the next call. */
static const char *run(option_set options, const char *samples,
		       unsigned int files, int code)
{
	char *operand[] = { path[0], path[1] };
	struct arguments args = {
		.given = options | (samples ? OPTION_SAMPLES : 0),
		.samples = samples,
		.operand = operand,
		.operands = (int)files,
	};

	const char *output;

	fail_reset();
	capture();
	print_start(option_given(&args, OPTION_JSON));
	assert_int_equal(index_verb.run(&args), code);
	assert_int_equal(print_finish(), code);
	output = captured();
	/* Skip blank lines after the output of an earlier test. */
	return output + strspn(output, "\n");
}

static int place_tar(unsigned int n)
{
	struct shard shard = { 0 };
	int fd;

	shard_tar_file(&shard, "d/one.jpg", 600);
	shard_tar_file(&shard, "d/one.cls", 1);
	shard_tar_file(&shard, "d/two.jpg", 600);
	shard_tar_end(&shard);
	fd = place(&shard, n);
	shard_free(&shard);
	return fd;
}

static int place_mds(unsigned int n)
{
	struct shard shard = { 0 };
	int fd;

	shard_mds(&shard, 5);
	fd = place(&shard, n);
	shard_free(&shard);
	return fd;
}

static struct json_object *at(struct json_object *array, unsigned int i)
{
	assert_true(i < json_object_array_length(array));
	return json_object_array_get_idx(array, i);
}

static uint64_t number(struct json_object *object, const char *key)
{
	return json_object_get_uint64(member(object, key));
}

static const char *text(struct json_object *object, const char *key)
{
	return json_object_get_string(member(object, key));
}

static void range_is(struct json_object *object, uint64_t offset,
		     uint64_t length)
{
	assert_int_equal(number(object, "offset"), offset);
	assert_int_equal(number(object, "length"), length);
}

static void tar_as_json(struct json_object *file)
{
	struct json_object *samples = member(file, "samples"), *parts;

	assert_string_equal(text(file, "path"), path[0]);
	assert_string_equal(text(file, "format"), "tar");
	assert_int_equal(number(file, "size"), 3 * 1536 + 512);
	assert_int_equal(number(file, "sample_count"), 2);
	assert_int_equal(number(file, "index_bytes"), 0);
	assert_int_equal(json_object_array_length(member(file, "index")), 0);
	assert_int_equal(json_object_array_length(samples), 2);
	assert_int_equal(number(at(samples, 1), "number"), 1);
	assert_string_equal(text(at(samples, 1), "name"), "d/two");
	range_is(at(samples, 0), 0, 2560);
	range_is(at(samples, 1), 2560, 1536);
	parts = member(at(samples, 0), "parts");
	assert_int_equal(json_object_array_length(parts), 2);
	assert_string_equal(text(at(parts, 1), "name"), "d/one.cls");
	range_is(at(parts, 0), 512, 600);
	range_is(at(parts, 1), 2048, 1);
}

static void mds_as_json(struct json_object *file)
{
	struct json_object *index = member(file, "index");
	struct json_object *samples = member(file, "samples");

	assert_string_equal(text(file, "format"), "mds");
	assert_int_equal(number(file, "index_bytes"), 45);
	assert_int_equal(json_object_array_length(index), 1);
	range_is(at(index, 0), 0, 45);
	assert_int_equal(json_object_array_length(samples), 5);
	assert_null(member(at(samples, 4), "name"));
	assert_false(json_object_object_get_ex(at(samples, 4), "parts", NULL));
	range_is(at(samples, 4), 45 + 6, 4);
}

static void json(void **state)
{
	int tar = place_tar(0), mds = place_mds(1);
	struct json_object *root, *files;

	(void)state;
	root = json_tokener_parse(run(OPTION_JSON, NULL, 2, 0));
	assert_int_equal(number(root, "schema"), 1);
	files = member(root, "files");
	assert_int_equal(json_object_array_length(files), 2);
	tar_as_json(at(files, 0));
	mds_as_json(at(files, 1));
	json_object_put(root);
	close(tar);
	close(mds);
}

/* In JSON the error about a file is a message: only its path is a name, which can be escaped. */
static void message_as_json(void **state)
{
	struct json_object *root, *problem;

	(void)state;
	strcpy(path[0], "/nowhere\xff");
	root = json_tokener_parse(run(OPTION_JSON, NULL, 1, CODE_DEVICE));
	problem = at(member(root, "problems"), 0);
	assert_string_equal(text(problem, "path"), "\\/nowhere\\xff");
	assert_string_equal(text(problem, "error"),
			    "cannot open '/nowhere?': No such file or directory");
	json_object_put(root);
}

/* Files of two formats are one table: their rows have the same columns. */
static void one_table(void **state)
{
	struct column_choice choice = { .active = true, .list = "+file", .raw = true };
	int tar = place_tar(0), mds = place_mds(1);
	char expected[512];

	(void)state;
	print_choose(&choice);
	snprintf(expected, sizeof(expected),
		 "NUMBER OFFSET LENGTH PARTS NAME FILE\n"
		 "1 2560 1536 1 d/two %s\n"
		 "1 45 1 - - %s\n", path[0], path[1]);
	assert_string_equal(run(OPTION_RAW | OPTION_COLUMNS, "1", 2, 0), expected);
	choice = (struct column_choice){ .active = true, .list = "number,file,parts,length" };
	print_choose(&choice);
	snprintf(expected, sizeof(expected),
		 "NUMBER  %-*s  PARTS  LENGTH\n"
		 "     1  %s      1    1536\n"
		 "     1  %s      -       1\n", (int)strlen(path[0]), "FILE", path[0], path[1]);
	assert_string_equal(run(OPTION_COLUMNS, "1", 2, 0), expected);
	print_choose(&(struct column_choice){ 0 });
	close(tar);
	close(mds);
}

static void table(void **state)
{
	int tar = place_tar(0), mds;
	char expected[512];

	(void)state;
	snprintf(expected, sizeof(expected),
		 "%s\n"
		 "  format   tar\n"
		 "  size     5 KiB\n"
		 "  samples  2\n"
		 "  index    0 B\n"
		 "\n"
		 "NUMBER  OFFSET  LENGTH  PARTS  NAME\n"
		 "     0       0    2560      2  d/one\n"
		 "     1    2560    1536      1  d/two\n", path[0]);
	assert_string_equal(run(0, NULL, 1, 0), expected);
	mds = place_mds(0);
	snprintf(expected, sizeof(expected),
		 "%s\n"
		 "  format   mds\n"
		 "  size     55 B\n"
		 "  samples  5\n"
		 "  index    45 B\n"
		 "\n"
		 "NUMBER  OFFSET  LENGTH\n"
		 "     0      45       0\n"
		 "     3      48       3\n", path[0]);
	assert_string_equal(run(0, "3,0", 1, 0), expected);
	assert_string_equal(run(OPTION_CONCATENATED, NULL, 1, CODE_USAGE), "");
	assert_non_null(strstr(fail_message(), "has format mds; it is for tar archives only"));
	assert_string_equal(run(0, "5", 1, CODE_USAGE), "");
	assert_non_null(strstr(fail_message(), "has samples 0 to 4"));
	close(tar);
	close(mds);
}

static void summary(void **state)
{
	int tar = place_tar(0), mds = place_mds(1);
	struct json_object *root, *file;
	char expected[512];

	(void)state;
	snprintf(expected, sizeof(expected),
		 "FORMAT   SIZE  SAMPLES  INDEX  FILE\n"
		 "tar     5 KiB        2    0 B  %s\n"
		 "mds      55 B        5   45 B  %s\n", path[0], path[1]);
	assert_string_equal(run(OPTION_SUMMARY, NULL, 2, 0), expected);
	root = json_tokener_parse(run(OPTION_SUMMARY | OPTION_JSON, NULL, 2, 0));
	file = at(member(root, "files"), 1);
	assert_string_equal(text(file, "path"), path[1]);
	assert_int_equal(number(file, "sample_count"), 5);
	assert_int_equal(number(file, "index_bytes"), 45);
	range_is(at(member(file, "index"), 0), 0, 45);
	assert_false(json_object_object_get_ex(file, "samples", NULL));
	json_object_put(root);
	assert_string_equal(run(OPTION_SUMMARY, "1", 2, CODE_USAGE), "");
	assert_string_equal(fail_message(), "--summary and --samples exclude each other");
	close(tar);
	close(mds);
}

/* The first of two files is bad: the output has the index of the second one and the error. */
static void bad_file(void **state)
{
	struct json_object *root, *error, *problem;
	struct shard shard = { 0 };
	char other[sizeof(path[0])];
	int tar = place_tar(0), bad;
	const char *output;

	(void)state;
	shard_fill(&shard, 1, 1000);
	bad = place(&shard, 1);
	memcpy(other, path[1], sizeof(other));
	memcpy(path[1], path[0], sizeof(other));
	memcpy(path[0], other, sizeof(other));
	root = json_tokener_parse(run(OPTION_JSON, NULL, 2, CODE_DEVICE));
	assert_int_equal(json_object_array_length(member(root, "files")), 1);
	assert_string_equal(text(at(member(root, "files"), 0), "path"), path[1]);
	problem = at(member(root, "problems"), 0);
	assert_string_equal(text(problem, "path"), path[0]);
	assert_int_equal(number(problem, "code"), CODE_DEVICE);
	error = member(root, "error");
	assert_int_equal(number(error, "code"), CODE_DEVICE);
	assert_non_null(strstr(text(error, "message"), "1 of 2 files are not listed: "));
	assert_non_null(strstr(text(error, "message"), path[0]));
	json_object_put(root);
	output = run(0, NULL, 2, CODE_DEVICE);
	assert_non_null(strstr(output, "  d/two\n"));
	assert_non_null(strstr(output, "NOT LISTED\n"));
	shard_free(&shard);
	close(tar);
	close(bad);
}

/* A file with too many samples to list is refused without --samples or --summary. */
static void long_list(void **state)
{
	struct shard shard = { 0 };
	const char *output;
	unsigned int i;
	int fd;

	(void)state;
	shard_tfrecord(&shard, 0);
	for (i = 0; i < 20; i++) {
		shard.bytes = realloc(shard.bytes, 2 * shard.length);
		assert_non_null(shard.bytes);
		memcpy(shard.bytes + shard.length, shard.bytes, shard.length);
		shard.length *= 2;
		shard.room = shard.length;
	}
	fd = place(&shard, 0);
	shard_free(&shard);
	assert_string_equal(run(0, NULL, 1, CODE_USAGE), "");
	assert_non_null(strstr(fail_message(), "1048576 samples with 0 parts"));
	output = run(0, "1048575", 1, 0);
	assert_non_null(strstr(output, "1048575  16777200      16\n"));
	output = run(OPTION_SUMMARY, NULL, 1, 0);
	assert_non_null(strstr(output, "tfrecord  16 MiB  1048576    0 B"));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json),
		cmocka_unit_test(message_as_json),
		cmocka_unit_test(one_table),
		cmocka_unit_test(table),
		cmocka_unit_test(summary),
		cmocka_unit_test(bad_file),
		cmocka_unit_test(long_list),
	};

	return RUN(tests);
}
