// SPDX-License-Identifier: GPL-2.0-only
/* Records on a witness (open/witness.c): claimed, freed, moved.  A file stands for the device. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block/dm.h"
#include "lib/error.h"
#include "fake_identity.h"
#include "block/device_sysfs.h"
#include "block/probe.h"
#include "said.h"
#include "open/stage_device.h"
#include "open/witness.h"

#define RECORDS	NEARCACHE_WITNESS_RECORDS
#define BYTES	(1U << 20)

static char path[] = "/tmp/test_witness.XXXXXX";

/* Witness device: content that libblkid finds there, number of wipes, users. */
static const char *content;
static unsigned int wipes;
static bool busy, foreign, same_drive, clustered;
static dev_t other_cache, other_origin;

int __wrap_device_open(struct device *dev, const char *name, const char *role);

int __wrap_device_open(struct device *dev, const char *name, const char *role)
{
	return device_open_any(dev, name, role);
}

int __wrap_device_test_claim(const struct device *dev, bool *is_busy);

int __wrap_device_test_claim(const struct device *dev, bool *is_busy)
{
	(void)dev;
	*is_busy = busy;
	return 0;
}

int probe_content(const struct device *dev, char *what)
{
	(void)dev;
	snprintf(what, PROBE_WHAT, "%s", content);
	return 0;
}

int stage_check_overwrite(const struct device *dev)
{
	(void)dev;
	return 0;
}

int probe_wipe(const struct device *dev)
{
	(void)dev;
	content = "";
	wipes++;
	return 0;
}

bool identity_same_drive(dev_t a, dev_t b)
{
	(void)a;
	return same_drive && b == makedev(8, 16);
}

bool identity_overlap(dev_t a, dev_t b)
{
	(void)a;
	return b == makedev(8, 99);
}

bool identity_foreign_holder(dev_t number, const char *uuid, dev_t self,
			     char *name, size_t size)
{
	assert_string_equal(uuid, DM_UUID_PREFIX);
	assert_int_equal(self, 0);
	return identity_holder(number, name, size) && foreign;
}

bool identity_cluster_holder(dev_t number, char *name, size_t size)
{
	(void)number;
	snprintf(name, size, "data");
	return clustered;
}

int dm_all(struct dm_device **list, size_t *count)
{
	*list = calloc(1, sizeof(**list));
	assert_non_null(*list);
	strcpy((*list)->name, "other");
	(*list)->cache = other_cache;
	(*list)->origin = other_origin;
	*count = 1;
	return 0;
}

void dm_device_free_all(struct dm_device *list, size_t count)
{
	assert_int_equal(count, 1);
	free(list);
}

static const u8 *uuid_of(unsigned int n)
{
	static u8 uuid[2][16];
	static unsigned int turn;
	u8 *result = uuid[turn++ % 2];

	memset(result, 0, 16);
	result[0] = 0xee;
	result[15] = (u8)n;
	return result;
}

/* Begin a test with an empty and unused device. */
static void reset(void)
{
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(truncate(path, BYTES), 0);
	content = "";
	wipes = 0;
	busy = fake_held = foreign = same_drive = clustered = false;
	other_cache = other_origin = 0;
	fail_reset();
}

static void put(const void *data, size_t bytes, unsigned int at)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, data, bytes, at), bytes);
	close(fd);
}

static int claim_as(const u8 *uuid, const u8 *replaced, bool force)
{
	struct witness_claim claim = {
		.uuid = uuid, .replaced = replaced, .force = force,
	};
	struct witness witness = WITNESS_CLOSED;
	int error, prepared;

	fail_reset();
	assert_int_equal(witness_open(&witness, path), 0);
	/* witness_prepare() predicts the result of witness_claim(). */
	prepared = witness_prepare(&witness, &claim);
	fail_reset();
	error = witness_claim(&witness, &claim);
	assert_int_equal(prepared, error);
	assert_int_equal(witness.dev.fd, -1);
	return error;
}

static int claim(unsigned int n)
{
	return claim_as(uuid_of(n), NULL, false);
}

/* Return the index of the only valid record of cache @n and copy it to @record; -1: none. */
static int place(unsigned int n, struct nearcache_witness *record)
{
	struct nearcache_witness one;
	int fd = open(path, O_RDONLY), i, found = -1;

	for (i = 0; i < RECORDS; i++) {
		if (pread(fd, &one, sizeof(one), i * sizeof(one)) != sizeof(one) ||
		    !nc_witness_check(&one, uuid_of(n)))
			continue;
		assert_int_equal(found, -1);
		found = i;
		*record = one;
	}
	close(fd);
	return found;
}

static void assert_place(unsigned int n, int expected)
{
	struct nearcache_witness record;

	assert_int_equal(place(n, &record), expected);
}

