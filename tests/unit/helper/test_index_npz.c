// SPDX-License-Identifier: GPL-2.0-only
/* shard/npz.c: places of arrays, also in files that Python made; damaged files are refused. */
#include <stdlib.h>

#include "index_unit.h"
#include "shard/sample_select.h"

/* Size of a member without its data, and of a directory entry, without and with zip64. */
#define LOCAL		(30U + 12)
#define LOCAL64		(LOCAL + 20)
#define ENTRY		(46U + 12)
#define ENTRY64		(ENTRY + 34)
#define END		22U

/* Offset of the directory for three arrays without zip64. */
#define DIRECTORY	(3 * LOCAL + 10 + 11 + 12)

static void make(struct shard *shard, bool zip64)
{
	shard->length = 0;
	shard_npz(shard, 3, zip64);
}

static void arrays(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;
	unsigned int zip64;

	(void)state;
	for (zip64 = 0; zip64 < 2; zip64++) {
		unsigned int local = zip64 ? LOCAL64 : LOCAL;
		unsigned int directory = 3 * local + 33;

		make(&shard, zip64);
		take(&shard, &index, INDEX_NPZ);
		assert_int_equal(index.samples, 3);
		assert_int_equal(index.parts, 0);
		sample_is(&index, 0, "array-00.npy", 0, local + 10);
		sample_is(&index, 1, "array-01.npy", local + 10, local + 11);
		sample_is(&index, 2, "array-02.npy", 2 * local + 21, local + 12);
		assert_int_equal(index.ranges, 2);
		assert_int_equal(index.range[0].offset, 0);
		assert_int_equal(index.range[0].length, 6);
		assert_int_equal(index.range[1].offset, directory);
		assert_int_equal(index.range[1].length,
				 shard.length - directory);
		index_free(&index);
	}
	shard.length = 0;
	shard_npz(&shard, 0, false);
	/* Nothing but its name tells that a zip file without members is npz. */
	assert_int_equal(take_as(&shard, &index, INDEX_NPZ, 0), 0);
	assert_int_equal(index.samples, 0);
	assert_int_equal(index_bytes(&index), END);
	index_free(&index);
	shard_free(&shard);
}

/* An array is selected by the name of the member, or by numpy's name, which has no suffix. */
static void numpy_names(void **state)
{
	struct index_selection selection;
	struct shard shard = { 0 };
	struct shard_index index;

	(void)state;
	make(&shard, false);
	take(&shard, &index, INDEX_NPZ);
	assert_int_equal(index_select(&selection, &index, "a.npz", "array-01,array-00.npy"), 0);
	assert_int_equal(selection.spans, 1);
	assert_int_equal(selection.span[0].first, 0);
	assert_int_equal(selection.span[0].end, 2);
	index_select_free(&selection);
	assert_int_equal(index_select(&selection, &index, "a.npz", "array-0"), CODE_USAGE);
	fail_reset();
	index_select_free(&selection);
	index_free(&index);
	shard_free(&shard);
}

/* A comment full of end-record signatures is accepted; a byte behind the comment is refused. */
static void comment(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;
	unsigned int i;

	(void)state;
	make(&shard, false);
	shard_set_le(&shard, shard.length - 2, 65535, 2);
	for (i = 0; i < 65535 / 5; i++)
		shard_put(&shard, "PK\5\6!", 5);
	take(&shard, &index, INDEX_NPZ);
	assert_int_equal(index.samples, 3);
	index_free(&index);
	shard_fill(&shard, 0, 1);
	refused(&shard, INDEX_ANY, shard.length, "no end record");
	shard_free(&shard);
}

static void cut_off(void **state)
{
	struct shard shard = { 0 };

	(void)state;
	make(&shard, false);
	shard.length--;
	refused(&shard, INDEX_ANY, shard.length, "no end record");
	shard.length = 5;
	refused(&shard, INDEX_NPZ, 5, "no end record");
	shard_free(&shard);
}

/* Number @value stored at @offset; the message must give offset @where and reason @what. */
struct damage {
	unsigned int offset;
	unsigned int width;
	uint64_t value;
	uint64_t where;
	const char *what;
};

static void try_all(const struct damage *damage, unsigned int count, bool zip64)
{
	struct shard shard = { 0 };
	unsigned int i;

	for (i = 0; i < count; i++) {
		make(&shard, zip64);
		shard_set_le(&shard, damage[i].offset, damage[i].value,
			     damage[i].width);
		refused(&shard, INDEX_NPZ, damage[i].where, damage[i].what);
	}
	shard_free(&shard);
}

#define TRY_ALL(damage, zip64)	\
	try_all(damage, sizeof(damage) / sizeof((damage)[0]), zip64)

