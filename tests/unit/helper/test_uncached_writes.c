// SPDX-License-Identifier: GPL-2.0-only
/* Gaps (open/uncached_writes.c): a cache is stale after its origin was used without the cache. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "block/device.h"
#include "block/dm.h"
#include "block/dm_pieces.h"
#include "lib/error.h"
#include "open/uncached_writes.h"
#include "block/device_sysfs.h"
#include "said.h"

#define A	"wwid:eui.a"
#define B	"wwid:eui.b"

static char folder[64], path[80];
/* Type of the record's file system; fsync() calls so far; number of the fsync() that fails. */
static long type;
static int flushes, flush_fails;
/* Device of the record's file system, and that device's only attribute in sysfs ("": none). */
static const char *disk, *attribute_of_disk, *value_of_disk;
static struct dm_piece piece;
/* The passthrough device; if its uuid is empty, there is no passthrough device. */
static struct dm_device passing;

bool identity_kernel_name(dev_t number, char *name, size_t size)
{
	snprintf(name, size, "%s", number ? disk : "ram0");
	return true;
}

bool identity_attribute(dev_t number, const char *attribute, char *value,
			size_t size)
{
	(void)number;
	snprintf(value, size, "%s", value_of_disk);
	return !strcmp(attribute, attribute_of_disk);
}

int dm_pieces(dev_t number, struct dm_piece **list, size_t *count)
{
	(void)number;
	*list = calloc(1, sizeof(piece));
	**list = piece;
	*count = 1;
	return 0;
}

int dm_all_passing(struct dm_device **list, size_t *count)
{
	*list = calloc(1, sizeof(passing));
	**list = passing;
	*count = *passing.uuid ? 1 : 0;
	return 0;
}

void dm_device_free_all(struct dm_device *list, size_t count)
{
	(void)count;
	free(list);
}

int __real_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs)
{
	int error = __real_fstatfs(fd, fs);

	fs->f_type = type;
	return error;
}

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	(void)fd;
	errno = EIO;
	return ++flushes == flush_fails ? -1 : 0;
}