static void release(unsigned int n)
{
	struct witness witness = WITNESS_CLOSED;

	fail_reset();
	assert_int_equal(witness_open(&witness, path), 0);
	assert_int_equal(witness_free(&witness, uuid_of(n)), 0);
}

static unsigned int used(void)
{
	struct witness witness = WITNESS_CLOSED;
	unsigned int count;

	assert_int_equal(witness_open(&witness, path), 0);
	assert_int_equal(witness_count(&witness.dev, &count), 0);
	witness_close(&witness);
	return count;
}

/* A second claim keeps record and session.  A torn record is not replaced by another cache. */
static void kept(void **state)
{
	struct nearcache_witness record;

	(void)state;
	reset();
	assert_int_equal(claim(1), 0);
	assert_int_equal(claim(2), 0);
	assert_place(1, 0);
	assert_place(2, 1);
	nc_witness_init(&record, uuid_of(1));
	record.session = cpu_to_le64(77);
	record.state = cpu_to_le32(NEARCACHE_WITNESS_STAYED);
	nc_witness_seal(&record);
	put(&record, sizeof(record), 0);
	assert_int_equal(claim(1), 0);
	assert_int_equal(place(1, &record), 0);
	assert_int_equal(record.session, 77);
	put("X", 1, 600);
	assert_place(1, -1);
	/* Cache 3 does not take the place of the torn record of cache 1. */
	assert_int_equal(claim(3), 0);
	assert_place(3, 2);
	assert_int_equal(claim(1), 0);
	assert_int_equal(place(1, &record), 0);
	assert_int_equal(record.session, 0);
	assert_int_equal(record.state, NEARCACHE_WITNESS_NEW);
	assert_int_equal(used(), 3);
}

static void looked_up(void **state)
{
	struct witness witness = WITNESS_CLOSED;
	struct nearcache_witness record;
	bool found;

	(void)state;
	reset();
	assert_int_equal(claim(1), 0);
	assert_int_equal(claim(2), 0);
	assert_int_equal(witness_open(&witness, path), 0);
	assert_string_equal(witness.path, path);
	assert_int_equal(witness_look(&witness, uuid_of(2), &record, &found), 0);
	assert_true(found);
	assert_memory_equal(record.uuid, uuid_of(2), 16);
	assert_int_equal(witness_look(&witness, uuid_of(3), &record, &found), 0);
	assert_false(found);
	witness_close(&witness);
}

/* A new cache, formatted over an old one, takes the place of the old cache's record. */
static void replaced(void **state)
{
	(void)state;
	reset();
	assert_int_equal(claim(1), 0);
	assert_int_equal(claim(2), 0);
	assert_int_equal(claim_as(uuid_of(3), uuid_of(1), false), 0);
	assert_place(3, 0);
	assert_place(1, -1);
	assert_int_equal(used(), 2);
}

static void freed(void **state)
{
	static const char zero[NEARCACHE_WITNESS_SIZE];
	char bytes[NEARCACHE_WITNESS_SIZE];
	int fd;

	(void)state;
	reset();
	assert_int_equal(claim(1), 0);
	assert_int_equal(claim(2), 0);
	release(9);
	assert_int_equal(used(), 2);
	release(1);
	assert_place(2, 1);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	assert_memory_equal(bytes, zero, sizeof(zero));
	assert_int_equal(claim(3), 0);
	assert_place(3, 0);
	/* witness_free() works even if an error was reported before the call. */
	(fail)(CODE_BUSY, "before");
	{
		struct witness witness = WITNESS_CLOSED;

		assert_int_equal(witness_open(&witness, path), 0);
		assert_int_equal(witness_free(&witness, uuid_of(3)), 0);
	}
	assert_place(3, -1);
}

static void move_at(unsigned int n, u64 session)
{
	struct witness witness = WITNESS_CLOSED;

	assert_int_equal(witness_open(&witness, path), 0);
	assert_int_equal(witness_move(&witness, uuid_of(n), session), 0);
}

static void move(unsigned int n)
{
	move_at(n, 0);
}

static int claim_ahead(const u8 *uuid, u64 session)
{
	struct witness_claim claim = {
		.uuid = uuid, .session = session, .ahead = true,
	};
	struct witness witness = WITNESS_CLOSED;

	assert_int_equal(witness_open(&witness, path), 0);
	return witness_claim(&witness, &claim);
}

static int end_session(unsigned int n, u64 session)
{
	struct witness witness = WITNESS_CLOSED;

	assert_int_equal(witness_open(&witness, path), 0);
	return witness_end(&witness, uuid_of(n), session);
}

