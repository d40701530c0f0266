// SPDX-License-Identifier: GPL-2.0-only
/* shard/tar.c: samples in archives, also of GNU tar and Python; damaged archives are refused. */
#include <fcntl.h>
#include <stdlib.h>

#include "index_unit.h"
#include "shard/tar_header.h"

static void samples(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;

	(void)state;
	shard_tar_header(&shard, "d/", TAR_DIRECTORY, 0);
	shard_tar_file(&shard, "d/a.jpg", 1000);
	shard_tar_file(&shard, "d/a.seg.png", 512);
	/* Ignored members (files without a dot, links) do not end the sample around them. */
	shard_tar_file(&shard, "d/README", 10);
	shard_tar_header(&shard, "d/a.link", TAR_SOFT_LINK, 0);
	shard_tar_header(&shard, "d/a.hard", TAR_HARD_LINK, 1000);
	shard_tar_file(&shard, "d/a.txt", 0);
	shard_tar_file(&shard, "d/b.jpg", 1);
	shard_tar_file(&shard, "d.x/b.", 1);
	shard_tar_file(&shard, "d/b.jpg", 1);
	shard_tar_end(&shard);
	take(&shard, &index, INDEX_TAR);
	assert_int_equal(index.samples, 4);
	assert_int_equal(index.parts, 6);
	assert_int_equal(index.ranges, 0);
	sample_is(&index, 0, "d/a", 512, 1536 + 1024 + 1024 + 512 + 512 + 512);
	part_is(&index, 0, "d/a.jpg", 1024, 1000);
	part_is(&index, 1, "d/a.seg.png", 2560, 512);
	part_is(&index, 2, "d/a.txt", 5632, 0);
	sample_is(&index, 1, "d/b", 5632, 1024);
	sample_is(&index, 2, "d.x/b", 6656, 1024);
	sample_is(&index, 3, "d/b", 7680, 1024);
	assert_int_equal(index_parts(&index, 0), 3);
	assert_int_equal(index_parts(&index, 3), 1);
	index_free(&index);
	shard_free(&shard);
}

/* Odd names: each row is a member, and the key that base_plus_ext() of WebDataset gives it. */
static void odd_names(void **state)
{
	static const struct {
		const char *name, *key;
	} row[] = {
		{ "a.x", "a" }, { "a..x", "a" }, { "a.", "a" }, { "a", NULL }, { ".x", NULL },
		{ "..x", NULL }, { "d/.x", "d/" }, { "./.x", NULL }, { "./d/.x", "./d/" },
		{ "d.e/.x", NULL }, { "d/._a.x", "d/" }, { "d//.x", "d//" }, { "/.x", "/" },
		{ "d.e/a.x", "d.e/a" }, { "d.e/a", NULL }, { "./c.tar.gz", "./c" },
		{ "__meta__.json", "__meta__" }, { "__a.b__", NULL }, { "__a__/b.x", NULL },
		{ "d/__a__.x", "d/__a__" }, { "__a__b.x", "__a__b" }, { "____.x", "____" },
		{ "a\nb.x", "a\nb" }, { "d.e/a\nb.x", "d.e/a\nb" }, { "d.e\n/a.x", NULL },
		{ "d\n/.x", "d\n/" }, { "a b.x", "a b" }, { "\xff.x", "\xff" },
	};
	struct shard shard = { 0 };
	struct shard_index index;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		shard.length = 0;
		shard_tar_file(&shard, row[i].name, 1);
		shard_tar_end(&shard);
		take(&shard, &index, INDEX_TAR);
		if (index.samples != !!row[i].key ||
		    (row[i].key && strcmp(index_name(&index, index.sample[0].name), row[i].key)))
			fail_msg("'%s' does not have the key '%s'", row[i].name, row[i].key);
		index_free(&index);
	}
	shard_free(&shard);
}