static int reset(void **state)
{
	static char template[] = "/tmp/test_gaps.XXXXXX";

	(void)state;
	if (!*folder)
		snprintf(folder, sizeof(folder), "%s/gaps", mkdtemp(template));
	snprintf(path, sizeof(path), "%s/gaps.json", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/gaps.json.new", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/gaps.json", folder);
	rmdir(folder);
	unlink(folder);
	gaps_folder = folder;
	type = EXT4_SUPER_MAGIC;
	flushes = flush_fails = 0;
	disk = "sda1";
	attribute_of_disk = value_of_disk = "";
	memset(&piece, 0, sizeof(piece));
	memset(&passing, 0, sizeof(passing));
	fail_reset();
	return 0;
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Begin a test with a record that has no gaps. */
static int reset_empty(void **state)
{
	reset(state);
	mkdir(folder, 0755);
	write_file("{\"schema\": 1, \"gaps\": []}");
	return 0;
}

static struct nearcache_super cache_of(u8 uuid, const char *origin, u64 epoch)
{
	struct nearcache_super sb = { .table_epoch = cpu_to_le64(epoch) };

	memset(sb.uuid, uuid, sizeof(sb.uuid));
	strcpy((char *)sb.origin_id, origin);
	return sb;
}

static bool stale(u8 uuid, const char *recorded, const char *origin, u64 epoch)
{
	struct nearcache_super sb = cache_of(uuid, recorded, epoch);
	bool concern;

	assert_int_equal(gaps_concern(&sb, origin, &concern), 0);
	return concern;
}

static void begin(const char *origin, const u8 *uuid)
{
	assert_int_equal(gaps_begin("nc", origin, uuid), 0);
	assert_true(!access(path, F_OK));
}

static void emptied(u8 uuid, u64 epoch)
{
	struct nearcache_super sb = cache_of(uuid, "", epoch - 1);

	assert_int_equal(gaps_emptied(&sb, epoch), 0);
}

static void concern(void **state)
{
	(void)state;
	assert_false(stale(1, A, A, 1));
	begin(A, NULL);
	/* A cache is stale if its recorded origin or the origin that it is opened with may be A. */
	assert_true(stale(1, A, A, 1));
	assert_true(stale(2, A, A, 1));
	assert_true(stale(2, A, B, 1));
	assert_true(stale(2, B, A, 1));
	assert_true(stale(2, "", B, 1));
	assert_false(stale(2, B, B, 1));
	emptied(1, 2);
	assert_false(stale(1, A, A, 2));
	assert_false(stale(1, A, A, 9));
	/* Cache 1 was emptied with epoch 2; a copy of it with epoch 1 is still stale. */
	assert_true(stale(1, A, A, 1));
	assert_true(stale(2, A, A, 2));
	emptied(2, 5);
	assert_false(stale(1, A, A, 2) || stale(2, A, A, 5));
	/* After a second gap of A both emptied caches are stale. */
	begin(A, NULL);
	assert_true(stale(1, A, A, 2) && stale(2, A, A, 5));
	assert_false(stale(2, B, B, 1));
}

/* Without a record of gaps each cache is stale until it is emptied: gaps may have been lost. */
static void missing(void **state)
{
	(void)state;
	type = TMPFS_MAGIC;
	assert_true(stale(1, A, A, 1) && stale(2, B, B, 1));
	assert_true(access(path, F_OK));
	/* Emptying a cache creates the record of gaps, even on a tmpfs, which a reboot empties. */
	emptied(1, 1);
	assert_false(access(path, F_OK));
	assert_false(stale(1, A, A, 1));
	assert_true(stale(2, B, B, 1));
	emptied(2, 5);
	assert_false(stale(2, B, B, 5));
	/* Now a copy of cache 2 is emptied with epoch 3: another copy, with epoch 4, is stale. */
	emptied(2, 3);
	assert_true(stale(2, B, B, 4));
	unlink(path);
	assert_true(stale(1, A, A, 1));
	type = EXT4_SUPER_MAGIC;
	begin(A, NULL);
	assert_true(stale(1, B, B, 1));
}

/* While a passthrough device may write, its gap goes on: emptying a cache does not end the gap. */
static void going_on(void **state)
{
	(void)state;
	strcpy(passing.uuid, DM_PASSTHROUGH_PREFIX "nc");
	passing.live = true;
	begin(A, NULL);
	emptied(1, 2);
	assert_true(stale(1, A, A, 2));
	passing.read_only = true;
	emptied(1, 2);
	assert_false(stale(1, A, A, 2));
	begin(A, NULL);
	passing.read_only = false;
	strcpy(passing.uuid, DM_PASSTHROUGH_PREFIX "nd");
	emptied(1, 3);
	assert_false(stale(1, A, A, 3));
	/* A gap of an unknown origin ("") goes on while any passthrough device may write. */
	begin("", NULL);
	emptied(1, 4);
	assert_true(stale(1, A, A, 4));
}

/* A gap may name a cache by uuid: that cache is stale whatever origin its superblock records. */
static void known(void **state)
{
	u8 uuid[16];

	(void)state;
	memset(uuid, 3, sizeof(uuid));
	begin(A, uuid);
	assert_true(stale(3, B, B, 1));
	assert_true(stale(1, A, A, 1));
	assert_false(stale(1, B, B, 1));
	emptied(3, 2);
	assert_false(stale(3, B, B, 2));
	assert_true(stale(1, A, A, 1));
	/* A second gap of A names no cache: the cache that the first gap named is stale again. */
	begin(A, NULL);
	assert_true(stale(3, B, B, 2));
	/* A third gap of A names cache 4: caches 3 and 4 are stale. */
	memset(uuid, 4, sizeof(uuid));
	begin(A, uuid);
	assert_true(stale(3, B, B, 2) && stale(4, B, B, 1));
}

static void identities(void **state)
{
	static const struct {
		const char *a, *b;
		bool may;
	} pairs[] = {
		{ A, A, true }, { A, B, false }, { A, "", true },
		{ A "-part1", A, true }, { A "-part1", B "-part1", false },
		{ A "-part1", A "-part2", true }, { A "-partx", A, false },
		{ "wwid:naa.a", A, true }, { "wwid:sha256.a", A, true },
		{ "wwid:sha256.a", "wwid:sha256.b", true },
		{ "wwid:uuid.a", "wwid:uuid.b", true }, { "wwid:uuid.a", A, true },
		{ "dm-uuid:a", "dm-uuid:b", true }, { "serial:a", "serial:b", true },
		{ "md-uuid:a", "md-uuid:b", false }, { "md-uuid:a", A, true },
		{ "", "", true }, { "wwid:a", "wwid:b", true },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (identity_may_be_same(pairs[i].a, pairs[i].b) != pairs[i].may ||
		    identity_may_be_same(pairs[i].b, pairs[i].a) != pairs[i].may)
			fail_msg("'%s' and '%s'", pairs[i].a, pairs[i].b);
}

/* If the list of gaps is full, a single gap of an unknown origin replaces all gaps in the list.  If
 * the list of emptied caches is full, the oldest entry is dropped, so that cache is stale again.
 */
static void full(void **state)
{
	char origin[32];
	unsigned int i;

	(void)state;
	for (i = 0; i < GAPS_MAX; i++) {
		snprintf(origin, sizeof(origin), "wwid:eui.%u", i);
		begin(origin, NULL);
	}
	assert_false(stale(1, A, A, 1));
	assert_true(stale(1, "wwid:eui.7", "wwid:eui.7", 1));
	begin(B, NULL);
	assert_true(stale(1, A, A, 1));
	assert_true(stale(1, "wwid:eui.7", "wwid:eui.7", 1));
	for (i = 1; i <= GAPS_EMPTIED + 1; i++)
		emptied((u8)i, 2);
	assert_true(stale(1, A, A, 2));
	assert_false(stale(2, A, A, 2) || stale(GAPS_EMPTIED + 1, A, A, 2));
}

/* A gap of an upgrade goes without a trace, and takes no other gap with it. */
static void of_a_run(void **state)
{
	u8 uuid[16];
	char run[16];
	unsigned int i;

	(void)state;
	memset(uuid, 1, sizeof(uuid));
	begin(A, uuid);
	emptied(2, 5);
	assert_false(stale(2, A, A, 5));
	for (i = 0; i < 2 * GAPS_MAX; i++) {
		assert_int_equal(gaps_add("nc", A, uuid, "run 1"), 0);
		assert_true(stale(2, A, A, 5));
		assert_int_equal(gaps_remove("run 1"), 0);
		assert_false(stale(2, A, A, 5));
	}
	assert_true(stale(1, A, A, 1));
	/* A gap of a run that ended otherwise stays. */
	assert_int_equal(gaps_add("nc", A, uuid, "run 1"), 0);
	assert_int_equal(gaps_remove("run 2"), 0);
	assert_true(stale(2, A, A, 5));
	/* So does one in which a pass-through device has begun to write. */
	reset_empty(state);
	assert_int_equal(gaps_add("nc", A, uuid, "run 1"), 0);
	begin(A, uuid);
	assert_int_equal(gaps_remove("run 1"), 0);
	assert_true(stale(1, A, A, 1));
	for (i = 1; i < GAPS_MAX; i++) {
		snprintf(run, sizeof(run), "run %u", i);
		assert_int_equal(gaps_add("nc", A, uuid, run), 0);
		assert_int_equal(gaps_add("nc", A, uuid, run), 0);
	}
	assert_int_not_equal(gaps_add("nc", A, uuid, "run"), 0);
	assert_said("no room");
	fail_reset();
}

static void refuse_begin(const char *said)
{
	assert_int_not_equal(gaps_begin("nc", A, NULL), 0);
	assert_said(said);
	fail_reset();
}

static void not_durable(void **state)
{
	static const long gone[] = { TMPFS_MAGIC, 0x858458f6, OVERLAYFS_SUPER_MAGIC };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		type = gone[i];
		refuse_begin("does not survive a reboot");
		assert_int_not_equal(gaps_check(), 0);
		fail_reset();
		assert_true(access(path, F_OK));
	}
	type = EXT4_SUPER_MAGIC;
	assert_int_equal(gaps_check(), 0);
	begin(A, NULL);
	/* If fsync() of the file or its folder fails, the old record stays. */
	for (i = 1; i <= 2; i++) {
		flushes = 0;
		flush_fails = (int)i;
		refuse_begin("cannot write");
		assert_true(stale(1, A, A, 1));
	}
}

static void unreadable(const char *said)
{
	struct nearcache_super sb = cache_of(1, A, 1);
	bool stale_now;

	assert_int_not_equal(gaps_concern(&sb, A, &stale_now), 0);
	assert_said(said);
	fail_reset();
	refuse_begin(said);
}

/* No record is written to a device that a reboot empties, nor to a dm device on top of one. */
static void fleeting(void **state)
{
	(void)state;
	disk = "zram0";
	refuse_begin("does not survive a reboot: it is on a RAM disk");
	disk = "ram1";
	refuse_begin("a RAM disk");
	disk = "loop0p1";
	attribute_of_disk = "../loop/backing_file";
	value_of_disk = "/nowhere (deleted)";
	refuse_begin("a loop device on a file that is gone");
	disk = "dm-0";
	attribute_of_disk = "dm/name";
	strcpy(piece.type, "snapshot");
	refuse_begin("a device-mapper snapshot");
	strcpy(piece.type, "linear");
	begin(A, NULL);
	piece.linear = true;
	refuse_begin("a RAM disk");
}

static void damaged(void **state)
{
	static const char *const text[] = {
		"", "{", "[]", "{}", "{\"schema\": 2, \"gaps\": []}",
		"{\"schema\": 1, \"gaps\": 1}", "{\"schema\": 1, \"gaps\": [1]}",
		"{\"schema\": 1, \"gaps\": [{\"name\": \"n\", \"origin\": \"o\"}]}",
		"{\"schema\": 1, \"gaps\": [{\"name\": \"n\", \"origin\": 1, \"emptied\": []}]}",
		"{\"schema\": 1, \"gaps\": [{\"name\": \"n\", \"origin\": \"o\", \"cache\": \"x\", \"emptied\": []}]}",
		"{\"schema\": 1, \"gaps\": [{\"name\": \"n\", \"origin\": \"o\", \"emptied\": [{\"cache\": \"ffc45aad-60bf-42f0-88b9-7283dbfab37d\", \"epoch\": \"1\"}]}]}",
	};
	unsigned int i;

	(void)state;
	mkdir(folder, 0755);
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		write_file(text[i]);
		unreadable("is damaged");
	}
	write_file("{\"schema\": 1, \"gaps\": []}");
	assert_false(stale(1, A, A, 1));
}