/* A cache moves to another witness: its old record stays and gets state MOVED. */
static void moved(void **state)
{
	struct nearcache_witness record;
	unsigned int n;

	(void)state;
	reset();
	assert_int_equal(claim(1), 0);
	assert_int_equal(claim(2), 0);
	move(9);
	move(1);
	assert_int_equal(place(1, &record), 0);
	assert_false(witness_is_current(&record));
	/* When cache 1 comes back, its MOVED record becomes current and keeps session 9. */
	nc_witness_init(&record, uuid_of(1));
	record.session = cpu_to_le64(9);
	record.state = cpu_to_le32(NEARCACHE_WITNESS_MOVED);
	nc_witness_seal(&record);
	put(&record, sizeof(record), 0);
	assert_int_equal(used(), 1);
	assert_int_equal(claim(1), 0);
	assert_int_equal(place(1, &record), 0);
	assert_true(witness_is_current(&record));
	assert_int_equal(le64_to_cpu(record.session), 9);
	assert_int_equal(le64_to_cpu(record.previous), 0);
	/* claim_ahead() takes the number after the superblock's (9), which no old copy can have. */
	move(1);
	assert_int_equal(claim_ahead(uuid_of(1), 9), 0);
	assert_int_equal(place(1, &record), 0);
	assert_int_equal(le64_to_cpu(record.session), 10);
	assert_int_equal(le64_to_cpu(record.previous), 9);
	/* witness_end() ignores session 10, which the record has, and records 12.  After the
	 * move it ignores 14.
	 */
	assert_int_equal(end_session(1, 10), 0);
	assert_int_equal(place(1, &record), 0);
	assert_int_equal(le32_to_cpu(record.state), NEARCACHE_WITNESS_NEW);
	assert_int_equal(end_session(1, 12), 0);
	assert_int_equal(place(1, &record), 0);
	assert_int_equal(le32_to_cpu(record.state), NEARCACHE_WITNESS_ENDED);
	assert_int_equal(le64_to_cpu(record.session), 12);
	assert_int_equal(le64_to_cpu(record.previous), 0);
	move(1);
	assert_int_equal(end_session(1, 14), 0);
	assert_int_equal(place(1, &record), 0);
	assert_false(witness_is_current(&record));
	assert_int_equal(le64_to_cpu(record.session), 12);
	/* A second move with the superblock's number 11 keeps session 12, one with 15 sets 15. */
	move_at(1, 11);
	assert_int_equal(place(1, &record), 0);
	assert_int_equal(le64_to_cpu(record.session), 12);
	move_at(1, 15);
	assert_int_equal(place(1, &record), 0);
	assert_int_equal(le64_to_cpu(record.session), 15);
	/* claim_ahead() sets 17.  A move with number 16, as session 17 did not begin, sets 16. */
	assert_int_equal(claim_ahead(uuid_of(1), 16), 0);
	assert_int_equal(place(1, &record), 0);
	assert_int_equal(le64_to_cpu(record.session), 17);
	assert_int_equal(le64_to_cpu(record.previous), 16);
	move_at(1, 16);
	assert_int_equal(place(1, &record), 0);
	assert_int_equal(le64_to_cpu(record.session), 16);
	/* A claim with a lower superblock number (14) does not lower the record's number (16). */
	assert_int_equal(claim_ahead(uuid_of(1), 14), 0);
	assert_int_equal(place(1, &record), 0);
	assert_int_equal(le64_to_cpu(record.session), 16);
	assert_int_equal(le64_to_cpu(record.previous), 0);
	move_at(1, 14);
	assert_int_equal(claim(1), 0);
	/* Another cache takes the place of a moved record only if no place is free. */
	move(2);
	for (n = 3; n <= RECORDS; n++)
		assert_int_equal(claim(n), 0);
	assert_place(2, 1);
	assert_int_equal(claim(RECORDS + 1), 0);
	assert_place(RECORDS + 1, 1);
	assert_place(2, -1);
	assert_int_equal(claim(RECORDS + 2), CODE_BUSY);
}