/* GNU and pax archives store a long name, pax also a size, in extra blocks before the member. */
static void names(void **state)
{
	char path[401], record[420];
	struct shard shard = { 0 };
	struct shard_index index;

	(void)state;
	memset(path, 'n', 400);
	memcpy(path + 396, ".jpg", 5);
	shard_tar_header(&shard, "././@LongLink", TAR_LONG_LINK, 3);
	shard_tar_body(&shard, "to", 3);
	shard_tar_header(&shard, "././@LongLink", TAR_LONG_NAME, 401);
	shard_tar_body(&shard, path, 401);
	shard_tar_file(&shard, "short", 7);
	shard_tar_pax(&shard, TAR_PAX_GLOBAL, "16 comment=none\n");
	snprintf(record, sizeof(record), "410 path=%s\n9 size=3\n", path);
	record[13] = 'p';
	shard_tar_pax(&shard, TAR_PAX, record);
	shard_tar_header(&shard, "short", TAR_FILE, 0);
	shard_tar_body(&shard, "abc", 3);
	shard_tar_pax(&shard, TAR_PAX_SUN, "9 size=3\n8 size=\n8 path=\n");
	shard_tar_file(&shard, "c.txt", 600);
	shard_tar_end(&shard);
	take(&shard, &index, INDEX_TAR);
	assert_int_equal(index.samples, 3);
	part_is(&index, 0, path, 1024 + 1024 + 512, 7);
	path[4] = 'p';
	part_is(&index, 1, path, 3072 + 1024 + 1024 + 512, 3);
	/* A sample begins with the pax header of its first member. */
	sample_is(&index, 2, "c", 6144, 1024 + 512 + 1024);
	part_is(&index, 2, "c.txt", 7680, 600);
	index_free(&index);
	shard_free(&shard);
}

/* A ustar header has a prefix of the name, GNU headers have other fields there, v7 has no magic. */
static void magics(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;
	size_t at;

	(void)state;
	at = shard_tar_header(&shard, "b.x", TAR_FILE, 0);
	memcpy(shard.bytes + at + 345, "some/where", 10);
	shard_tar_seal(shard.bytes + at);
	at = shard_tar_header(&shard, "c.x", TAR_CONTIGUOUS, 0);
	memcpy(shard.bytes + at + SHARD_TAR_MAGIC, "ustar  ", 8);
	memcpy(shard.bytes + at + 345, "some/where", 10);
	shard_tar_seal(shard.bytes + at);
	at = shard_tar_header(&shard, "d.x", TAR_FILE_OLD, 0);
	memset(shard.bytes + at + SHARD_TAR_MAGIC, 0, 8);
	shard_tar_seal(shard.bytes + at);
	at = shard_tar_header(&shard, "e/", TAR_FILE_OLD, 0);
	/* A name of 100 bytes has no NUL behind it; with prefix and slash it has 256 bytes. */
	at = shard_tar_header(&shard, "", TAR_FILE, 0);
	memset(shard.bytes + at, 'f', 100);
	shard.bytes[at + 90] = '.';
	memset(shard.bytes + at + 345, 'p', 155);
	shard_tar_seal(shard.bytes + at);
	/* A member of unknown type is skipped. */
	at = shard_tar_header(&shard, "g.x", 'V', 5);
	shard_fill(&shard, 'x', 512);
	shard_tar_end(&shard);
	take(&shard, &index, INDEX_TAR);
	assert_int_equal(index.samples, 4);
	part_is(&index, 0, "some/where/b.x", 512, 0);
	part_is(&index, 1, "c.x", 1024, 0);
	part_is(&index, 2, "d.x", 1536, 0);
	assert_int_equal(strlen(index_name(&index, index.part[3].name)), 256);
	index_free(&index);
	shard_free(&shard);
}

