// SPDX-License-Identifier: GPL-2.0-only
/* Rules for all shard formats: detection (detect_format.c), reads (reader.c), sample_select.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "shard/reader.h"
#include "shard/sample_select.h"
#include "index_unit.h"

/* Bytes read and pread() calls so far; number of the call that goes wrong (0: none), and how. */
static uint64_t bytes_read;
static unsigned int reads, bad_read;
static enum { FINE, BROKEN, INTERRUPTED, SHORT, ENDS } how;

ssize_t __real_pread(int fd, void *buffer, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset);

ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset)
{
	ssize_t n;

	reads++;
	if (how == SHORT)
		bytes = (bytes + 1) / 2;
	if (reads == bad_read && how != SHORT && how != FINE) {
		errno = how == BROKEN ? EIO : EINTR;
		return how == ENDS ? 0 : -1;
	}
	n = __real_pread(fd, buffer, bytes, offset);
	if (n > 0)
		bytes_read += (uint64_t)n;
	return n;
}

static void reset(void)
{
	bytes_read = 0;
	reads = bad_read = 0;
	how = FINE;
}

static void make(struct shard *shard, enum index_format format)
{
	shard->length = 0;
	if (format == INDEX_TAR) {
		shard_tar_file(shard, "a.x", 20000);
		shard_tar_pax(shard, 'x', "12 path=b.x\n");
		shard_tar_file(shard, "b", 20000);
		shard_tar_end(shard);
	} else if (format == INDEX_TFRECORD) {
		shard_tfrecord(shard, 20000);
		shard_tfrecord(shard, 20000);
	} else if (format == INDEX_PARQUET) {
		shard_parquet(shard, 30, 30);
	} else if (format == INDEX_MDS) {
		shard_mds(shard, 3000);
	} else {
		shard_npz(shard, 50, true);
	}
}

static void told_by_content(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;
	enum index_format i, other;

	(void)state;
	for (i = INDEX_ANY + 1; i < INDEX_FORMATS; i++) {
		make(&shard, i);
		take(&shard, &index, i);
		index_free(&index);
		for (other = INDEX_ANY + 1; other < INDEX_FORMATS; other++) {
			int error = take_as(&shard, &index, other, 0);

			assert_int_equal(error, other == i ? 0 : CODE_DEVICE);
			index_free(&index);
		}
	}
	shard_free(&shard);
}

static void told_by_name(void **state)
{
	static const struct {
		const char *path;
		enum index_format format;
	} row[] = {
		{ "a.tar", INDEX_TAR }, { "a.tfrecord", INDEX_TFRECORD },
		{ "/a/b.tfrecords", INDEX_TFRECORD }, { "a.mds", INDEX_MDS },
		{ "a.b.parquet", INDEX_PARQUET }, { "a.npz", INDEX_NPZ },
		{ "tar", INDEX_ANY }, { "a.tar/b", INDEX_ANY },
		{ "a.", INDEX_ANY }, { "a.tar.", INDEX_ANY }, { "", INDEX_ANY },
		{ "x-train.tfrecord-00001-of-00002", INDEX_TFRECORD },
		{ "/a/x.tfrecords-0-of-1", INDEX_TFRECORD },
		{ "x.tar-00001-of-00002", INDEX_TAR },
		{ "x.tfrecord-00001-of-", INDEX_ANY }, { "x.tfrecord-of-2", INDEX_ANY },
		{ "x.tfrecord1-of-2", INDEX_ANY }, { "x.1-of-2", INDEX_ANY },
		{ "x.tfrecord-1-of-2.bak", INDEX_ANY }, { "x-1-of-2", INDEX_ANY },
	};
	struct shard_index index;
	struct shard shard = { 0 };
	unsigned int i;
	int fd;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_int_equal(index_format_of_path(row[i].path),
				 row[i].format);
	/* The message is about the format that the file's name suggests. */
	shard_fill(&shard, 1, 1000);
	fd = shard_file(&shard);
	fail_reset();
	assert_int_equal(index_open_fd(&index, fd, "a.tar", INDEX_ANY, 0),
			 CODE_DEVICE);
	assert_string_equal(fail_message(),
			    "'a.tar', byte 0: the checksum of a header is wrong");
	close(fd);
	/* A file without samples is told by its name alone. */
	shard.length = 0;
	fd = shard_file(&shard);
	fail_reset();
	assert_int_equal(index_open_fd(&index, fd, "x-train.tfrecord-00001-of-00002", INDEX_ANY,
				       0), 0);
	assert_int_equal(index.format, INDEX_TFRECORD);
	assert_int_equal(index.samples, 0);
	index_free(&index);
	close(fd);
	shard_free(&shard);
}