static void damaged(void **state)
{
	static const unsigned int end = DIRECTORY + 3 * ENTRY;
	const struct damage damage[] = {
		{ end + 4, 2, 1, end, "one part of a split zip file" },
		{ end + 10, 2, 4, end, "4 members do not fit into a directory of 174" },
		{ end + 10, 2, 2, DIRECTORY + 2 * ENTRY, "after the last of its 2 members" },
		{ end + 12, 4, 3 * ENTRY - 1, end, "does not end here" },
		{ end + 16, 4, DIRECTORY + 1, end, "does not end here" },
		{ end + 16, 4, UINT32_MAX, end, "at 4294967295 does not end here" },
		{ DIRECTORY, 4, 0, DIRECTORY, "not an entry of a zip directory" },
		{ DIRECTORY + 8, 2, 1, DIRECTORY + 46, "'array-00.npy' is encrypted" },
		{ DIRECTORY + 20, 4, 300, 0, "of 300 bytes overlaps the directory" },
		{ DIRECTORY + 20, 4, UINT32_MAX, 0, "overlaps the directory" },
		{ DIRECTORY + 28, 2, 13, DIRECTORY + 46, "is not an array (.npy)" },
		{ DIRECTORY + 28, 2, 4, DIRECTORY + 46, "is not an array (.npy)" },
		{ DIRECTORY + 28, 2, 5000, DIRECTORY, "beyond the end of the directory" },
		{ DIRECTORY + 30, 2, 65535, DIRECTORY, "beyond the end of the directory" },
		{ DIRECTORY + 30, 2, 20, DIRECTORY + ENTRY, "an extra field reaches" },
		{ DIRECTORY + 32, 2, 1, DIRECTORY + ENTRY + 1, "not an entry" },
		{ DIRECTORY + 42, 4, 1, 1, "there is no member of a zip file" },
		{ DIRECTORY + 42, 4, LOCAL + 10, LOCAL + 10, "its own header has another name" },
		{ DIRECTORY + 42, 4, DIRECTORY + 1, DIRECTORY + 1, "behind its own offset" },
		{ DIRECTORY + 42, 4, UINT32_MAX, UINT32_MAX, "behind its own offset" },
		{ DIRECTORY + 50, 1, 0, DIRECTORY + 46, "is not an array (.npy)" },
		{ 0, 4, 0, 0, "there is no member of a zip file" },
		{ 26, 2, 11, 0, "its own header has another name" },
		{ 28, 2, 65535, 0, "overlaps the directory" },
		{ 30, 1, 'A', 0, "calls this member 'array-00.npy', but its own" },
	};

	(void)state;
	TRY_ALL(damage, false);
}

static void damaged64(void **state)
{
	static const unsigned int directory = 3 * LOCAL64 + 33;
	static const unsigned int extra = directory + ENTRY + 6;
	static const unsigned int end64 = directory + 3 * ENTRY64;
	static const unsigned int locator = end64 + 56;
	static const unsigned int end = locator + 20;
	const struct damage damage[] = {
		{ locator, 1, 0, end, "at 4294967295 does not end here" },
		{ locator + 8, 8, end64 + 1, locator, "which is not before its locator" },
		{ locator + 8, 8, UINT64_MAX, locator, "which is not before its locator" },
		{ locator + 8, 8, end64 - 1, end64 - 1, "no zip64 end record" },
		{ end64 + 32, 8, UINT64_MAX / 46, end64, "do not fit into" },
		{ end64 + 40, 8, UINT64_MAX, end64, "does not end here" },
		{ end64 + 48, 8, UINT64_MAX, end64, "does not end here" },
		{ end64 + 48, 8, 0, end64, "does not end here" },
		{ extra + 2, 2, 23, extra + 4, "a zip64 field is too short" },
		{ extra + 12, 8, UINT64_MAX, 0, "overlaps the directory" },
		{ extra + 12, 8, UINT64_MAX - LOCAL64 + 1, 0, "overlaps" },
		{ extra + 20, 8, 1ULL << 62, 1ULL << 62, "behind its own offset" },
		/* Without a zip64 field UINT32_MAX is a real offset, beyond the end here. */
		{ extra, 2, 2, UINT32_MAX, "places member" },
	};

	(void)state;
	TRY_ALL(damage, true);
}

static char path[] = "/tmp/test_index_npz.XXXXXX";

/* Let Python write a file as numpy.savez() does, with room for zip64 in each local header. */
static void check_python(const char *method)
{
	struct shard_index index;
	char command[1024];
	unsigned int i;

	snprintf(command, sizeof(command),
		 "python3 -c 'import zipfile\n"
		 "with zipfile.ZipFile(\"%s\", \"w\", zipfile.%s, True) as z:\n"
		 " for name in \"images\", \"a/labels\", \"\xc3\xa4\":\n"
		 "  with z.open(name + \".npy\", \"w\", force_zip64=True) as f: f.write(b\"\\x93NUMPY\" * 1000)'",
		 path, method);
	assert_int_equal(system(command), 0);
	fail_reset();
	if (index_open(&index, path, INDEX_ANY, 0))
		fail_msg("%s", fail_message());
	assert_int_equal(index.format, INDEX_NPZ);
	assert_int_equal(index.samples, 3);
	assert_string_equal(index_name(&index, index.sample[1].name), "a/labels.npy");
	/* Samples are adjacent, up to the directory. */
	for (i = 0; i < 3; i++)
		assert_int_equal(index.sample[i].range.offset +
				 index.sample[i].range.length,
				 i < 2 ? index.sample[i + 1].range.offset :
					 index.range[1].offset);
	index_free(&index);
}

static void by_python(void **state)
{
	(void)state;
	close(mkstemp(path));
	check_python("ZIP_STORED");
	check_python("ZIP_DEFLATED");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays),
		cmocka_unit_test(numpy_names),
		cmocka_unit_test(comment),
		cmocka_unit_test(cut_off),
		cmocka_unit_test(damaged),
		cmocka_unit_test(damaged64),
		cmocka_unit_test(by_python),
	};

	return RUN(tests);
}
