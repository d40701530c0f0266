// SPDX-License-Identifier: GPL-2.0-only
/*
 * files/read_order.c: reads of files, ranges and samples become ranges of the device in their
 * order. The first half of a file "a" is at 1M, the second half at 8M further on; "b" is at 2M.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block/layer_map.h"
#include "files/fiemap.h"
#include "files/operand.h"
#include "files/sample_extents.h"
#include "lib/error.h"
#include "unit.h"

static char top[] = "/tmp/order.XXXXXX";

int extents_read(struct extents *extents, int fd, const char *path)
{
	uint64_t start = (uint64_t)(strrchr(path, '/')[1] - 'a' + 1) << 20, half;
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	half = (uint64_t)st.st_size / 2;
	*extents = (struct extents){ .size = half * 2, .selected = half * 2, .count = 2 };
	extents->extent = calloc(2, sizeof(*extents->extent));
	assert_non_null(extents->extent);
	extents->extent[0] = (struct extent){ .start = start, .length = half };
	extents->extent[1] = (struct extent){ half, start + (8 << 20), half, EXTENT_DATA, NULL };
	return 0;
}

int extents_read_allocated(struct extents *extents, int fd, const char *path)
{
	return extents_read(extents, fd, path);
}

void extents_free(struct extents *extents)
{
	free(extents->extent);
}

int narrow(struct extents *extents, int fd, const char *path,
	   const struct narrowing *narrowing, bool *none)
{
	(void)extents;
	(void)fd;
	(void)path;
	(void)narrowing;
	(void)none;
	return 0;
}

int layers_resolve(struct layers *layers, dev_t upper, dev_t lower)
{
	(void)lower;
	layers->upper = upper;
	return 0;
}

bool layers_touch(const struct layers *layers)
{
	(void)layers;
	return true;
}

bool layers_map(const struct layers *layers, uint64_t start, uint64_t length,
		struct range *piece, const char **why)
{
	(void)layers;
	(void)why;
	*piece = (struct range){ start, length };
	return true;
}

void layers_free(struct layers *layers)
{
	(void)layers;
}

/* An index of 512 bytes at the start, then 4 samples of 1024 bytes; the last one is of 512. */
int index_open(struct shard_index *index, const char *path, enum index_format format,
	       unsigned int flags)
{
	unsigned int i;

	(void)path;
	(void)format;
	(void)flags;
	*index = (struct shard_index){ .samples = 4, .ranges = 1, .range = { { 0, 512 } } };
	index->sample = calloc(4, sizeof(*index->sample));
	assert_non_null(index->sample);
	for (i = 0; i < 4; i++)
		index->sample[i].range = (struct index_range){ 512 + 1024 * i, i < 3 ? 1024 : 512 };
	return 0;
}

void index_free(struct shard_index *index)
{
	free(index->sample);
}

void index_warn(const struct shard_index *index, const char *path)
{
	(void)index;
	(void)path;
}

int index_check_concatenated(const struct shard_index *index, const char *path)
{
	(void)index;
	(void)path;
	return 0;
}

static void make(const char *path, off_t bytes, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(top) || chdir(top))
		return -1;
	make("a", 4096, "");
	make("b", 2048, "");
	return link("a", "c");
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", top);
	return chdir("/") || system(command);
}

/* Resolve a list, for @args and TARGET_READ; return its ranges, "START+LENGTH ". */
static const char *planned(struct arguments args, const char *text)
{
	static const struct dm_device dev = { .name = "nc", .size = 64 << 20 };
	char name[] = "nc", *operand[] = { name };
	static char ranges[512];
	struct shards shards;
	char *to = ranges;
	size_t i;

	make("list", 0, text);
	args.given |= OPTION_FROM;
	args.from = "list";
	args.root = top;
	args.operand = operand;
	args.operands = 1;
	fail_reset();
	*ranges = '\0';
	if (target_resolve_for(TARGET_READ, &args, &dev, &shards)) {
		shards_free(&shards);
		return fail_message();
	}
	assert_int_equal(shards.count, 1);
	for (i = 0; i < shards.shard->ranges; i++)
		to += sprintf(to, "%llu+%llu ", (unsigned long long)shards.shard->range[i].start,
			      (unsigned long long)shards.shard->range[i].length);
	assert_int_equal(shards_bytes(&shards), shards.shard->bytes);
	shards_free(&shards);
	return ranges;
}

