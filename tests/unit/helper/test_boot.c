// SPDX-License-Identifier: GPL-2.0-only
/* open/boot.c opens a nearcachetab line: with its cache, as a passthrough device, or not at all. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "open/activate.h"
#include "block/dm.h"
#include "lib/error.h"
#include "block/parallel_devices.h"
#include "open/open_at_boot.h"
#include "open/open_devices.h"
#include "open/passthrough.h"
#include "open/remembered.h"
#include "lib/print.h"
#include "open/find_cache_devices.h"
#include "open/nearcachetab.h"
#include "open/stage_device.h"
#include "unit.h"

#define UUID	"01010101-0101-0101-0101-010101010101"

static char table[64];
/* @origin_id: device id of the origin.  @recorded: the one in the superblock; NULL: no cache. */
static const char *origin_id, *recorded;
static enum exit_code open_fails, cache_fails;
static bool origin_gone;
/* Arguments of the calls that the code made, and the number of waits. */
static struct arguments opened;
static struct passthrough passed;
static u8 passed_uuid[16];
static char passed_why[256], passed_origin[PATH_MAX], passed_remembered[256];
static unsigned int waits;
/* @half_made: an earlier run left a device without a dm table, with the open count @half_opens. */
static bool half_made, removed;
static int half_opens;
/* @stage_lost: the log of a stage is missing.  @behind: a log holds writes that the origin lacks. */
static bool stage_lost, behind, stage_made, stage_undone;

int device_open(struct device *dev, const char *path, const char *role)
{
	*dev = (struct device){ .fd = -1, .role = role };
	snprintf(dev->path, sizeof(dev->path), "%s", path);
	snprintf(dev->id, sizeof(dev->id), "%s", origin_id);
	return origin_gone ? (fail)(CODE_DEVICE, "origin '%s'", path) : 0;
}

void device_close(struct device *dev)
{
	(void)dev;
}

int dm_need_target(void)
{
	return 0;
}

int dm_find(const char *name, struct dm_device *dev, bool *found)
{
	(void)name;
	memset(dev, 0, sizeof(*dev));
	*found = half_made && !removed;
	strcpy(dev->uuid, DM_UUID_PREFIX UUID);
	dev->open_count = half_opens;
	return 0;
}

int dm_remove(const char *name)
{
	assert_string_equal(name, "nc");
	removed = true;
	return 0;
}

void dm_device_free(struct dm_device *dev)
{
	(void)dev;
}

int activate_check_name(const char *name)
{
	return (strcmp(name, "nc") && strcmp(name, "nc-home")) || half_made ? (fail)(CODE_BUSY, "exists") : 0;
}

bool resolve_wait(const char *path, unsigned int seconds)
{
	(void)path;
	assert_in_range(seconds, 1, 60);
	waits++;
	return !origin_gone;
}

int resolve_path(struct resolved *cache, const char *path)
{
	memset(cache, 0, sizeof(*cache));
	snprintf(cache->path, sizeof(cache->path), "%s", path);
	if (cache_fails || !recorded)
		return (fail)(cache_fails ? cache_fails : CODE_DEVICE, "BROKEN");
	memset(cache->sb.uuid, 1, sizeof(cache->sb.uuid));
	strcpy((char *)cache->sb.origin_id, recorded);
	return 0;
}

int resolve_uuid(struct resolved *cache, const char *uuid,
		 const struct device *origin)
{
	assert_string_equal(uuid, UUID);
	assert_string_equal(origin->path, "/dev/o");
	return resolve_path(cache, "/dev/found");
}

int device_open_number(struct device *dev, dev_t number, const char *role)
{
	(void)number;
	return device_open(dev, "/dev/mapper/nc-stage", role);
}

bool stage_id_parse(const char *id, unsigned char *uuid)
{
	memset(uuid, 7, 16);
	return !strcmp(id, "STAGE");
}

int stage_open(struct stage *stage, const struct arguments *args, const unsigned char *uuid)
{
	assert_string_equal(stage->cache, "nc");
	assert_string_equal(args->origin, "/dev/o");
	assert_true(uuid ? uuid[3] == 7 : !strcmp(args->stage, "/dev/l"));
	stage_made = stage->running = !stage_lost;
	return stage_lost ? (fail)(CODE_DEVICE, "LOST") : 0;
}

void stage_undo(struct stage *stage)
{
	(void)stage;
	stage_undone = true;
}

void stage_close(struct stage *stage)
{
	(void)stage;
}