/* Some writers sum signed bytes for the checksum: that is accepted. */
static void signed_checksum(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;
	int i, sum = 8 * ' ';

	(void)state;
	shard_tar_header(&shard, "\xc3\xa4.x", TAR_FILE, 0);
	shard_tar_end(&shard);
	memset(shard.bytes + 148, 0, 8);
	for (i = 0; i < 512; i++)
		sum += (signed char)shard.bytes[i];
	snprintf((char *)shard.bytes + 148, 8, "%06o", sum);
	take(&shard, &index, INDEX_TAR);
	assert_int_equal(index.samples, 1);
	index_free(&index);
	shard_free(&shard);
}

/* Put @field into the size field of the first header; expect refusal with reason @why. */
static void size_refused(const void *field, const char *why)
{
	struct shard shard = { 0 };

	shard_tar_file(&shard, "a", 1);
	shard_tar_end(&shard);
	memcpy(shard.bytes + SHARD_TAR_SIZE, field, 12);
	shard_tar_seal(shard.bytes);
	refused(&shard, INDEX_ANY, 0, why);
	shard_free(&shard);
}

static void sizes(void **state)
{
	(void)state;
	size_refused("0000000000x", "is not an octal number");
	size_refused("00000000009", "is not an octal number");
	size_refused("77777777777", "8589934591 bytes reaches beyond the end");
	size_refused("777777777777", "68719476735 bytes reaches");
	size_refused("00000004001", "2049 bytes reaches beyond");
	size_refused("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "is negative");
	size_refused("\x80\0\0\0\x80\0\0\0\0\0\0\0", "does not fit in 63 bits");
	size_refused("\xbf\0\0\0\0\0\0\0\0\0\0\0", "does not fit in 63 bits");
	size_refused("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff",
		     "9223372036854775807 bytes reaches beyond");
	size_refused("\x80\0\0\0\0\0\0\0\0\0\x08\x01", "2049 bytes reaches beyond");
}

/* Begin an archive with one member, so that the next one begins at offset 1024. */
static void begin(struct shard *shard)
{
	shard->length = 0;
	shard_tar_file(shard, "a.x", 100);
}

static void refused_types(void **state)
{
	static const struct {
		char type;
		uint64_t size;
		const char *what;
	} row[] = {
		{ TAR_SPARSE, 0, "sparse" }, { TAR_CONTINUED, 0, "volume" },
		{ TAR_SOFT_LINK, 1, "type 2) with 1 bytes" },
		{ '4', 512, "type 4) with 512 bytes" },
		{ TAR_DIRECTORY, 7, "type 5) with 7 bytes" },
		{ TAR_FIFO, 7, "type 6) with 7 bytes" },
	};
	struct shard shard = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		begin(&shard);
		shard_tar_header(&shard, "b.x", row[i].type, row[i].size);
		shard_fill(&shard, 0, 512);
		shard_tar_end(&shard);
		refused(&shard, INDEX_ANY, 1024, row[i].what);
	}
	shard_free(&shard);
}

static void refused_pax(void **state)
{
	static const struct {
		char type;
		const char *records;
		uint64_t offset;
		const char *what;
	} row[] = {
		{ TAR_PAX, "22 GNU.sparse.major=1\n", 1024, "sparse" },
		{ TAR_PAX_GLOBAL, "22 GNU.sparse.major=1\n", 1024, "sparse" },
		{ TAR_PAX_GLOBAL, "9 path=x\n", 1024, "with the path of" },
		{ TAR_PAX_GLOBAL, "9 size=1\n", 1024, "with the size of" },
		{ TAR_PAX, "9 size=x\n", 1024, "size 'x' is not a number" },
		{ TAR_PAX, "11 size=-1\n", 1024, "size '-1'" },
		{ TAR_PAX, "28 size=1234567890123456789\n", 1024, "size '1234" },
		{ TAR_PAX, "27 size=999999999999999999\n", 0,
		  "999999999999999999 bytes reaches beyond" },
		{ TAR_PAX, "9 path=x\n9 path=xx\n", 1545, "not a record" },
		{ TAR_PAX, "9 path=xy", 1536, "not a record" },
		{ TAR_PAX, "9 path:x\n", 1536, "not a record" },
		{ TAR_PAX, "99999999999999999999 path=x\n", 1536, "not a record" },
		{ TAR_PAX, "0 path=x\n", 1536, "not a record" },
		{ TAR_PAX, "1 path=x\n", 1536, "not a record" },
		{ TAR_PAX, "2 \n", 1536, "not a record" },
		{ TAR_PAX, "x", 1536, "not a record" },
	};
	struct shard shard = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		begin(&shard);
		shard_tar_pax(&shard, row[i].type, row[i].records);
		shard_tar_file(&shard, "b.x", 1);
		shard_tar_end(&shard);
		refused(&shard, INDEX_ANY, row[i].offset ? row[i].offset : 2048,
			row[i].what);
	}
	shard_free(&shard);
}

