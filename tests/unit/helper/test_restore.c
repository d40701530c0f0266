// SPDX-License-Identifier: GPL-2.0-only
/* pins/restore.c: recorded pins are set again after an open, and for another cache device. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "pins/change.h"
#include "lib/error.h"
#include "fake_dm.h"
#include "fake_nl.h"
#include "block/device_sysfs.h"
#include "pins/pin_list.h"
#include "pins/pinned_file.h"
#include "pins/record_owner.h"
#include "pins/restore.h"
#include "files/operand.h"
#include "unit.h"

#define K	1024ULL
#define PIN	NEARCACHE_RANGE_PIN
#define RECORD	PINS_DIR "/nc.json"

static char file_path[64], folder_path[64], in_folder[64];
/* Where the file is on the device now, in bytes. */
static uint64_t place;
static struct restored restored;

int target_resolve_for(enum target_use use, const struct arguments *args,
		       const struct dm_device *dev, struct shards *shards)
{
	(void)dev;
	assert_int_equal(use, TARGET_RESTORE);
	shards->size = FAKE_BYTES;
	if (!strcmp(args->operand[1], folder_path)) {
		struct shard *shard = shards_add(shards, in_folder);

		shard->device = 1;
		shard_add_range(shard, 200 * K, 4 * K);
		return 0;
	}
	assert_string_equal(args->operand[1], file_path);
	return shard_add_range(shards_add(shards, file_path), place, 4 * K);
}

/* What mounted_look() says of a pinned file that its path does not lead to. */
static enum file_state state_of_lost;
static const char *renamed_to;

int mounted_find(struct mounted_all *all, dev_t lower)
{
	*all = (struct mounted_all){ .lower = lower };
	return 0;
}

enum file_state mounted_look(const struct mounted_all *all, const struct pin *pin, char **path)
{
	(void)all;
	(void)pin;
	*path = renamed_to ? strdup(renamed_to) : NULL;
	return state_of_lost;
}

/* The folder is on the device. */
static bool folder_mounted;

bool mounted_has(const struct mounted_all *all, const char *path)
{
	(void)all;
	assert_string_equal(path, folder_path);
	return folder_mounted;
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

static char warning[512];

void __wrap_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void __wrap_warn(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(warning, sizeof(warning), format, list);
	va_end(list);
}

/* Device id of the origin; "": unknown. */
static const char *origin_id;

void identity_read(dev_t number, char *id)
{
	(void)number;
	strcpy(id, origin_id);
}

/* Add a pin of file @path, or of a range of the device if @path is NULL. */
static void want(struct pins *pins, const char *path, uint64_t start, uint64_t length)
{
	struct pin like = { .label = "l", .flags = PIN, .load = true };
	struct range range = { start, length };
	struct shard shard = { .range = &range, .ranges = 1 };

	assert_int_equal(pin_place(pins_append(pins, &like, path), &shard), 0);
}

static void record(uint64_t second_bytes)
{
	struct pins pins = { 0 };

	want(&pins, file_path, 0, 4 * K);
	want(&pins, NULL, 64 * K, second_bytes);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
}

static int setup(void **state)
{
	(void)state;
	fake_reset("read-only 8:0 8:16");
	fake_nl_reset(FAKE_BYTES);
	fake.uuid = DM_UUID_PREFIX "u1";
	fake.origin = 1;
	origin_id = "";
	place = 0;
	state_of_lost = FILE_UNSURE;
	folder_mounted = true;
	renamed_to = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_nl_reset(0);
	unlink(RECORD);
	rmdir(PINS_DIR);
	return 0;
}

static void opened(void **state)
{
	(void)state;
	restore("nc", NULL, &restored);
	assert_int_equal(restored.pins + fake_nl.changes + fake_nl.jobs, 0);
	record(4 * K);
	restore("nc", NULL, &restored);
	assert_int_equal(restored.pins, 2);
	assert_int_equal(restored.job, 1);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl.changes, 1);
	assert_int_equal(fake_nl.pieces, 2);
}

/* The kernel still has all pins: only a prefetch job starts, as the data may not be cached. */
static void followed(void **state)
{
	(void)state;
	record(4 * K);
	fake_nl_give(0, 4 * K, "l", PIN);
	fake_nl_give(64 * K, 4 * K, "l", PIN);
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.changes, 0);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(restored.job, 1);
	assert_int_equal(fake_nl.pieces, 2);
}

/* The kernel has the ranges without PIN, as the old cache was too small: restore() pins them. */
static void stripped(void **state)
{
	(void)state;
	record(8 * K);
	fake_nl_give(0, 4 * K, "l", 0);
	fake_nl_give(64 * K, 8 * K, "l", 0);
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl_count(64 * K, 8 * K, "l", PIN), 1);
	assert_int_equal(fake_nl.pieces, 2);
}