/* Returns whether the content or the name of a file tells that it is a shard. */
static bool is_shard(const char *path, const void *bytes, size_t length,
		     enum index_format format)
{
	struct shard shard = { 0 };
	struct shard_index index;
	bool damaged;
	int fd;

	shard_put(&shard, bytes, length);
	fd = shard_file(&shard);
	fail_reset();
	damaged = index_open_fd(&index, fd, path, format, 0);
	assert_int_equal(index.damaged, damaged);
	index_free(&index);
	fail_reset();
	close(fd);
	shard_free(&shard);
	return !damaged || index_name_claims(path, format);
}

/* Files that writers leave beside shards are no shards; a name tells a damaged or empty shard. */
static void beside_shards(void **state)
{
	struct shard shard = { 0 };

	(void)state;
	assert_false(is_shard("index.json", "{\"shards\": []}", 14, INDEX_ANY));
	assert_false(is_shard("_SUCCESS", "", 0, INDEX_ANY));
	assert_false(is_shard(".part-00000-x.snappy.parquet.crc", "crc\0\0\0\2\0\0\0\0\0", 12,
			      INDEX_ANY));
	assert_false(is_shard("dataset_info.json", "{}", 2, INDEX_ANY));
	assert_false(is_shard("index.json", "{}", 2, INDEX_MDS));
	assert_true(is_shard("a.tar", "damaged", 7, INDEX_ANY));
	assert_true(is_shard("a.tar", "damaged", 7, INDEX_TAR));
	assert_true(is_shard("x.tfrecord-00001-of-00002", "", 0, INDEX_ANY));
	assert_false(is_shard("a.tar", "damaged", 7, INDEX_MDS));
	shard_tar_file(&shard, "a.x", 1);
	assert_true(is_shard("a", shard.bytes, shard.length, INDEX_ANY));
	assert_true(is_shard("a", shard.bytes, shard.length, INDEX_TAR));
	assert_false(is_shard("a", shard.bytes, shard.length, INDEX_NPZ));
	/* The first member of a zip file tells whether it is npz. */
	shard.length = 0;
	shard_npz(&shard, 1, false);
	assert_true(is_shard("a", shard.bytes, shard.length, INDEX_ANY));
	memcpy(shard.bytes + 30, "document.xml", 12);
	assert_false(is_shard("a.docx", shard.bytes, shard.length, INDEX_ANY));
	assert_true(is_shard("a.npz", shard.bytes, shard.length, INDEX_ANY));
	assert_false(is_shard("a.zip", "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22, INDEX_ANY));
	assert_true(is_shard("a.npz", "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22, INDEX_ANY));
	assert_false(is_shard("a.zip", "PK\3\4", 4, INDEX_ANY));
	shard_free(&shard);
}

static void compressed(void **state)
{
	static const struct {
		const char *magic, *name;
		size_t bytes;
	} row[] = {
		{ "\x1f\x8b\x08", "gzip", 3 }, { "\x78\x9c", "zlib", 2 },
		{ "\x28\xb5\x2f\xfd", "zstd", 4 }, { "BZh9", "bzip2", 4 },
		{ "\xfd" "7zXZ", "xz", 6 }, { "\x04\x22\x4d\x18", "lz4", 4 },
		{ "\xff\x06\0\0sNaPpY", "snappy", 10 },
	};
	struct shard shard = { 0 };
	enum index_format format;
	char what[32];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		shard.length = 0;
		shard_put(&shard, row[i].magic, row[i].bytes);
		shard_fill(&shard, 1, 5000);
		snprintf(what, sizeof(what), "compressed (%s)", row[i].name);
		for (format = INDEX_ANY; format < INDEX_FORMATS; format++)
			refused(&shard, format, 0, what);
	}
	shard_free(&shard);
}

/* Refused: paths that are no regular file, and files of no known format. */
static void other_files(void **state)
{
	char pipe[] = "/tmp/test_index.XXXXXX";
	struct shard_index index;
	struct shard shard = { 0 };

	(void)state;
	fail_reset();
	assert_int_equal(index_open(&index, "/nowhere", INDEX_ANY, 0),
			 CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "cannot open '/nowhere'"));
	fail_reset();
	assert_int_equal(index_open(&index, "/tmp", INDEX_ANY, 0),
			 CODE_DEVICE);
	assert_string_equal(fail_message(), "'/tmp' is not a regular file");
	/* Opening a FIFO without a writer must not block. */
	close(mkstemp(pipe));
	unlink(pipe);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	fail_reset();
	assert_int_equal(index_open(&index, pipe, INDEX_ANY, 0), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "is not a regular file"));
	unlink(pipe);
	refused(&shard, INDEX_ANY, 0, "the file is empty");
	shard_fill(&shard, 0, 1);
	refused(&shard, INDEX_ANY, 0, "unknown format");
	shard_fill(&shard, 0, 20000);
	refused(&shard, INDEX_ANY, 0, "unknown format");
	shard_free(&shard);
}

static void check_is_for_tfrecord(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;

	(void)state;
	make(&shard, INDEX_MDS);
	assert_int_equal(take_as(&shard, &index, INDEX_ANY, INDEX_CHECK), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "'shard' has format mds"));
	index_free(&index);
	shard_free(&shard);
}

