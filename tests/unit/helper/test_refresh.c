// SPDX-License-Identifier: GPL-2.0-only
/* pins/restore.c: a refresh follows the files of the pins, and compares record and kernel. */
#include "restore_unit.h"

/* restore_refresh() sets all pins or none, while restore() sets those that fit. */
static void refreshed(void **state)
{
	struct dm_device dev = { .name = "nc" };
	struct pins pins;

	(void)state;
	record(8 * K);
	restore("nc", NULL, &restored);
	fake_restore.place = 128 * K;
	fake_nl.available = 6 * K;
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(restore_refresh(&dev, &pins, false, &restored), CODE_DEVICE);
	fail_reset();
	pins_free(&pins);
	fake_nl.available = 12 * K;
	/* There is room for both pins now: the moved file is pinned at its new place. */
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(restore_refresh(&dev, &pins, false, &restored), 0);
	assert_int_equal(restored.moved, 1);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl_count(128 * K, 4 * K, "l", PIN), 1);
	pins_free(&pins);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(pins.pin[1].range[0].start, 128 * K);
	pins_free(&pins);
}

/* Refresh; the record then has @count pins, and so has the list of pins that are not dropped. */
static void refresh_keeps(bool keep_gone, size_t count)
{
	struct pins pins;
	size_t i, live = 0;

	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(restore_refresh(&(struct dm_device){ .name = "nc" }, &pins, keep_gone,
					 &restored), 0);
	for (i = 0; i < pins.count; i++)
		live += !pins.pin[i].dropped;
	assert_int_equal(live, count);
	pins_free(&pins);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(pins.count, count);
	pins_free(&pins);
}

/* As refresh_keeps(), and the kernel has @count ranges. */
static void refresh(bool keep_gone, size_t count)
{
	refresh_keeps(keep_gone, count);
	assert_int_equal(fake_nl.count, count);
}

/* Take "kept" from the last line of the record. */
static void forget_kept(void)
{
	struct pins pins;

	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(pins.count, 2);
	assert_true(pins.pin[1].kept);
	pins.pin[1].kept = false;
	pins.pin[1].changed = true;
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
}