/* restore() sets the pins that fit.  The ranges of the other pins are only prefetched. */
static void little_room(void **state)
{
	(void)state;
	record(8 * K);
	fake_nl_give(0, 4 * K, "l", 0);
	fake_nl_give(64 * K, 8 * K, "l", 0);
	fake_nl.available = 6 * K;
	restore("nc", NULL, &restored);
	assert_int_equal(restored.pins, 1);
	assert_int_equal(fake_nl.count, 1);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
	assert_int_equal(fake_nl.pieces, 2);
}

/* The kernel refuses the request: nothing is pinned, and nothing else is reported. */
static void refused(void **state)
{
	(void)state;
	record(4 * K);
	fake_nl.fail_change = 1;
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.count, 0);
	assert_int_equal(restored.pins, 0);
	assert_int_equal(fail_code(), 0);
}

/* A file has moved.  Its new place is pinned only if the device is open, as when mounted. */
static void moved(void **state)
{
	struct pins pins;

	(void)state;
	record(4 * K);
	place = 128 * K;
	restore("nc", NULL, &restored);
	assert_int_equal(restored.moved, 0);
	assert_int_equal(fake_nl_count(0, 4 * K, "l", PIN), 1);
	fake.opens = 1;
	/* Files are not looked up while the kernel has pins. */
	restore("nc", NULL, &restored);
	assert_int_equal(restored.moved, 0);
	fake_nl_reset(FAKE_BYTES);
	restore("nc", NULL, &restored);
	assert_int_equal(restored.moved, 1);
	assert_int_equal(restored.pins, 2);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl_count(128 * K, 4 * K, "l", PIN), 1);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(pins.pin[0].range[0].start, 128 * K);
	pins_free(&pins);
}