/* A read that fails or meets the end of the file is an error.  An interrupted read is repeated. */
static void bad_reads(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;
	enum index_format i;
	unsigned int all, n;

	(void)state;
	for (i = INDEX_ANY + 1; i < INDEX_FORMATS; i++) {
		make(&shard, i);
		reset();
		take(&shard, &index, i);
		index_free(&index);
		all = reads;
		for (n = 1; n <= all; n++) {
			reset();
			bad_read = n;
			how = BROKEN;
			assert_int_equal(take_as(&shard, &index, INDEX_ANY,
						 false), CODE_DEVICE);
			assert_non_null(strstr(fail_message(),
					       "cannot read 'shard' at byte"));
			assert_null(strstr(fail_message(), "moreover"));
			index_free(&index);
			reset();
			bad_read = n;
			how = ENDS;
			assert_int_equal(take_as(&shard, &index, INDEX_ANY,
						 false), CODE_DEVICE);
			assert_non_null(strstr(fail_message(), "became shorter"));
			index_free(&index);
			reset();
			bad_read = n;
			how = INTERRUPTED;
			take(&shard, &index, i);
			index_free(&index);
		}
		reset();
		how = SHORT;
		take(&shard, &index, i);
		index_free(&index);
	}
	reset();
	shard_free(&shard);
}

/* Return a file descriptor: @first, then a hole, then @last at @offset. */
static int with_hole(const struct shard *first, const struct shard *last,
		     uint64_t offset)
{
	int fd = shard_file(first);

	assert_int_equal(pwrite(fd, last->bytes, last->length, (off_t)offset),
			 last->length);
	return fd;
}

/* A member of 1 TiB, with a binary size field: the reader skips it and reads only headers. */
static void large_tar(void **state)
{
	struct shard first = { 0 }, last = { 0 };
	struct shard_index index;
	int fd;

	(void)state;
	shard_tar_header(&first, "a.bin", '0', 0);
	memcpy(first.bytes + SHARD_TAR_SIZE, "\x80\0\0\0\0\0\1\0\0\0\0\0", 12);
	shard_tar_seal(first.bytes);
	shard_tar_file(&last, "b.bin", 10);
	shard_tar_end(&last);
	fd = with_hole(&first, &last, (1ULL << 40) + 512);
	reset();
	fail_reset();
	assert_int_equal(index_open_fd(&index, fd, "large", INDEX_ANY, 0), 0);
	assert_int_equal(index.samples, 2);
	sample_is(&index, 0, "a", 0, (1ULL << 40) + 512);
	sample_is(&index, 1, "b", (1ULL << 40) + 512, 1024);
	assert_true(bytes_read <= 4 * 4096);
	index_free(&index);
	close(fd);
	shard_free(&first);
	shard_free(&last);
}

