// SPDX-License-Identifier: GPL-2.0-only
/* open/udev_properties.c: the properties of cache devices, logs, witnesses and other content. */
#include "block/device_sysfs.h"
#include "block/dm.h"
#include "block/probe.h"
#include "capture.h"
#include "carried_image.h"
#include "open/stage_device.h"
#include "open/udev_properties.h"
#include "open/witness.h"

static char path[] = "/tmp/test_udev_properties.XXXXXX";
static int image;

/* open/witness.c needs the functions of these macros only to claim a record. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define UNUSED(type, name, ...)	type name(__VA_ARGS__) { abort(); }
UNUSED(int, probe_content, const struct device *dev, char *what)
UNUSED(int, probe_wipe, const struct device *dev)
UNUSED(int, stage_check_overwrite, const struct device *dev)
UNUSED(int, dm_all, struct dm_device **list, size_t *count)
UNUSED(void, dm_device_free_all, struct dm_device *list, size_t count)
UNUSED(bool, identity_same_drive, dev_t a, dev_t b)
UNUSED(bool, identity_overlap, dev_t a, dev_t b)
UNUSED(bool, identity_cluster_holder, dev_t number, char *name, size_t size)
UNUSED(bool, identity_foreign_holder, dev_t number, const char *prefix, dev_t except, char *name,
       size_t size)

/* Make the image empty, with this size. */
static void empty(uint64_t bytes)
{
	if (image > 0)
		close(image);
	image = carried_open(path, bytes);
}

static const char *printed(void)
{
	struct device dev;
	int error;

	fail_reset();
	assert_int_equal(device_open_any(&dev, path, "device"), 0);
	capture();
	error = udev_properties_print(&dev);
	device_close(&dev);
	assert_int_equal(error, 0);
	return captured();
}

#define PROPERTIES(type, usage, uuid) \
	"ID_FS_TYPE=nearcache_" type "\nID_FS_USAGE=" usage "\nID_FS_VERSION=1\nID_FS_UUID=" uuid \
	"\nID_FS_UUID_ENC=" uuid "\n"
#define LABEL(text, encoded)	"ID_FS_LABEL=" text "\nID_FS_LABEL_ENC=" encoded "\n"

static void three_formats(void **state)
{
	(void)state;
	empty(CARRIED_BYTES);
	carried_cache(image, "data");
	assert_string_equal(printed(), PROPERTIES("cache", "raid", CARRIED_CACHE) LABEL("data", "data"));
	empty(CARRIED_BYTES);
	carried_log(image, "data");
	assert_string_equal(printed(), PROPERTIES("stage", "raid", CARRIED_LOG) LABEL("data", "data"));
	empty(4096);
	carried_record(image, 0, CARRIED_CACHE, NEARCACHE_WITNESS_NEW);
	assert_string_equal(printed(), PROPERTIES("witness", "other", CARRIED_CACHE));
}

static void damaged(void **state)
{
	(void)state;
	empty(CARRIED_BYTES);
	carried_cache(image, "");
	carried_damage(image, NEARCACHE_SUPER_OFFSET_0);
	assert_string_equal(printed(), PROPERTIES("cache", "raid", CARRIED_CACHE));
	carried_damage(image, NEARCACHE_SUPER_OFFSET_1);
	assert_string_equal(printed(), "");
	empty(CARRIED_BYTES);
	carried_log(image, "");
	carried_damage(image, NEARCACHE_STAGE_SUPER_OFFSET_0);
	assert_string_equal(printed(), PROPERTIES("stage", "raid", CARRIED_LOG));
	carried_damage(image, NEARCACHE_STAGE_SUPER_OFFSET_1);
	assert_string_equal(printed(), "");
	/* The device is now smaller than its superblock says. */
	empty(CARRIED_BYTES);
	carried_cache(image, "");
	assert_int_equal(ftruncate(image, 1 << 20), 0);
	assert_string_equal(printed(), "");
}

static void records(void **state)
{
	(void)state;
	empty(1 << 20);
	carried_record(image, 3, CARRIED_OTHER, NEARCACHE_WITNESS_MOVED);
	assert_string_equal(printed(), "");
	carried_record(image, 63, CARRIED_CACHE, NEARCACHE_WITNESS_ENDED);
	assert_string_equal(printed(), PROPERTIES("witness", "other", CARRIED_CACHE));
	carried_damage(image, 63 * NEARCACHE_WITNESS_SIZE);
	assert_string_equal(printed(), "");
	carried_record(image, 64, CARRIED_CACHE, NEARCACHE_WITNESS_NEW);
	assert_string_equal(printed(), "");
}

/* A hostile label must not add a property; the encoded one is safe as the name of a file. */
static void hostile_label(void **state)
{
	(void)state;
	empty(CARRIED_BYTES);
	carried_cache(image, "a b\nX=1\"$(x)\\\x01\xff/../");
	assert_string_equal(printed(), PROPERTIES("cache", "raid", CARRIED_CACHE)
			    LABEL("a_b_X=1\"$(x)\\\x01_/../",
				  "a\\x20b\\x0aX=1\\x22\\x24\\x28x\\x29\\x5c\\x01\\xff\\x2f..\\x2f"));
}

static void nothing(void **state)
{
	static const uint64_t sizes[] = { 0, 512, 4095, 8192, CARRIED_BYTES };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		empty(sizes[i]);
		assert_string_equal(printed(), "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_formats),
		cmocka_unit_test(damaged),
		cmocka_unit_test(records),
		cmocka_unit_test(hostile_label),
		cmocka_unit_test(nothing),
	};
	int failed;

	close(mkstemp(path));
	failed = RUN(tests);
	unlink(path);
	return failed;
}