/* A pin is dropped only if its file is certainly gone, and not with keep_gone. */
static void gone(void **state)
{
	struct pins pins = { 0 };

	(void)state;
	want(&pins, "/nowhere/file", 0, 4 * K);
	want(&pins, fake_restore.file, 8 * K, 4 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	fake_restore.place = 8 * K;
	restore("nc", NULL, &restored);
	refresh(false, 2);
	assert_int_equal(restored.gone, 0);
	assert_int_equal(restored.unchecked, 1);
	fake_restore.lost = FILE_GONE;
	refresh(true, 2);
	assert_int_equal(restored.gone, 1);
	/* The record has that this pin is to be kept. */
	refresh(false, 2);
	assert_int_equal(restored.gone, 1);
	forget_kept();
	refresh(false, 1);
	assert_int_equal(restored.gone, 1);
	assert_int_equal(restored.pins, 1);
	assert_int_equal(fake_nl_count(8 * K, 4 * K, "l", PIN), 1);
	refresh(false, 1);
	assert_int_equal(restored.gone, 0);
}

/* A renamed file stays pinned, and the record gets its new path. */
static void renamed(void **state)
{
	struct pins pins = { 0 };

	(void)state;
	want(&pins, "/nowhere/file", 0, 4 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	fake_restore.lost = FILE_EXISTS;
	fake_restore.renamed_to = fake_restore.file;
	refresh(false, 1);
	assert_int_equal(restored.moved, 1);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_string_equal(pins.pin[0].path, fake_restore.file);
	pins_free(&pins);
}

/* 'rm file; mv b file' with both pinned: one pin is left. */
static void rotated(void **state)
{
	struct pins pins = { 0 };

	(void)state;
	want(&pins, fake_restore.file, 0, 4 * K);
	want(&pins, "/nowhere/b", 8 * K, 4 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	fake_restore.lost = FILE_EXISTS;
	fake_restore.renamed_to = fake_restore.file;
	fake_restore.place = 8 * K;
	refresh(false, 1);
	assert_int_equal(fake_nl_count(8 * K, 4 * K, "l", PIN), 1);
}

/* Record the pin @like of the folder, and a pinned range. */
static void record_folder(const struct pin *like)
{
	struct pins pins = { 0 };

	assert_non_null(pins_append(&pins, like, fake_restore.folder));
	want(&pins, NULL, 0, 4 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
}

/* A file that came into a pinned folder is pinned, once. */
static void new_in_folder(void **state)
{
	struct pin like = { .label = "l", .flags = PIN, .folder = true };
	struct pins pins = { 0 };

	(void)state;
	record_folder(&like);
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.count, 1);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(restore_refresh(&(struct dm_device){ .name = "nc" }, &pins, false,
					 &restored), 0);
	pins_free(&pins);
	assert_int_equal(restored.added, 1);
	assert_int_equal(restored.pins, 2);
	assert_int_equal(fake_nl_count(200 * K, 4 * K, "l", PIN), 1);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(pins.count, 3);
	assert_true(pins.pin[1].folder);
	assert_false(pins.pin[2].folder);
	assert_int_equal(restore_refresh(&(struct dm_device){ .name = "nc" }, &pins, false,
					 &restored), 0);
	assert_int_equal(restored.added, 0);
	pins_free(&pins);
}

/* The folder that the path leads to is another one while the file system is not mounted. */
static void folder_not_mounted(void **state)
{
	struct pin like = { .label = "l", .flags = PIN, .folder = true, .handle = "1:77" };
	struct pins pins = { 0 };
	int mounted;

	(void)state;
	assert_non_null(pins_append(&pins, &like, fake_restore.folder));
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	for (mounted = 0; mounted < 2; mounted++) {
		fake_restore.mounted = mounted;
		assert_int_equal(pins_load(&pins, "nc"), 0);
		assert_int_equal(restore_refresh(&(struct dm_device){ .name = "nc" }, &pins, false,
						 &restored), 0);
		assert_string_equal(pins.pin[0].handle, mounted ? "1:00" : "1:77");
		pins_free(&pins);
	}
}

/* Without room for the new files of a folder, a refresh does all else, and warns. */
static void folder_too_large(void **state)
{
	struct pin like = { .label = "l", .flags = PIN, .folder = true, .load = true };

	(void)state;
	record_folder(&like);
	fake_nl.available = 6 * K;
	*fake_restore.warning = '\0';
	refresh_keeps(false, 2);
	assert_int_equal(restored.added, 0);
	assert_int_equal(restored.pins, 1);
	assert_int_equal(restored.again, 1);
	assert_non_null(strstr(fake_restore.warning, "1 new files in the pinned folders of 'nc' are not pinned: the pins"));
	assert_int_equal(fake_nl.count, 1);
	fake_nl.available = 8 * K;
	refresh_keeps(false, 3);
	assert_int_equal(restored.added, 1);
}

/* Record a pin and drop it: the label stays in the record. */
static void drop_label(const char *label)
{
	struct pin like = { .label = (char *)label, .flags = PIN };
	struct pins pins;

	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_non_null(pins_append(&pins, &like, "/dropped"));
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins.pin[pins.count - 1].dropped = true;
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
}

/*
 * Ranges that a killed command left in the kernel are removed. Those of the daemon stay, and those
 * with a label that is not on record.
 */
static void unrecorded(void **state)
{
	struct dm_device dev = { .name = "nc" };
	struct pins pins;

	(void)state;
	record(4 * K);
	drop_label("dropped");
	restore("nc", NULL, &restored);
	fake_nl_give(0, 8 * K, "l", PIN);
	fake_nl_give(16 * K, 8 * K, "dropped", PIN);
	fake_nl_give(32 * K, 8 * K, "other", PIN);
	fake_nl_give(48 * K, 8 * K, "nearcache-hot", PIN);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(restore_refresh(&dev, &pins, false, &restored), 0);
	pins_free(&pins);
	assert_int_equal(restored.unrecorded, 2);
	assert_int_equal(restored.left, 1);
	assert_non_null(strstr(fake_restore.warning, "for example 'other': another program"));
	assert_non_null(strstr(fake_restore.warning, "'nearcache unpin nc --label' removes"));
	assert_int_equal(fake_nl.count, 4);
	assert_int_equal(fake_nl_count(32 * K, 8 * K, "other", PIN), 1);
	assert_int_equal(fake_nl_count(48 * K, 8 * K, "nearcache-hot", PIN), 1);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
	/* And what the kernel lacks is pinned again. */
	fake_nl_take(0);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(restore_refresh(&dev, &pins, false, &restored), 0);
	pins_free(&pins);
	assert_int_equal(restored.again, 1);
	assert_int_equal(fake_nl.count, 4);
}

/* Without a record, as in a container or before /var is mounted, no range is deleted. */
static void no_record(void **state)
{
	struct dm_device dev = { .name = "nc" };
	struct record_difference difference;
	struct pins pins;

	(void)state;
	fake_nl_give(0, 8 * K, "l", PIN);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(restore_refresh(&dev, &pins, false, &restored), 0);
	pins_free(&pins);
	assert_int_equal(restored.unrecorded, 0);
	assert_int_equal(restored.left, 1);
	assert_int_equal(fake_nl.count, 1);
	assert_non_null(strstr(fake_restore.warning, "'nc': 1 ranges have no record"));
	assert_non_null(strstr(fake_restore.warning, "'nearcache unpin nc --all' removes"));
	assert_int_equal(restore_compare(&dev, &difference), 0);
	assert_int_equal(difference.left, 1);
	assert_true(difference.absent);
}

/* 'dmsetup rename' renamed the device. Its ranges stay also while another device has its name. */
static void renamed_device(void **state)
{
	struct dm_device dev = { .name = "other", .uuid = DM_UUID_PREFIX "u1" };
	struct pins pins;
	int taken;

	(void)state;
	record(4 * K);
	own();
	fake_nl_give(0, 8 * K, "l", PIN);
	for (taken = 0; taken < 2; taken++) {
		fake.gone = !taken;
		assert_int_equal(pins_load(&pins, "other"), 0);
		assert_int_equal(restore_refresh(&dev, &pins, false, &restored), CODE_DEVICE);
		pins_free(&pins);
		assert_non_null(strstr(fail_message(), "of device 'other' are recorded as those of 'nc'"));
		assert_int_equal(!strstr(fail_message(), "another device has now"), !taken);
		assert_non_null(strstr(fail_message(), "'dmsetup rename other nc'"));
		fail_reset();
	}
	assert_int_equal(fake_nl.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESTORE_TEST(refreshed),
		RESTORE_TEST(gone),
		RESTORE_TEST(renamed),
		RESTORE_TEST(rotated),
		RESTORE_TEST(new_in_folder),
		RESTORE_TEST(folder_not_mounted),
		RESTORE_TEST(folder_too_large),
		RESTORE_TEST(unrecorded),
		RESTORE_TEST(no_record),
		RESTORE_TEST(renamed_device),
	};

	return RESTORE_RUN(tests);
}