/* Names of 64 KiB, and pax headers of more than 1 MiB, are refused. */
static void refused_lengths(void **state)
{
	struct shard shard = { 0 };
	char *records = malloc(65600 + 1);

	(void)state;
	begin(&shard);
	shard_tar_header(&shard, "long", TAR_LONG_NAME, 65537);
	shard_fill(&shard, 'n', 129 * 512);
	refused(&shard, INDEX_ANY, 1024, "65537 bytes of name");
	begin(&shard);
	shard_tar_header(&shard, "long", TAR_LONG_NAME, 65536);
	shard_fill(&shard, 'n', 128 * 512);
	refused(&shard, INDEX_ANY, 1024, "a name of 65536 bytes, more than");
	begin(&shard);
	shard_tar_header(&shard, "pax", TAR_PAX, (1 << 20) + 1);
	shard_fill(&shard, 'n', 2049 * 512);
	refused(&shard, INDEX_ANY, 1024, "1048577 bytes of name or attributes");
	begin(&shard);
	memset(records, 'n', 65600);
	memcpy(records, "65600 path=", 11);
	memcpy(records + 65599, "\n", 2);
	shard_tar_pax(&shard, TAR_PAX, records);
	refused(&shard, INDEX_ANY, 1024, "a name of 65588 bytes, more than");
	free(records);
	shard_free(&shard);
}

static void damaged(void **state)
{
	struct shard shard = { 0 };

	(void)state;
	begin(&shard);
	shard_tar_file(&shard, "b.x", 100);
	shard.bytes[1024] = 'c';
	refused(&shard, INDEX_ANY, 1024, "checksum");
	/* With a damaged first header the format is unknown, unless the user names it. */
	shard.bytes[0] = 'c';
	refused(&shard, INDEX_ANY, 0, "--format");
	refused(&shard, INDEX_TAR, 0, "checksum");
	/* Refused: only a part of a block in place of the end mark. */
	begin(&shard);
	shard_fill(&shard, 0, 511);
	refused(&shard, INDEX_ANY, 1024, "ends at 1535: was it cut off?");
	/* Refused: files that end in the data of a member, or in its padding. */
	begin(&shard);
	shard.length = 512 + 99;
	refused(&shard, INDEX_ANY, 0, "100 bytes reaches beyond the end of the file at 611");
	shard.length = 512 + 100;
	refused(&shard, INDEX_ANY, 0, "at 612: was it cut off?");
	begin(&shard);
	shard_tar_pax(&shard, TAR_PAX, "9 path=x\n");
	shard_tar_end(&shard);
	refused(&shard, INDEX_ANY, 2048, "without its member");
	shard_free(&shard);
}

/* Without an end mark, an archive ends behind its last member, as for tar. An empty file is one. */
static void no_end(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;

	(void)state;
	begin(&shard);
	take(&shard, &index, INDEX_TAR);
	assert_int_equal(index.samples, 1);
	assert_true(index.unended);
	index_free(&index);
	shard.length = 0;
	assert_int_equal(take_as(&shard, &index, INDEX_TAR, 0), 0);
	assert_int_equal(index.samples, 0);
	assert_true(index.unended);
	index_free(&index);
	shard_free(&shard);
}

