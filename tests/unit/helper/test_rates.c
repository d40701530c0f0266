// SPDX-License-Identifier: GPL-2.0-only
/* cmd/rates.c, cmd/device_samples.c and block/device_age.c: rates since a sample, or since the open. */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "block/device_age.h"
#include "block/device_sysfs.h"
#include "capture.h"
#include "cmd/rates.h"
#include "lib/print.h"
#include "ondisk/print_superblock.h"

#define SECOND	1000000000ULL
#define MIB	(1ULL << 20)

/* Fakes: the clock, and one device. */
static uint64_t clock_now;
static struct status present;

uint64_t watch_now(void)
{
	return clock_now;
}

/* Sectors that were read and written through the device since it was made. */
static uint64_t sectors;

bool identity_attribute(dev_t number, const char *attribute, char *value, size_t size)
{
	(void)number;
	assert_string_equal(attribute, "stat");
	snprintf(value, size, "1 0 %llu 0 1 0 %llu 0 0 0 0", (unsigned long long)(sectors - sectors / 4),
		 (unsigned long long)(sectors / 4));
	return true;
}

int describe_status(const struct dm_device *dev, struct status *status)
{
	(void)dev;
	*status = present;
	return 0;
}

int dm_need_ours(const char *name, struct dm_device *dev)
{
	*dev = (struct dm_device){ .status = (char *)"" };
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	return 0;
}

int dm_all(struct dm_device **list, size_t *count)
{
	*count = 1;
	*list = calloc(1, sizeof(**list));
	return dm_need_ours("nc", *list);
}

void dm_device_free(struct dm_device *dev)
{
	(void)dev;
}

void dm_device_free_all(struct dm_device *list, size_t count)
{
	(void)count;
	free(list);
}

static struct json_object *rates(const struct device_samples *earlier, bool json)
{
	struct dm_device dev;
	const char *output;

	dm_need_ours("nc", &dev);
	dev.number = makedev(253, 7);
	capture();
	print_start(json);
	rates_print(&dev, &present, earlier);
	print_finish();
	output = captured();
	return json ? json_tokener_parse(output) : json_object_new_string(output);
}

static uint64_t number(struct json_object *root, const char *key)
{
	return json_object_get_uint64(member(root, key));
}

static void since_sample(void **state)
{
	struct arguments args = { 0 };
	struct device_samples earlier;
	struct json_object *root;

	(void)state;
	fail_reset();
	clock_now = 100 * SECOND;
	present = (struct status){ 0 };
	present.counter[NEARCACHE_COUNTER_HIT_BYTES] = 1000 * MIB;
	present.counter[NEARCACHE_COUNTER_WRITE_BYTES] = 50 * MIB;
	assert_int_equal(device_samples_take(&args, &earlier), 0);
	clock_now += 2 * SECOND;
	present.counter[NEARCACHE_COUNTER_HIT_BYTES] += 200 * MIB;
	present.counter[NEARCACHE_COUNTER_MISS_BYTES] += 24 * MIB;
	present.counter[NEARCACHE_COUNTER_FILL_ORIGIN_BYTES] += 24 * MIB;
	/* The counter began again: its value is the growth. */
	present.counter[NEARCACHE_COUNTER_WRITE_BYTES] = 8 * MIB;
	root = rates(&earlier, true);
	assert_int_equal(number(root, "read_bytes_per_s"), 112 * MIB);
	assert_int_equal(number(root, "origin_bytes_per_s"), 12 * MIB);
	assert_int_equal(number(root, "write_bytes_per_s"), 4 * MIB);
	assert_int_equal(number(root, "rates_span_ns"), 2 * SECOND);
	json_object_put(root);
	root = rates(&earlier, false);
	assert_string_equal(json_object_get_string(root),
			    "rates  read 112 MiB/s, from the origin 12 MiB/s, written 4 MiB/s, in the last 2 s\n");
	json_object_put(root);
	device_samples_free(&earlier);
}

/* Without a sample the rates are averages, if udev knows when the device was made. */
static void since_open(void **state)
{
	char folder[] = "/tmp/rates.XXXXXX";
	struct device_samples none = { 0 };
	struct json_object *root;
	uint64_t age;
	FILE *record;

	(void)state;
	fail_reset();
	clock_now = 10000 * SECOND;
	present = (struct status){ 0 };
	present.counter[NEARCACHE_COUNTER_HIT_BYTES] = 7200 * MIB;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	root = rates(&none, true);
	assert_null(member(root, "read_bytes_per_s"));
	assert_int_equal(number(root, "rates_span_ns"), 0);
	json_object_put(root);
	mkdir(UDEV_DATA, 0755);
	record = fopen(UDEV_DATA "/b253:7", "w");
	assert_non_null(record);
	fputs("S:mapper/nc\nI:2800000000\nE:ID_FS_TYPE=ext4\n", record);
	fclose(record);
	root = rates(&none, false);
	assert_string_equal(json_object_get_string(root),
			    "rates  read 1 MiB/s, from the origin 0 B/s, written 0 B/s, average of 2 h\n");
	json_object_put(root);
	/* The counters began after the device was made: no average. A little more is I/O in flight. */
	sectors = 7200 * MIB / 512 + 2048;
	root = rates(&none, true);
	assert_int_equal(number(root, "rates_span_ns"), 7200 * SECOND);
	json_object_put(root);
	sectors = 8000 * MIB / 512;
	root = rates(&none, true);
	assert_null(member(root, "read_bytes_per_s"));
	json_object_put(root);
	sectors = 0;
	/* A record of another boot, or of the future, says nothing. */
	assert_false(device_age(makedev(253, 7), 2800 * SECOND, &age));
	assert_false(device_age(makedev(253, 8), 10000 * SECOND, &age));
	record = fopen(UDEV_DATA "/b253:7", "w");
	fputs("S:mapper/nc\n", record);
	fclose(record);
	assert_false(device_age(makedev(253, 7), 10000 * SECOND, &age));
	unlink(UDEV_DATA "/b253:7");
	rmdir(UDEV_DATA);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(since_sample),
		cmocka_unit_test(since_open),
	};

	return RUN(tests);
}