#define A	"1048576+2048 9437184+2048 "
#define B	"2097152+1024 10485760+1024 "

static void files(void **state)
{
	(void)state;
	assert_string_equal(planned((struct arguments){ 0 }, "a\nb\na\n"), A B A);
	/* Two reads of one file stay two reads, also under different names. */
	assert_string_equal(planned((struct arguments){ 0 }, "a\nc\n"), A A);
	assert_string_equal(planned((struct arguments){ 0 }, "0+512\n0+512\n512+512\na\n"),
			    "0+512 0+1024 " A);
}

static void samples_of_shards(void **state)
{
	(void)state;
	/* The index comes first, once. Sample 1 ends in the second half. */
	assert_string_equal(planned((struct arguments){ 0 }, "a\t1\na\t3,0\na"),
			    "1048576+512 1050112+512 9437184+512 9438720+512 1049088+1024 " A);
	assert_string_equal(planned((struct arguments){ 0 }, "a\t0-3\n"), A);
	assert_string_equal(planned((struct arguments){ 0 }, "b\na\t2\nb\n"),
			    B "1048576+512 9437696+1024 " B);
	assert_non_null(strstr(planned((struct arguments){ 0 }, "b\na\t3,4\n"),
			       "/a' has samples 0 to 3, not 4; it is line 2 of the list"));
}

/* Samples of 300 bytes behind a header of 100 share sectors. */
static void samples_of_fixed_size(void **state)
{
	struct arguments args = { .given = OPTION_SAMPLE_SIZE, .sample_size = 300, .header = 100 };

	(void)state;
	assert_string_equal(planned(args, "a\t0\na\t1\na\t12"), "1048576+1024 9438720+512 ");
	assert_string_equal(planned(args, "a\t1,0\nb\t0\n"), "1048576+1024 1048576+512 2097152+512 ");
	assert_string_equal(planned(args, "a\t0-12\nb"), A B);
	assert_non_null(strstr(planned(args, "a\t13\n"), "/a' has samples 0 to 12, not 13"));
	args.header = 2000;
	assert_non_null(strstr(planned(args, "b\t0\n"),
			       "/b' is too small for a sample of 300 bytes after a header of 2000 bytes"));
	assert_non_null(strstr(planned(args, "b\t281474976710656\n"), "it is line 1 of the list"));
}

static void shared(void **state)
{
	static const struct dm_device dev = { .name = "nc", .size = 64 << 20 };
	struct arguments args = { .given = OPTION_RANK | OPTION_WORLD_SIZE };
	char name[] = "nc", *operand[] = { name };
	struct shards shards;

	(void)state;
	assert_non_null(strstr(planned(args, "a\t1\n"), "--rank shares out whole files; it is line 1"));
	args.given = OPTION_SAMPLES;
	args.samples = "1";
	assert_non_null(strstr(planned(args, "a\t1\n"), "--samples and --index-only select"));
	/* With --rank a file counts once. */
	make("list", 0, "a\nb\na\n");
	args = (struct arguments){ .given = OPTION_RANK | OPTION_FROM, .from = "list", .root = top,
				   .operand = operand, .operands = 1 };
	fail_reset();
	assert_int_equal(target_resolve_for(TARGET_READ, &args, &dev, &shards), 0);
	assert_int_equal(shards.count, 2);
	shards_free(&shards);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(samples_of_shards),
		cmocka_unit_test(samples_of_fixed_size),
		cmocka_unit_test(shared),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
