// SPDX-License-Identifier: GPL-2.0-only
/* record_file.c, record_lines.c: a change appends to the record; a crash leaves a readable one. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "pins/pin_list.h"
#include "unit.h"

#define K	1024ULL
#define RECORD	PINS_DIR "/nc.json"
#define OLD	"{\"schema\":1,\"uuid\":\"u1\",\"pins\":[{\"path\":\"/a\",\"label\":\"l\"," \
		"\"wants\":\"pin\",\"priority\":0,\"expires\":0,\"load\":true,"	\
		"\"index_only\":false,\"ranges\":[[0,512],[1024,512]]}]}"

static struct pins pins;

static struct pin *add(const char *path, uint64_t start)
{
	struct pin like = { .label = "l", .flags = NEARCACHE_RANGE_PIN };
	struct range range[] = { { start, K }, { start + 2 * K, K } };
	struct shard shard = { .range = range, .ranges = 2 };
	struct pin *pin = pins_append(&pins, &like, path);

	assert_int_equal(pin_place(pin, &shard), 0);
	return pin;
}

static void load(size_t count)
{
	pins_free(&pins);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(pins.count, count);
}

static struct stat status(void)
{
	struct stat st;

	assert_int_equal(stat(RECORD, &st), 0);
	return st;
}

static int teardown(void **state)
{
	(void)state;
	pins_free(&pins);
	unlink(RECORD);
	rmdir(PINS_DIR);
	return 0;
}

/* All fields and odd names survive; so does a pin that lost one of its ranges. */
static void same_after_writing(void **state)
{
	static const char odd[] = "/data/\"a\"\\n=b\t\n\xff.tar";
	struct nl_range which = { .range = { 0, K } };
	struct spans spans;
	struct pin *pin;

	(void)state;
	strcpy(pins.owner.uuid, "u1");
	strcpy(pins.owner.attached, "u2");
	strcpy(pins.owner.origin_id, "wwid:eui.1");
	pin = add(odd, 0);
	pin->samples = strdup("1,2");
	pin->format = INDEX_TAR;
	pin->expires = 1000;
	pin->priority = 3;
	pin->load = pin->index_only = pin->concatenated = pin->part = true;
	add(NULL, 16 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	load(2);
	assert_string_equal(pins.owner.uuid, "u1");
	assert_string_equal(pins.owner.attached, "u2");
	assert_string_equal(pins.owner.origin_id, "wwid:eui.1");
	pin = pins.pin;
	assert_string_equal(pin->path, odd);
	assert_string_equal(pin->samples, "1,2");
	assert_int_equal(pin->format, INDEX_TAR);
	assert_int_equal(pin->expires, 1000);
	assert_int_equal(pin->priority, 3);
	assert_true(pin->load && pin->index_only && pin->concatenated && pin->part);
	assert_null(pins.pin[1].path);
	assert_int_equal(pins.pin[1].range[1].start, 18 * K);
	assert_int_equal(spans_make(&spans, &which, 1), 0);
	pins_drop(&pins, &spans);
	spans_free(&spans);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	load(2);
	assert_int_equal(pins.pin[1].ranges, 1);
	assert_int_equal(pins.pin[1].range[0].start, 2 * K);
}

/* One pin more costs one line, however many are recorded; many dropped pins lead to a new file. */
static void appended(void **state)
{
	struct stat before, after;
	char path[32];
	size_t i;

	(void)state;
	for (i = 0; i < 5000; i++) {
		snprintf(path, sizeof(path), "/data/%zu", i);
		add(path, i * 4 * K);
	}
	assert_int_equal(pins_save(&pins, "nc"), 0);
	load(5000);
	before = status();
	add("/data/more", 0);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	after = status();
	assert_int_equal(after.st_ino, before.st_ino);
	assert_in_range(after.st_size - before.st_size, 10, 200);
	load(5001);
	pins.pin[4].dropped = true;
	assert_int_equal(pins_prepare(&pins, "nc"), 0);
	pins_abandon(&pins, "nc");
	assert_int_equal(status().st_size, after.st_size);
	load(5001);
	for (i = 0; i < 1000; i++)
		pins.pin[i].dropped = true;
	assert_int_equal(pins_save(&pins, "nc"), 0);
	assert_int_equal(status().st_ino, before.st_ino);
	load(4001);
	for (i = 0; i < 3000; i++)
		pins.pin[i].dropped = true;
	assert_int_equal(pins_save(&pins, "nc"), 0);
	load(1001);
	add("/data/last", 0);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	assert_true(status().st_size < before.st_size / 2);
	load(1002);
	for (i = 0; i < pins.count; i++)
		pins.pin[i].dropped = true;
	assert_int_equal(pins_save(&pins, "nc"), 0);
	assert_int_equal(access(RECORD, F_OK), -1);
}

/* Cut the record, in which the pin of "/a" ends at @before: only that counts. */
static void cut_at(size_t cut, size_t before)
{
	assert_int_equal(truncate(RECORD, (off_t)cut), 0);
	load(1);
	assert_string_equal(pins.pin[0].path, "/a");
	assert_int_equal(pins.file.torn, cut - before);
}

/* A crash cuts the last change anywhere, or leaves zeroes in it: the record before it counts. */
static void torn(void **state)
{
	size_t before, whole, cut;
	FILE *file;

	(void)state;
	add("/a", 0);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	before = status().st_size;
	load(1);
	add("/b", 8 * K);
	pins.pin[0].dropped = true;
	assert_int_equal(pins_save(&pins, "nc"), 0);
	whole = status().st_size;
	load(1);
	assert_string_equal(pins.pin[0].path, "/b");
	for (cut = whole - 1; cut > before; cut--)
		cut_at(cut, before);
	/* A part of the change was not written. */
	add("/b", 8 * K);
	pins.pin[0].dropped = true;
	assert_int_equal(pins_save(&pins, "nc"), 0);
	assert_int_equal(status().st_size, whole);
	file = fopen(RECORD, "r+");
	fseek(file, (long)before + 3, SEEK_SET);
	fputc(0, file);
	fclose(file);
	for (cut = whole; cut > before; cut--)
		cut_at(cut, before);
	assert_int_equal(truncate(RECORD, (off_t)whole), 0);
	load(1);
	add("/c", 16 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	load(2);
	assert_int_equal(pins.file.torn, 0);
	/* A damaged change with a valid one behind it is no crash. */
	file = fopen(RECORD, "r+");
	fseek(file, (long)before - 20, SEEK_SET);
	fputc('x', file);
	fclose(file);
	pins_free(&pins);
	assert_int_equal(pins_load(&pins, "nc"), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "a checksum is wrong"));
	fail_reset();
}

/* Another command wrote the record after this one had read it. */
static void changed_meanwhile(void **state)
{
	size_t bytes;

	(void)state;
	add("/a", 0);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	load(1);
	add("/b", 8 * K);
	assert_int_equal(truncate(RECORD, status().st_size + 9), 0);
	bytes = status().st_size;
	assert_int_equal(pins_save(&pins, "nc"), CODE_BUSY);
	assert_non_null(strstr(fail_message(), "'" RECORD "' has changed since"));
	fail_reset();
	assert_int_equal(status().st_size, bytes);
}

/* A record of schema 1 is read, and written as schema 2 with the next change. */
static void old(void **state)
{
	FILE *file;

	(void)state;
	assert_int_equal(mkdir(PINS_DIR, 0700), 0);
	file = fopen(RECORD, "w");
	fputs(OLD, file);
	fclose(file);
	load(1);
	assert_string_equal(pins.owner.uuid, "u1");
	add("/b", 8 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	load(2);
	assert_string_equal(pins.owner.uuid, "u1");
	assert_string_equal(pins.pin[0].path, "/a");
	assert_int_equal(pins.pin[0].range[1].start, K);
	assert_true(pins.pin[0].load);
	assert_true(pins.file.bytes);
}

#define TEST(name)	cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(same_after_writing),
		TEST(appended),
		TEST(torn),
		TEST(changed_meanwhile),
		TEST(old),
	};
	char folder[] = "/tmp/pin_record.XXXXXX";
	int failed;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	failed = RUN(tests);
	return rmdir(folder) || failed;
}