int stage_check_origin(const struct device *dev, const unsigned char *except, bool writes)
{
	(void)writes;
	assert_string_equal(dev->path, "/dev/o");
	assert_null(except);
	return behind ? (fail)(CODE_BUSY, "BEHIND") : 0;
}

int passthrough_start(struct passthrough *pass, bool dry_run)
{
	(void)dry_run;
	passed = *pass;
	snprintf(passed_origin, sizeof(passed_origin), "%s", pass->origin->path);
	if (pass->cache)
		memcpy(passed_uuid, pass->cache, sizeof(passed_uuid));
	snprintf(passed_remembered, sizeof(passed_remembered), "%s", pass->remembered);
	snprintf(passed_why, sizeof(passed_why), "%s", pass->why);
	return 0;
}

void many_run(struct many_job *job, size_t count,
	      int (*run)(const struct many_job *job))
{
	size_t i;

	for (i = 0; i < count; i++) {
		job[i].code = run(&job[i]);
		snprintf(job[i].message, MANY_TEXT, "%s", fail_message());
		fail_reset();
	}
}

void lock_name(const char *name)
{
	(void)name;
}

void lock_release(void)
{
}

int many_sum(const struct many_job *job, size_t count, const char *done)
{
	assert_string_equal(done, "opened");
	return count && job[0].code ?
	       (fail)(job[0].code, "%zu: %s", count, job[0].message) : 0;
}

void print_table(const char *key)
{
	assert_string_equal(key, "devices");
}

int open_devices(const struct arguments *args)
{
	assert_string_equal(args->origin, "/dev/o");
	assert_memory_equal(args->operand[0], "nc", 2);
	opened = *args;
	return open_fails ? (fail)(open_fails, "REFUSED") : 0;
}

static int reset(void **state)
{
	(void)state;
	origin_id = recorded = "wwid:eui.a";
	open_fails = cache_fails = CODE_OK;
	origin_gone = half_made = removed = false;
	half_opens = 0;
	waits = 0;
	stage_lost = behind = stage_made = stage_undone = false;
	return 0;
}

static struct arguments arguments(const char *line, option_set options)
{
	static char *operand[] = { "nc" };
	struct arguments args = {
		.given = options | OPTION_TAB,
		.tab = table,
	};
	FILE *file = fopen(table, "w");

	if (!(options & OPTION_ALL)) {
		args.operand = operand;
		args.operands = 1;
	}
	fprintf(file, "%s\n", line);
	fclose(file);
	memset(&opened, 0, sizeof(opened));
	memset(&passed, 0, sizeof(passed));
	fail_reset();
	return args;
}

static int run(const char *line, option_set options)
{
	struct arguments args = arguments(line, options);

	return options & OPTION_ALL ? opentab_all(&args) : opentab(&args);
}

static void assert_passed(const char *why, bool known)
{
	assert_int_equal(fail_code(), 0);
	assert_non_null(passed.name);
	assert_int_equal(!!passed.cache, known);
	if (known)
		assert_int_equal(passed_uuid[7], 1);
	if (!strstr(passed_why, why))
		fail_msg("no '%s' in: %s", why, passed_why);
}

#define BY_PATH	"nc /dev/o /dev/c mode=writearound,verify=4"
#define BY_UUID	"nc /dev/o UUID=" UUID " mode=writearound"

static void with_cache(void **state)
{
	(void)state;
	assert_int_equal(run(BY_PATH, 0), 0);
	assert_true(option_given(&opened, OPTION_CACHE) && option_given(&opened, OPTION_ORIGIN));
	assert_int_equal(opened.verify, 4);
	assert_int_equal(opened.mode, NEARCACHE_WRITEAROUND);
	assert_null(passed.name);
	assert_int_equal(waits, 0);
	assert_int_equal(run(BY_UUID, OPTION_WAIT_DEVICES), 0);
	assert_int_equal(waits, 1);
	assert_null(passed.name);
	/* The cache records no device id: it is opened, and the origin's content is compared. */
	recorded = "";
	assert_int_equal(run(BY_PATH, OPTION_WAIT_DEVICES), 0);
	assert_int_equal(waits, 3);
	assert_true(option_given(&opened, OPTION_CACHE));
}

static void without_cache(void **state)
{
	(void)state;
	recorded = NULL;
	run(BY_PATH, 0);
	assert_passed("BROKEN", false);
	assert_int_equal(passed.mode, NEARCACHE_WRITEAROUND);
	assert_int_equal(opened.given, 0);
	run(BY_UUID, 0);
	assert_passed("BROKEN", true);
	assert_int_equal(run(BY_PATH, OPTION_RESERVE), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "has no stage"));
	assert_null(passed.name);
	/* 'open' of the right cache fails: a passthrough device starts, with a gap for its uuid. */
	reset(NULL);
	open_fails = CODE_DEVICE;
	run(BY_PATH, 0);
	assert_passed("REFUSED", true);
	open_fails = CODE_BUSY;
	run(BY_UUID, 0);
	assert_passed("REFUSED", true);
	recorded = "";
	run(BY_PATH, 0);
	assert_passed("REFUSED", false);
}