/* restore_refresh() sets all pins or none, while restore() sets those that fit. */
static void refreshed(void **state)
{
	struct dm_device dev = { .name = "nc" };
	struct pins pins;

	(void)state;
	record(8 * K);
	restore("nc", NULL, &restored);
	place = 128 * K;
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

static void refresh(bool keep_gone, size_t count)
{
	struct dm_device dev = { .name = "nc" };
	struct pins pins;

	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(restore_refresh(&dev, &pins, keep_gone, &restored), 0);
	pins_free(&pins);
	assert_int_equal(fake_nl.count, count);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(pins.count, count);
	pins_free(&pins);
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
	want(&pins, file_path, 8 * K, 4 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	place = 8 * K;
	restore("nc", NULL, &restored);
	refresh(false, 2);
	assert_int_equal(restored.gone, 0);
	assert_int_equal(restored.unchecked, 1);
	state_of_lost = FILE_GONE;
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
	state_of_lost = FILE_EXISTS;
	renamed_to = file_path;
	refresh(false, 1);
	assert_int_equal(restored.moved, 1);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_string_equal(pins.pin[0].path, file_path);
	pins_free(&pins);
}

/* Refresh; the record then has @count pins, and so has the list of pins that are not dropped. */
static void refresh_keeps(size_t count)
{
	struct pins pins;
	size_t i, live = 0;

	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(restore_refresh(&(struct dm_device){ .name = "nc" }, &pins, false,
					 &restored), 0);
	for (i = 0; i < pins.count; i++)
		live += !pins.pin[i].dropped;
	assert_int_equal(live, count);
	pins_free(&pins);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	assert_int_equal(pins.count, count);
	pins_free(&pins);
}

/* 'rm file; mv b file' with both pinned: one pin is left. */
static void rotated(void **state)
{
	struct pins pins = { 0 };

	(void)state;
	want(&pins, file_path, 0, 4 * K);
	want(&pins, "/nowhere/b", 8 * K, 4 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	state_of_lost = FILE_EXISTS;
	renamed_to = file_path;
	place = 8 * K;
	refresh(false, 1);
	assert_int_equal(fake_nl_count(8 * K, 4 * K, "l", PIN), 1);
}

/* A file that came into a pinned folder is pinned, once. */
static void new_in_folder(void **state)
{
	struct pin like = { .label = "l", .flags = PIN, .folder = true };
	struct pins pins = { 0 };

	(void)state;
	assert_non_null(pins_append(&pins, &like, folder_path));
	want(&pins, NULL, 0, 4 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
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
	assert_non_null(pins_append(&pins, &like, folder_path));
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	for (mounted = 0; mounted < 2; mounted++) {
		folder_mounted = mounted;
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
	struct pins pins = { 0 };

	(void)state;
	assert_non_null(pins_append(&pins, &like, folder_path));
	want(&pins, NULL, 0, 4 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	fake_nl.available = 6 * K;
	*warning = '\0';
	refresh_keeps(2);
	assert_int_equal(restored.added, 0);
	assert_int_equal(restored.pins, 1);
	assert_int_equal(restored.again, 1);
	assert_non_null(strstr(warning, "1 new files in the pinned folders of 'nc' are not pinned: the pins"));
	assert_int_equal(fake_nl.count, 1);
	fake_nl.available = 8 * K;
	refresh_keeps(3);
	assert_int_equal(restored.added, 1);
}

/* The kernel's ranges cannot be listed after the change: only their number is unknown. */
static void not_counted(void **state)
{
	(void)state;
	record(4 * K);
	fake_nl.interrupts = 16;
	restore("nc", NULL, &restored);
	assert_int_equal(restored.pins, 0);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(restored.job, 1);
}

/* Write the record again; the present device becomes its owner. */
static void own(void)
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
	assert_non_null(strstr(warning, "for example 'other': another program"));
	assert_non_null(strstr(warning, "'nearcache unpin nc --label' removes"));
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
	assert_non_null(strstr(warning, "'nc': 1 ranges have no record"));
	assert_non_null(strstr(warning, "'nearcache unpin nc --all' removes"));
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

/* The origin has shrunk.  The part of a pin inside the origin is pinned; the record stays whole. */
static void shrunk(void **state)
{
	struct dm_device dev = { .name = "nc", .size = 66 * K };
	struct pins pins;
	struct change change = { .dev = &dev, .pins = &pins };

	(void)state;
	record(4 * K);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	want(&pins, NULL, 128 * K, 4 * K);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	fake_nl_reset(dev.size);
	fake.live.bytes = dev.size;
	restore("nc", NULL, &restored);
	assert_int_equal(restored.pins, 2);
	assert_int_equal(fake_nl.count, 2);
	assert_int_equal(fake_nl_count(64 * K, 2 * K, "l", PIN), 1);
	assert_int_equal(fake_nl.pieces, 2);
	assert_int_equal(fake_nl.piece[1].length, 2 * K);
	/* Restoring again changes nothing. */
	fake_nl.changes = 0;
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.changes, 0);
	assert_int_equal(pins_load(&pins, "nc"), 0);
	pins.size = dev.size;
	pins.pin[1].dropped = pins.pin[2].dropped = true;
	assert_int_equal(change_both(&change), 0);
	assert_int_equal(change.deleted, 1);
	assert_int_equal(fake_nl.count, 1);
	pins_free(&pins);
}

static bool restored_of(const char *uuid, const char *id)
{
	fake_nl_reset(FAKE_BYTES);
	fake.uuid = uuid;
	origin_id = id;
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.count, restored.pins);
	return restored.pins;
}

/* The record of name "nc" is restored only if its owner may be the present device "nc". */
static void foreign(void **state)
{
	struct dm_device dev;
	struct pins pins;

	(void)state;
	record(4 * K);
	/* The origin's id is unknown, so another cache means another owner. */
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	own();
	assert_false(restored_of(DM_UUID_PREFIX "u2", ""));
	/* A record without an owner is accepted, and gets an owner when it is written. */
	record(4 * K);
	assert_true(restored_of(DM_UUID_PREFIX "u1", "wwid:eui.1"));
	own();
	assert_true(restored_of(DM_UUID_PREFIX "u1", "wwid:eui.1"));
	/* Restored: another cache of the same origin, or another path to the origin. */
	assert_true(restored_of(DM_UUID_PREFIX "u2", "wwid:eui.1"));
	assert_true(restored_of(DM_UUID_PREFIX "u1", "serial:7"));
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	/* Not restored: cache and origin both differ, or the origin is certainly another volume. */
	assert_false(restored_of(DM_UUID_PREFIX "u2", "serial:7"));
	assert_false(restored_of(DM_UUID_PREFIX "u2", ""));
	assert_false(restored_of(DM_UUID_PREFIX "u1", "wwid:eui.2"));
	assert_int_equal(fake_nl.changes + fake_nl.jobs, 0);
	assert_int_equal(dm_need_ours("nc", &dev), 0);
	assert_int_equal(record_open(&pins, &dev), 0);
	assert_int_equal(record_require(&pins, &dev), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "'" RECORD "' belongs to another 'nc', with cache 'u1' and origin 'wwid:eui.1'"));
	assert_non_null(strstr(fail_message(), "'nearcache pin nc --refresh'"));
	fail_reset();
	/* Saving the record does not change its owner; record_adopt() does. */
	assert_int_equal(pins_save(&pins, "nc"), 0);
	assert_false(restored_of(DM_UUID_PREFIX "u1", "wwid:eui.2"));
	record_adopt(&pins, &dev);
	assert_int_equal(pins_save(&pins, "nc"), 0);
	pins_free(&pins);
	dm_device_free(&dev);
	assert_true(restored_of(DM_UUID_PREFIX "u1", "wwid:eui.2"));
}

/* Cache u2 was attached in place of cache u1: the record belongs to both caches. */
static void attached(void **state)
{
	(void)state;
	record(4 * K);
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	restore("nc", "u2", &restored);
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	/* own() writes the record while u2 is attached: now the record names u1 and u2. */
	own();
	assert_true(restored_of(DM_UUID_PREFIX "u2", ""));
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	assert_false(restored_of(DM_UUID_PREFIX "u3", ""));
	/* After u1 is attached again, the record does not belong to u2. */
	fake.uuid = DM_UUID_PREFIX "u1";
	restore("nc", "", &restored);
	assert_false(restored_of(DM_UUID_PREFIX "u2", ""));
	/* After the device is opened with u2, the record does not belong to u1. */
	fake.uuid = DM_UUID_PREFIX "u1";
	restore("nc", "u2", &restored);
	fake.uuid = DM_UUID_PREFIX "u2";
	own();
	assert_false(restored_of(DM_UUID_PREFIX "u1", ""));
	assert_true(restored_of(DM_UUID_PREFIX "u2", ""));
}

/* Destroying a cache removes the record if it names this cache, as first or second one. */
static void forgotten(void **state)
{
	(void)state;
	record(4 * K);
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	restore("nc", "u2", &restored);
	assert_int_equal(record_forget("nc", "u3"), 0);
	assert_true(restored_of(DM_UUID_PREFIX "u1", ""));
	assert_int_equal(record_forget("nc", "u2"), 0);
	assert_false(restored_of(DM_UUID_PREFIX "u1", ""));
	assert_int_equal(access(RECORD, F_OK), -1);
	record(4 * K);
	own();
	assert_int_equal(record_forget("nc", "u1"), 0);
	assert_int_equal(access(RECORD, F_OK), -1);
	/* A record without an owner belongs to any cache. */
	record(4 * K);
	assert_int_equal(record_forget("nc", "u3"), 0);
	assert_int_equal(access(RECORD, F_OK), -1);
	assert_int_equal(record_forget("nc", "u3"), 0);
}

/* A warning must name the step that failed and no other. */
static void told(void **state)
{
	(void)state;
	*warning = '\0';
	record(4 * K);
	restore("nc", NULL, &restored);
	assert_string_equal(warning, "");
	/* The pins are set; the warning is about the missing prefetch. */
	fake_nl.no_jobs = true;
	restore("nc", "u2", &restored);
	assert_int_equal(restored.job, 0);
	assert_int_equal(fake_nl.count, 2);
	assert_string_equal(warning, "the pins of 'nc' are not prefetched, only cached when they are read: NO JOBS");
	/* Despite the warning the record was written, and names u2. */
	assert_true(restored_of(DM_UUID_PREFIX "u2", ""));
	fake.uuid = DM_UUID_PREFIX "u1";
	assert_int_equal(mkdir(RECORD ".new", 0700), 0);
	restore("nc", "u3", &restored);
	assert_int_equal(rmdir(RECORD ".new"), 0);
	assert_int_equal(restored.job, 2);
	assert_int_equal(fake_nl.count, 2);
	assert_non_null(strstr(warning, "the pins of 'nc' could not be recorded, the old record remains: cannot write '" RECORD ".new'"));
	/* A damaged record: no pins are set. */
	fake_nl_reset(FAKE_BYTES);
	assert_int_equal(truncate(RECORD, 9), 0);
	restore("nc", NULL, &restored);
	assert_int_equal(fake_nl.count, 0);
	assert_non_null(strstr(warning, "the pins of 'nc' could not be restored: the record of pins '" RECORD "' is damaged"));
	assert_int_equal(fail_code(), 0);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(opened),
		TEST(followed),
		TEST(stripped),
		TEST(little_room),
		TEST(refused),
		TEST(moved),
		TEST(refreshed),
		TEST(gone),
		TEST(renamed),
		TEST(rotated),
		TEST(new_in_folder),
		TEST(folder_not_mounted),
		TEST(folder_too_large),
		TEST(not_counted),
		TEST(unrecorded),
		TEST(no_record),
		TEST(renamed_device),
		TEST(shrunk),
		TEST(foreign),
		TEST(attached),
		TEST(forgotten),
		TEST(told),
	};
	char folder[] = "/tmp/restore.XXXXXX";
	int failed;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	snprintf(file_path, sizeof(file_path), "%s/file", folder);
	fclose(fopen(file_path, "w"));
	snprintf(folder_path, sizeof(folder_path), "%s/folder", folder);
	snprintf(in_folder, sizeof(in_folder), "%s/folder/new", folder);
	mkdir(folder_path, 0700);
	failed = RUN(tests);
	unlink(file_path);
	rmdir(folder_path);
	return rmdir(folder) || failed;
}