/* zip64: a single array of 6 GiB, with the directory behind it. */
static void large_npz(void **state)
{
	const uint64_t more = 6ULL << 30;
	struct shard first = { 0 }, last = { 0 };
	struct shard_index index;
	size_t end64;
	int fd;

	(void)state;
	shard_npz(&first, 1, true);
	/* Split the file behind the local header (62 bytes) and the data (10 bytes). */
	shard_put(&last, first.bytes + 72, first.length - 72);
	first.length = 72;
	shard_set_le(&last, 46 + 12 + 6 + 4, more, 8);
	shard_set_le(&last, 46 + 12 + 6 + 12, more, 8);
	end64 = 46 + 12 + 34;
	shard_set_le(&last, end64 + 48, 62 + more, 8);
	shard_set_le(&last, end64 + 56 + 8, 62 + more + end64, 8);
	fd = with_hole(&first, &last, 62 + more);
	reset();
	fail_reset();
	if (index_open_fd(&index, fd, "large", INDEX_ANY, 0))
		fail_msg("%s", fail_message());
	assert_int_equal(index.samples, 1);
	sample_is(&index, 0, "array-00.npy", 0, 62 + more);
	assert_int_equal(index.range[1].offset, 62 + more);
	assert_true(bytes_read < 10 * 4096);
	index_free(&index);
	close(fd);
	shard_free(&first);
	shard_free(&last);
}

/* The reader reads single pages if the next header is far away, and larger pieces if it is near. */
static void few_reads(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;
	unsigned int i;

	(void)state;
	for (i = 0; i < 50; i++)
		shard_tfrecord(&shard, 100000);
	reset();
	take(&shard, &index, INDEX_TFRECORD);
	assert_true(bytes_read <= 51 * 8192);
	index_free(&index);
	shard.length = 0;
	for (i = 0; i < 20000; i++)
		shard_tfrecord(&shard, 100);
	reset();
	take(&shard, &index, INDEX_TFRECORD);
	assert_true(reads < 60);
	index_free(&index);
	shard_free(&shard);
}

/* A file with one sample or part more than the limit is refused, before memory is allocated. */
static void too_many(void **state)
{
	struct shard_index index = { .samples = INDEX_SAMPLES_MAX };
	struct index_scan scan = { .path = "shard", .index = &index };

	(void)state;
	fail_reset();
	assert_int_equal(scan_add_sample(&scan, INDEX_NO_NAME, 7, 1), CODE_DEVICE);
	assert_string_equal(fail_message(),
			    "'shard', byte 7: more than 100000000 samples");
	index.parts = INDEX_SAMPLES_MAX;
	fail_reset();
	assert_int_equal(scan_add_part(&scan, 0, 7, 1), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "more than 100000000 parts"));
	assert_null(index.sample);
	assert_null(index.part);
}

/* scan_has() is false if offset + length overflows: both may come from a damaged file. */
static void has(void **state)
{
	const struct index_scan scan = { .size = 100 };

	(void)state;
	assert_true(scan_has(&scan, 0, 100) && scan_has(&scan, 100, 0));
	assert_false(scan_has(&scan, 0, 101) || scan_has(&scan, 101, 0));
	assert_false(scan_has(&scan, 90, UINT64_MAX - 10));
	assert_false(scan_has(&scan, UINT64_MAX - 10, 90));
}

static void make_named(struct shard *shard)
{
	static const char *const name[] = {
		"a.x", "b.x", "12.x", "a.x", "0-1.x", "x=y.x"
	};
	unsigned int i;

	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		shard_tar_file(shard, name[i], 1);
	shard_tar_end(shard);
}