/* Several archives in one file: the first one ends the list, unless the caller asks for all. */
static void concatenated(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;
	size_t second;

	(void)state;
	begin(&shard);
	shard_fill(&shard, 0, 20 * 512);
	second = shard.length;
	shard_tar_file(&shard, "b.x", 100);
	shard_tar_end(&shard);
	take(&shard, &index, INDEX_TAR);
	assert_int_equal(index.samples, 1);
	assert_int_equal(index.rest, second);
	assert_int_equal(index_rest_bytes(&index), shard.length - second);
	index_free(&index);
	assert_int_equal(take_as(&shard, &index, INDEX_ANY, INDEX_CONCATENATED), 0);
	assert_int_equal(index.samples, 2);
	assert_int_equal(index.rest, 0);
	sample_is(&index, 1, "b", second, 1024);
	index_free(&index);
	/* Data that is no archive is damage if the caller asks for it. */
	shard.bytes[second] = 'c';
	take(&shard, &index, INDEX_TAR);
	assert_int_equal(index.rest, second);
	index_free(&index);
	assert_int_equal(take_as(&shard, &index, INDEX_ANY, INDEX_CONCATENATED), CODE_DEVICE);
	index_free(&index);
	/* Zeros behind the end mark are padding, and no more of them than PADDING_MAX are read. */
	begin(&shard);
	second = shard.length;
	shard_fill(&shard, 0, 31 << 20);
	shard_tar_file(&shard, "b.x", 100);
	assert_int_equal(take_as(&shard, &index, INDEX_ANY, INDEX_CONCATENATED), 0);
	assert_int_equal(index.samples, 2);
	assert_int_equal(index.unsearched, 0);
	index_free(&index);
	shard.length = second;
	shard_fill(&shard, 0, 33 << 20);
	shard_tar_file(&shard, "b.x", 100);
	take(&shard, &index, INDEX_TAR);
	assert_int_equal(index.rest, 0);
	assert_int_equal(index.unsearched, second + (32 << 20));
	index_free(&index);
	/* Zeros that end the file are searched to their end. */
	shard.length = second;
	shard_fill(&shard, 0, 32 << 20);
	take(&shard, &index, INDEX_TAR);
	assert_int_equal(index.unsearched, 0);
	index_free(&index);
	shard_free(&shard);
}

/* A single zero block ends the archive; data behind it is not indexed. */
static void end(void **state)
{
	struct shard shard = { 0 };
	struct shard_index index;

	(void)state;
	begin(&shard);
	shard_fill(&shard, 0, 512);
	shard_tar_file(&shard, "b.x", 100);
	take(&shard, &index, INDEX_TAR);
	assert_int_equal(index.samples, 1);
	assert_int_equal(index.rest, 1536);
	assert_false(index.unended);
	index_free(&index);
	shard.length = 0;
	shard_tar_end(&shard);
	assert_int_equal(take_as(&shard, &index, INDEX_TAR, 0), 0);
	assert_int_equal(index.samples, 0);
	index_free(&index);
	shard_free(&shard);
}

static char dir[] = "/tmp/test_index_tar.XXXXXX";

/* Make files that contain their own names; @command packs them into made.tar. */
static void make(const char *command)
{
	char all[1024];

	snprintf(all, sizeof(all),
		 "cd %s && rm -f * && for i in 0001 0002 $(printf %%0120d 7); do "
		 "for e in cls seg.jpg; do echo $i.$e >$i.$e || exit; done; done && "
		 "truncate -s 1M hole && %s", dir, command);
	if (system(all))
		fail_msg("%s", all);
}

