// SPDX-License-Identifier: GPL-2.0-only
/* Fakes for tests of pins/restore.c, and the record that they begin with. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "files/operand.h"
#include "restore_unit.h"

struct fake_restore fake_restore;
struct restored restored;

int target_resolve_for(enum target_use use, const struct arguments *args,
		       const struct dm_device *dev, struct shards *shards)
{
	(void)dev;
	assert_int_equal(use, TARGET_RESTORE);
	shards->size = FAKE_BYTES;
	if (!strcmp(args->operand[1], fake_restore.folder)) {
		struct shard *shard = shards_add(shards, fake_restore.in_folder);

		shard->device = 1;
		shard_add_range(shard, 200 * K, 4 * K);
		return 0;
	}
	assert_string_equal(args->operand[1], fake_restore.file);
	return shard_add_range(shards_add(shards, fake_restore.file), fake_restore.place, 4 * K);
}

int mounted_find(struct mounted_all *all, dev_t lower)
{
	*all = (struct mounted_all){ .lower = lower };
	return 0;
}

enum file_state mounted_look(const struct mounted_all *all, const struct pin *pin, char **path)
{
	(void)all;
	(void)pin;
	*path = fake_restore.renamed_to ? strdup(fake_restore.renamed_to) : NULL;
	return fake_restore.lost;
}

bool mounted_has(const struct mounted_all *all, const char *path)
{
	(void)all;
	assert_string_equal(path, fake_restore.folder);
	return fake_restore.mounted;
}

void mounted_free(struct mounted_all *all)
{
	(void)all;
}

char *file_handle(const char *path)
{
	(void)path;
	return strdup("1:00");
}

int pin_file(struct pins *added, const struct pin *like, const struct shard *shard)
{
	return pin_place(pins_append(added, like, shard->name), shard);
}

void __wrap_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void __wrap_warn(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(fake_restore.warning, sizeof(fake_restore.warning), format, list);
	va_end(list);
}

void identity_read(dev_t number, char *id)
{
	(void)number;
	strcpy(id, fake_restore.origin_id);
}

/* Add a pin of file @path, or of a range of the device if @path is NULL. */
void want(struct pins *pins, const char *path, uint64_t start, uint64_t length)
{
	struct pin like = { .label = "l", .flags = PIN, .load = true };
	struct range range = { start, length };
	struct shard shard = { .range = &range, .ranges = 1 };

	assert_int_equal(pin_place(pins_append(pins, &like, path), &shard), 0);
}

void record(uint64_t second_bytes)
{
	struct pins pins = { 0 };

	want(&pins, fake_restore.file, 0, 4 * K);
	want(&pins, NULL, 64 * K, second_bytes);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
}

int restore_setup(void **state)
{
	(void)state;
	fake_reset("read-only 8:0 8:16");
	fake_nl_reset(FAKE_BYTES);
	fake.uuid = DM_UUID_PREFIX "u1";
	fake.origin = 1;
	fake_restore.origin_id = "";
	fake_restore.place = 0;
	fake_restore.lost = FILE_UNSURE;
	fake_restore.mounted = true;
	fake_restore.renamed_to = NULL;
	return 0;
}

int restore_teardown(void **state)
{
	(void)state;
	fake_nl_reset(0);
	unlink(RECORD);
	rmdir(PINS_DIR);
	return 0;
}

/* Write the record again; the present device becomes its owner. */
void own(void)
{
	struct dm_device dev;
	struct pins pins;

	assert_int_equal(dm_need_ours("nc", &dev), 0);
	assert_int_equal(record_open(&pins, &dev), 0);
	assert_false(pins.foreign);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	dm_device_free(&dev);
}

bool restored_of(const char *uuid, const char *id)
{
	fake_nl_reset(FAKE_BYTES);
	fake.uuid = uuid;
	fake_restore.origin_id = id;
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.count, restored.pins);
	return restored.pins;
}

/* Run the tests in a new folder, which has a file and a folder. */
int restore_run(const struct CMUnitTest *tests, size_t count)
{
	struct fake_restore *fake = &fake_restore;
	char folder[] = "/tmp/restore.XXXXXX";
	int failed;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	snprintf(fake->file, sizeof(fake->file), "%s/file", folder);
	fclose(fopen(fake->file, "w"));
	snprintf(fake->folder, sizeof(fake->folder), "%s/folder", folder);
	snprintf(fake->in_folder, sizeof(fake->in_folder), "%s/folder/new", folder);
	mkdir(fake->folder, 0700);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
	unlink(fake->file);
	rmdir(fake->folder);
	return rmdir(folder) || failed;
}