static void choose(void **state)
{
	/* A list, the expected samples as bits, and the number of spans. */
	static const struct {
		const char *list;
		unsigned int samples, spans;
	} row[] = {
		{ "0", 1, 1 }, { "5", 32, 1 }, { "0-5", 63, 1 },
		{ "4,0-1", 1 | 2 | 16, 2 }, { "2-3,0-2,1", 15, 1 },
		{ "5,3,1", 2 | 8 | 32, 3 }, { "1,1,1", 2, 1 },
		{ "a", 1 | 8, 2 }, { "b,a", 1 | 2 | 8, 2 }, { "=12", 4, 1 },
		{ "=0-1", 16, 1 }, { "\\\\x61", 1 | 8, 2 }, { "\\x\\x3dy", 32, 1 },
		{ "b,\\\\x61", 1 | 2 | 8, 2 }, { "x=y,=x=y", 32, 1 }, { "0-0,=a", 1 | 8, 2 },
	};
	struct index_selection selection;
	struct shard shard = { 0 };
	struct shard_index index;
	unsigned int i, found;
	uint64_t s, n;

	(void)state;
	make_named(&shard);
	take(&shard, &index, INDEX_TAR);
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		fail_reset();
		if (index_select(&selection, &index, "shard", row[i].list))
			fail_msg("%s: %s", row[i].list, fail_message());
		found = 0;
		for (s = 0; s < selection.spans; s++)
			for (n = selection.span[s].first;
			     n < selection.span[s].end; n++)
				found |= 1U << n;
		assert_int_equal(found, row[i].samples);
		assert_int_equal(selection.spans, row[i].spans);
		index_select_free(&selection);
	}
	index_free(&index);
	shard_free(&shard);
}

static void choose_wrongly(void **state)
{
	static const struct {
		const char *list, *what;
	} row[] = {
		{ "6", "'shard' has samples 0 to 5; to select a sample of that name write '=6'" },
		{ "12", "write '=12'" }, { "0-6", "'0-6': 'shard' has samples" },
		{ "3-2", "'3-2': the range ends before it begins" },
		{ "99999999999999999999999999999999", "has samples 0 to 5" },
		{ "0-18446744073709551615", "has samples 0 to 5" },
		{ "18446744073709551616", "has samples 0 to 5" },
		{ "", "is empty" }, { "0,", "is empty" }, { ",0", "is empty" },
		{ "0,,1", "is empty" }, { "c", "'c': 'shard' has no sample of this name" },
		{ "=", "no sample of this name" }, { "=1", "'=1': 'shard' has no" },
		{ "0-", "'0-': 'shard' has no sample" }, { "-1", "'-1'" },
		{ "1-2-3", "'1-2-3'" }, { "007", "'007': 'shard' has no sample" },
		{ "0-01", "'0-01'" }, { "0x1", "'0x1'" }, { " 0", "' 0'" },
		{ "0,1,d", "'d'" }, { "\\a\\", "write '=\\a\\'" }, { "\\a", "no sample of this name" },
		{ "=\\a", "no sample of this name" }, { "aa", "'aa'" }, { "+1", "'+1'" },
	};
	struct index_selection selection;
	struct shard shard = { 0 };
	struct shard_index index;
	unsigned int i;

	(void)state;
	make_named(&shard);
	take(&shard, &index, INDEX_TAR);
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		fail_reset();
		assert_int_equal(index_select(&selection, &index, "shard",
					      row[i].list), CODE_USAGE);
		if (!strstr(fail_message(), row[i].what))
			fail_msg("'%s': %s", row[i].list, fail_message());
		index_select_free(&selection);
	}
	index_free(&index);
	shard.length = 0;
	shard_mds(&shard, 0);
	take(&shard, &index, INDEX_MDS);
	assert_int_equal(index_select(&selection, &index, "shard", "0"),
			 CODE_USAGE);
	assert_non_null(strstr(fail_message(), "'shard' has no samples"));
	index_select_free(&selection);
	index_free(&index);
	shard_free(&shard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_by_content),
		cmocka_unit_test(told_by_name),
		cmocka_unit_test(beside_shards),
		cmocka_unit_test(compressed),
		cmocka_unit_test(other_files),
		cmocka_unit_test(check_is_for_tfrecord),
		cmocka_unit_test(bad_reads),
		cmocka_unit_test(large_tar),
		cmocka_unit_test(large_npz),
		cmocka_unit_test(few_reads),
		cmocka_unit_test(too_many),
		cmocka_unit_test(has),
		cmocka_unit_test(choose),
		cmocka_unit_test(choose_wrongly),
	};

	return RUN(tests);
}