static int open_made(void)
{
	char path[sizeof(dir) + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/made.tar", dir);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	fail_reset();
	return fd;
}

static void check_part(int fd, const struct shard_index *index, uint64_t number)
{
	const struct index_part *part = &index->part[number];
	const char *name = index_name(index, part->name);
	char data[256];

	assert_true(part->range.length < sizeof(data));
	assert_int_equal(pread(fd, data, part->range.length,
			       (off_t)part->range.offset), part->range.length);
	data[part->range.length - 1] = '\0';
	assert_string_equal(data, strncmp(name, "./", 2) ? name : name + 2);
}

static void check_made(const char *command, unsigned int samples)
{
	struct shard_index index;
	uint64_t i, end = 0;
	int fd;

	make(command);
	fd = open_made();
	if (index_open_fd(&index, fd, "made.tar", INDEX_ANY, 0))
		fail_msg("%s: %s", command, fail_message());
	assert_int_equal(index.format, INDEX_TAR);
	assert_int_equal(index.samples, samples);
	assert_int_equal(index.parts, 6);
	for (i = 0; i < index.parts; i++)
		check_part(fd, &index, i);
	for (i = 0; i < index.samples; i++) {
		assert_true(index.sample[i].range.offset >= end);
		end = index.sample[i].range.offset + index.sample[i].range.length;
	}
	index_free(&index);
	close(fd);
}

static void by_gnu_tar(void **state)
{
	(void)state;
	check_made("tar --format=gnu -cf made.tar 0*", 3);
	check_made("tar --format=gnu -cf made.tar *.cls *.jpg", 6);
	check_made("tar --format=oldgnu -cf made.tar 0*", 3);
	check_made("tar --format=pax -cf made.tar 0*", 3);
	check_made("tar --format=posix --sort=name --exclude=hole --exclude=made.tar -cf made.tar .", 3);
}

static void by_python(void **state)
{
#define PYTHON(format)							\
	"python3 -c 'import glob, tarfile\n"				\
	"with tarfile.open(\"made.tar\", \"w\", format = tarfile." format	\
	") as tar:\n for name in sorted(glob.glob(\"0*\")): tar.add(name)'"
	(void)state;
	check_made(PYTHON("GNU_FORMAT"), 3);
	check_made(PYTHON("PAX_FORMAT"), 3);
}

static void made_refused(const char *command, const char *why)
{
	struct shard_index index;
	int fd;

	make(command);
	fd = open_made();
	assert_int_equal(index_open_fd(&index, fd, "made.tar", INDEX_ANY, 0),
			 CODE_DEVICE);
	if (!strstr(fail_message(), why))
		fail_msg("%s: %s", command, fail_message());
	index_free(&index);
	close(fd);
}

static void refused_tools(void **state)
{
	(void)state;
	made_refused("tar --format=gnu -Scf made.tar 0* hole", "sparse");
	made_refused("tar --format=pax -Scf made.tar 0* hole", "sparse");
	made_refused("tar --format=pax --sparse-version=0.0 -Scf made.tar hole",
		     "sparse");
	made_refused("tar -czf made.tar 0*", "compressed (gzip)");
	made_refused("tar -cJf made.tar 0*", "compressed (xz)");
	made_refused("tar -cf made.tar 0* && truncate -s -10000 made.tar",
		     "was it cut off?");
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[sizeof(dir) + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples),
		cmocka_unit_test(odd_names),
		cmocka_unit_test(names),
		cmocka_unit_test(magics),
		cmocka_unit_test(signed_checksum),
		cmocka_unit_test(sizes),
		cmocka_unit_test(refused_types),
		cmocka_unit_test(refused_pax),
		cmocka_unit_test(refused_lengths),
		cmocka_unit_test(damaged),
		cmocka_unit_test(no_end),
		cmocka_unit_test(concatenated),
		cmocka_unit_test(end),
		cmocka_unit_test(by_gnu_tar),
		cmocka_unit_test(by_python),
		cmocka_unit_test(refused_tools),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