/* RECORDS processes claim at once: each gets a different place.  One more claim is refused. */
static void side_by_side(void **state)
{
	unsigned int n;
	int status;

	(void)state;
	reset();
	for (n = 0; n < RECORDS; n++)
		if (!fork()) {
			struct witness witness = WITNESS_CLOSED;
			struct witness_claim me = { .uuid = uuid_of(n) };

			_exit(witness_open(&witness, path) ||
			      witness_claim(&witness, &me));
		}
	for (n = 0; n < RECORDS; n++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	for (n = 0; n < RECORDS; n++) {
		struct nearcache_witness record;

		assert_true(place(n, &record) >= 0);
	}
	assert_int_equal(claim(RECORDS), CODE_BUSY);
	assert_said("all 64 records of witness device");
	assert_int_equal(claim_as(uuid_of(RECORDS), NULL, true), CODE_BUSY);
	assert_int_equal(claim(5), 0);
	release(40);
	assert_int_equal(claim(RECORDS), 0);
	assert_place(40, -1);
	assert_int_equal(used(), RECORDS);
}

/* Other content on the device is overwritten only with --force. */
static void carries(void **state)
{
	(void)state;
	reset();
	content = "ext4 labelled 'data'";
	assert_int_equal(claim(1), CODE_DEVICE);
	assert_said("carries ext4 labelled 'data'");
	assert_said("--force");
	assert_int_equal(used(), 0);
	assert_int_equal(claim_as(uuid_of(1), NULL, true), 0);
	assert_int_equal(wipes, 1);
	assert_place(1, 0);
	/* Cache 1 keeps its place and overwrites nothing else.  Cache 2 would overwrite "ext4". */
	content = "ext4";
	assert_int_equal(claim(1), 0);
	assert_int_equal(claim(2), CODE_DEVICE);
	/* With --force the record of cache 1 stays, and the device is not wiped again. */
	assert_int_equal(claim_as(uuid_of(2), NULL, true), 0);
	assert_int_equal(wipes, 1);
	assert_place(1, 0);
	assert_place(2, 1);
	/* A place with unknown bytes is skipped while other places are free. */
	reset();
	put("something", 9, 100);
	assert_int_equal(claim(1), 0);
	assert_place(1, 1);
}

/* A cache device becomes a witness only with --force. */
static void carries_cache(void **state)
{
	struct nearcache_super sb = { .magic = NEARCACHE_MAGIC };

	(void)state;
	reset();
	put(&sb, sizeof(sb), 524288);
	assert_int_equal(claim(1), CODE_DEVICE);
	assert_said("carries a nearcache superblock");
	assert_int_equal(claim_as(uuid_of(1), NULL, true), 0);
	assert_place(1, 0);
	assert_int_equal(claim(2), 0);
}

static int check_place(void)
{
	struct device cache = { .number = makedev(8, 16), .path = "/dev/sdb",
				.role = "cache device" };
	struct device origin = { .number = makedev(8, 0), .path = "/dev/sda",
				 .role = "origin" };
	struct witness witness = WITNESS_CLOSED;
	int error;

	fail_reset();
	assert_int_equal(witness_open(&witness, path), 0);
	error = witness_check_place(&witness, &cache, &origin);
	witness_close(&witness);
	return error;
}

static void places(void **state)
{
	(void)state;
	reset();
	assert_int_equal(check_place(), 0);
	same_drive = true;
	assert_int_equal(check_place(), CODE_DEVICE);
	assert_said("is on the same drive as cache device '/dev/sdb'");
	same_drive = false;
	busy = true;
	assert_int_equal(check_place(), CODE_BUSY);
	assert_said("mounted");
	clustered = true;
	assert_int_equal(check_place(), CODE_BUSY);
	assert_said("in use by the cluster device 'data'");
	clustered = false;
	/* Another nearcache device may have the same witness, but not as cache device or origin. */
	fake_held = true;
	assert_int_equal(check_place(), 0);
	other_cache = makedev(8, 99);
	assert_int_equal(check_place(), CODE_BUSY);
	assert_said("it is the cache device of 'other'");
	other_cache = 0;
	other_origin = makedev(8, 99);
	assert_int_equal(check_place(), CODE_BUSY);
	assert_said("it is the origin of 'other'");
	foreign = true;
	assert_int_equal(check_place(), CODE_BUSY);
	assert_said("in use by 'dm-1'");
}

/* A record takes 4096 bytes: this device has room for three. */
static void small(void **state)
{
	struct witness witness = WITNESS_CLOSED;

	(void)state;
	reset();
	assert_int_equal(truncate(path, 4095), 0);
	assert_int_equal(witness_open(&witness, path), CODE_DEVICE);
	assert_said("it needs at least 4096");
	witness_close(&witness);
	assert_int_equal(truncate(path, 3 * 4096), 0);
	assert_int_equal(claim(1), 0);
	assert_int_equal(claim(2), 0);
	assert_int_equal(claim(3), 0);
	assert_int_equal(claim(4), CODE_BUSY);
	assert_said("all 3 records");
}

static void names(void **state)
{
	(void)state;
	assert_true(witness_named("/dev/sda3"));
	assert_false(witness_named("none"));
	assert_false(witness_named(""));
	assert_false(witness_named(NULL));
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept),
		cmocka_unit_test(looked_up),
		cmocka_unit_test(replaced),
		cmocka_unit_test(freed),
		cmocka_unit_test(moved),
		cmocka_unit_test(side_by_side),
		cmocka_unit_test(carries),
		cmocka_unit_test(carries_cache),
		cmocka_unit_test(places),
		cmocka_unit_test(small),
		cmocka_unit_test(names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