static void write_settings(const char *text)
{
	char path[PATH_MAX];
	FILE *file = fopen(remembered_path(UUID, path), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/*
 * Without its cache, a device has a remembered mode only if that is read-only: the cache may have a
 * stage, whose log has writes for the origin.
 */
static void remembered_mode(void **state)
{
	char path[PATH_MAX];

	(void)state;
	write_settings("mode=writethrough\nverify=9\nname=nc\n");
	recorded = NULL;
	/* The path of a missing device gives no uuid: the name of the device finds the settings. */
	run("nc /dev/o /dev/c", 0);
	assert_passed("BROKEN", false);
	assert_int_equal(passed.mode, NEARCACHE_READ_ONLY);
	assert_string_equal(passed_remembered, "");
	run("nc /dev/o UUID=" UUID, 0);
	assert_int_equal(passed.mode, NEARCACHE_READ_ONLY);
	/* The line names the log, which is found: the default is a writing mode. */
	run("nc /dev/o UUID=" UUID " stage=/dev/l", 0);
	assert_int_equal(passed.mode, NEARCACHE_WRITETHROUGH);
	write_settings("mode=read-only\nname=nc\n");
	run("nc /dev/o /dev/c stage=/dev/l", 0);
	assert_int_equal(passed.mode, NEARCACHE_READ_ONLY);
	assert_string_equal(passed_remembered, "mode=read-only");
	run("nc /dev/o UUID=" UUID " read-only", 0);
	assert_int_equal(passed.mode, NEARCACHE_READ_ONLY);
	assert_string_equal(passed_remembered, "");
	run(BY_UUID, 0);
	assert_int_equal(passed.mode, NEARCACHE_WRITEAROUND);
	/* A damaged file does not stop a boot. */
	write_settings("mode\n");
	run("nc /dev/o UUID=" UUID, 0);
	assert_passed("BROKEN", true);
	assert_int_equal(passed.mode, NEARCACHE_READ_ONLY);
	run("nc /dev/o UUID=" UUID " stage=/dev/l", 0);
	assert_int_equal(passed.mode, NEARCACHE_READ_ONLY);
	recorded = origin_id;
	run(BY_UUID, 0);
	assert_true(opened.no_remembered);
	assert_false(option_given(&opened, OPTION_READ_ONLY));
	run("nc /dev/o UUID=" UUID, 0);
	assert_true(opened.no_remembered && option_given(&opened, OPTION_READ_ONLY));
	recorded = NULL;
	write_settings("verify=1\nname=nc\n");
	run("nc /dev/o /dev/c", OPTION_FORGET);
	assert_int_not_equal(access(remembered_path(UUID, path), F_OK), 0);
	write_settings("mode=writethrough\n");
	run("nc /dev/o UUID=" UUID, OPTION_FORGET | OPTION_DRY_RUN);
	assert_int_equal(passed.mode, NEARCACHE_READ_ONLY);
	assert_int_equal(access(remembered_path(UUID, path), F_OK), 0);
	run("nc /dev/o UUID=" UUID, OPTION_FORGET);
	assert_int_equal(passed.mode, NEARCACHE_READ_ONLY);
	assert_int_not_equal(access(remembered_path(UUID, path), F_OK), 0);
}

/* open_devices() must learn which options the line gives: they are not remembered. */
static void options_of_line(void **state)
{
	(void)state;
	run(BY_PATH, OPTION_VERIFY);
	assert_true(opened.of_line == OPTION_MODE);
	/* The cache of a cluster device is opened read-only. */
	run("nc /dev/o /dev/c", 0);
	assert_false(option_given(&opened, OPTION_READ_ONLY));
	assert_int_equal(run("nc-home /dev/o /dev/c cluster=/etc/c.conf", OPTION_ALL), 0);
	assert_true(option_given(&opened, OPTION_READ_ONLY) && opened.of_line & OPTION_READ_ONLY);
}

/* The cache is of another origin: pass through if a path names it; refuse if a uuid names it. */
static void of_another(void **state)
{
	(void)state;
	recorded = "wwid:eui.b";
	run(BY_PATH, 0);
	assert_passed("was made for the origin 'wwid:eui.b'", false);
	assert_int_equal(opened.given, 0);
	assert_int_equal(run(BY_UUID, 0), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "'nc' is not opened: correct its line"));
	assert_null(passed.name);
	assert_int_equal(opened.given, 0);
}

static void not_at_all(void **state)
{
	(void)state;
	origin_gone = true;
	assert_int_equal(run(BY_PATH, OPTION_WAIT_DEVICES), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "'nc' needs it: is it connected?"));
	assert_int_equal(waits, 1);
	assert_null(passed.name);
	reset(NULL);
	open_fails = CODE_PERMISSION;
	assert_int_equal(run(BY_PATH, 0), CODE_PERMISSION);
	assert_null(passed.name);
	cache_fails = CODE_MEMORY;
	assert_int_equal(run(BY_PATH, 0), CODE_MEMORY);
	assert_null(passed.name);
	assert_int_equal(run("nd /dev/o /dev/c", 0), CODE_USAGE);
	assert_int_equal(run("nc /dev/o", 0), CODE_USAGE);
}