/* A record that is a dangling link is an error, not "no gap": its target may be mounted later. */
static void links(void **state)
{
	static char below[96];

	(void)state;
	assert_int_equal(symlink("/nowhere/at/all", folder), 0);
	unreadable("a dangling link");
	unlink(folder);
	mkdir(folder, 0755);
	assert_int_equal(symlink("/nowhere/at/all", path), 0);
	unreadable("a dangling link");
	unlink(path);
	/* A dangling link in a parent folder is an error as well. */
	rmdir(folder);
	assert_int_equal(symlink("/nowhere/at/all", folder), 0);
	gaps_folder = below;
	snprintf(below, sizeof(below), "%s/lib/nearcache", folder);
	unreadable("a dangling link");
	gaps_folder = folder;
	unlink(folder);
	assert_int_equal(close(creat(folder, 0600)), 0);
	unreadable("Not a directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(concern, reset_empty),
		cmocka_unit_test_setup(missing, reset),
		cmocka_unit_test_setup(going_on, reset_empty),
		cmocka_unit_test_setup(fleeting, reset),
		cmocka_unit_test_setup(known, reset_empty),
		cmocka_unit_test_setup(identities, reset),
		cmocka_unit_test_setup(full, reset_empty),
		cmocka_unit_test_setup(of_a_run, reset_empty),
		cmocka_unit_test_setup(not_durable, reset),
		cmocka_unit_test_setup(damaged, reset),
		cmocka_unit_test_setup(links, reset),
	};
	int failed = RUN(tests);

	reset(NULL);
	*strrchr(folder, '/') = '\0';
	rmdir(folder);
	return failed;
}