static void all(void **state)
{
	(void)state;
	assert_int_equal(run(BY_PATH "\nnd /dev/o /dev/c noauto", OPTION_ALL), 0);
	assert_int_equal(opened.operands, 1);
	assert_int_equal(run("x\n" BY_PATH, OPTION_ALL), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "2: line 1: write NAME ORIGIN"));
	assert_int_equal(opened.operands, 1);
	assert_int_equal(run(BY_PATH, OPTION_ALL | OPTION_VERIFY), CODE_USAGE);
	assert_non_null(strstr(fail_message(), "no option of one device"));
}

/* The cache is above a stage: pass through to the stage, never to the origin without its log. */
static void with_stage(void **state)
{
	(void)state;
	recorded = "STAGE";
	assert_int_equal(run(BY_PATH, 0), 0);
	assert_true(option_given(&opened, OPTION_CACHE));
	assert_false(stage_made);
	open_fails = CODE_DEVICE;
	run(BY_UUID, 0);
	assert_passed("REFUSED", true);
	assert_string_equal(passed_origin, "/dev/mapper/nc-stage");
	/* The cache is lost, and the line names the log; the mode is that of a stage. */
	recorded = NULL;
	run("nc /dev/o /dev/c stage=/dev/l", 0);
	assert_passed("BROKEN", false);
	assert_string_equal(passed_origin, "/dev/mapper/nc-stage");
	assert_int_equal(passed.mode, NEARCACHE_WRITEAROUND);
	stage_lost = true;
	assert_int_equal(run("nc /dev/o /dev/c stage=/dev/l", 0), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "LOST"));
	assert_null(passed.name);
	assert_true(stage_undone || !stage_made);
	/* Neither cache nor line tell of the stage, but a log does. */
	behind = true;
	assert_int_equal(run(BY_PATH, 0), CODE_BUSY);
	assert_non_null(strstr(fail_message(), "BEHIND"));
	assert_null(passed.name);
	assert_int_equal(run("nc /dev/o /dev/c abandon-stage", 0), CODE_USAGE);
}

/* An earlier run died between creation and start of the device: remove the device if unused. */
static void half(void **state)
{
	(void)state;
	half_made = true;
	assert_int_equal(run(BY_PATH, OPTION_DRY_RUN), 0);
	assert_false(removed);
	assert_int_equal(run(BY_PATH, 0), 0);
	assert_true(removed && option_given(&opened, OPTION_CACHE));
	removed = false;
	assert_int_equal(run(BY_PATH, OPTION_ALL), 0);
	assert_true(removed);
	removed = false;
	half_opens = 1;
	assert_int_equal(run(BY_PATH, 0), CODE_BUSY);
	assert_false(removed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(with_cache, reset),
		cmocka_unit_test_setup(without_cache, reset),
		cmocka_unit_test_setup(remembered_mode, reset),
		cmocka_unit_test_setup(options_of_line, reset),
		cmocka_unit_test_setup(of_another, reset),
		cmocka_unit_test_setup(not_at_all, reset),
		cmocka_unit_test_setup(all, reset),
		cmocka_unit_test_setup(with_stage, reset),
		cmocka_unit_test_setup(half, reset),
	};
	char folder[] = "/tmp/test_settings.XXXXXX";
	int failed, fd;

	if (!mkdtemp(folder))
		return 1;
	remembered_folder = folder;
	strcpy(table, "/tmp/test_opentab.XXXXXX");
	fd = mkstemp(table);
	failed = RUN(tests);
	close(fd);
	unlink(table);
	rmdir(folder);
	return failed;
}
