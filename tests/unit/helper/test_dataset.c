// SPDX-License-Identifier: GPL-2.0-only
/* open/dataset.c on files: whenever the power fails, the cache is the old one or the new one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ondisk/fingerprint_ends.h"
#include "open/origin_record.h"
#include "lib/error.h"
#include "ondisk/layout.h"
#include "unit.h"
#include "open/witness.h"

#define CACHE_BYTES	(64ULL << 20)
#define ORIGIN_BYTES	(40ULL << 20)

/* Last call of witness_leave(): witness in the superblock, and device of the new witness. */
static char left[160];
static dev_t left_for;

void witness_leave(const struct nearcache_super *sb, dev_t now)
{
	snprintf(left, sizeof(left), "<%s>", (const char *)sb->witness);
	left_for = now;
}

static char dir[] = "/tmp/test_dataset.XXXXXX";
static char cache_path[64], origin_path[64];

/* Writes that succeed before one fails (-1: none fails); whether the failing one is torn. */
static int writes_left = -1;
static bool torn;

ssize_t __real_pwrite(int fd, const void *buffer, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *buffer, size_t bytes, off_t offset);

ssize_t __wrap_pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
	static unsigned char part[DEVICE_ALIGN]
		__attribute__((aligned(DEVICE_ALIGN)));

	if (writes_left < 0 || writes_left--)
		return __real_pwrite(fd, buffer, bytes, offset);
	writes_left = 0;
	if (torn) {
		memcpy(part, buffer, sizeof(part) / 2);
		memset(part + 256, 0xff, 64);
		__real_pwrite(fd, part, sizeof(part), offset);
	}
	errno = EIO;
	return -1;
}

static void put(const char *path, const void *data, size_t bytes, off_t offset)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(__real_pwrite(fd, data, bytes, offset), bytes);
	close(fd);
}

/* Make a cache of dataset version "version 1"; damage superblock copy @broken, -1: none. */
static void make_cache(u32 super_state, int broken)
{
	struct nearcache_super sb = { 0 };
	struct layout layout;
	char why[NC_WHY_SIZE];
	int i;

	assert_true(layout_compute(&layout, CACHE_BYTES, 0, false, ORIGIN_BYTES / 2,
				   512, 512, why));
	layout_to_super(&layout, &sb);
	memcpy(sb.magic, NEARCACHE_MAGIC, NEARCACHE_MAGIC_LEN);
	sb.version = NEARCACHE_VERSION;
	sb.sequence = 7;
	sb.state = super_state;
	sb.stripe_count = 1;
	sb.table_epoch = 3;
	strcpy((char *)sb.dataset_version, "version 1");
	nc_super_seal(&sb);
	assert_int_equal(truncate(cache_path, CACHE_BYTES), 0);
	for (i = 0; i < NEARCACHE_SUPER_COPIES; i++)
		put(cache_path, &sb, sizeof(sb), (off_t)super_offset(i));
	if (broken >= 0)
		put(cache_path, "X", 1, (off_t)super_offset(broken) + 100);
}

/* The file systems on the origin as dataset_record() got or found them. */
static struct fsprint_result content;

static int record(const struct dataset_change *asked)
{
	struct dataset_change change = *asked;
	struct device cache, origin;
	struct super super;
	int error;

	fail_reset();
	assert_int_equal(device_open_any(&cache, cache_path, "cache device"), 0);
	assert_int_equal(device_open_any(&origin, origin_path, "origin"), 0);
	assert_int_equal(super_read(&super, &cache), 0);
	assert_non_null(super.best);
	strcpy(origin.id, "wwid:new");
	change.content = &content;
	error = dataset_record(&cache, &super, &origin, &change);
	super_free(&super);
	device_close(&origin);
	return error;
}

static int replace(const char *version)
{
	return record(&(struct dataset_change){
		.version = version, .size = ORIGIN_BYTES, .drop = true });
}

static void look(struct super *super)
{
	struct device cache;

	fail_reset();
	assert_int_equal(device_open_any(&cache, cache_path, "cache device"), 0);
	assert_int_equal(super_read(super, &cache), 0);
	device_close(&cache);
}

static void assert_new(const struct nearcache_super *sb, u32 super_state)
{
	assert_non_null(sb);
	assert_string_equal((char *)sb->dataset_version, "v2");
	/* The old, longer version is erased completely. */
	assert_int_equal(sb->dataset_version[4], 0);
	assert_int_equal(sb->sequence, 8);
	assert_int_equal(sb->table_epoch, 4);
	assert_int_equal(sb->state, super_state);
	assert_int_equal(sb->origin_size, ORIGIN_BYTES);
	assert_int_equal(sb->origin_fingerprint_type, NEARCACHE_FP_ENDS);
}

static void replaced(void **state)
{
	struct super super;
	u32 super_state;
	int broken;

	(void)state;
	for (super_state = 0; super_state < 2; super_state++)
		for (broken = -1; broken < 2; broken++) {
			make_cache(super_state, broken);
			assert_int_equal(replace("v2"), 0);
			look(&super);
			assert_new(super.best, super_state);
			assert_true(super.sound[0] && super.sound[1]);
			assert_memory_equal(super.copy[0], super.copy[1],
					    NEARCACHE_SUPER_SIZE);
			super_free(&super);
		}
}

/* Without @drop cached data stays (same table epoch), and the superblock records the new origin. */
static void trusted(void **state)
{
	static const struct {
		const char *version;
		u64 size;
		u64 recorded;
	} row[] = {
		{ NULL, ORIGIN_BYTES / 2, ORIGIN_BYTES / 2 },
		/* A larger size is not recorded here: the kernel records it. */
		{ "v2", ORIGIN_BYTES, ORIGIN_BYTES / 2 },
		{ NULL, ORIGIN_BYTES / 4, ORIGIN_BYTES / 4 },
	};
	unsigned char digest[32] = { 0 };
	struct super super;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		make_cache(0, -1);
		assert_int_equal(record(&(struct dataset_change){
			.version = row[i].version, .size = row[i].size }), 0);
		look(&super);
		assert_int_equal(super.best->sequence, 8);
		assert_int_equal(super.best->table_epoch, 3);
		assert_int_equal(super.best->origin_size, row[i].recorded);
		assert_string_equal((char *)super.best->origin_id, "wwid:new");
		assert_string_equal((char *)super.best->dataset_version,
				    row[i].version ? "v2" : "version 1");
		assert_int_equal(super.best->origin_fingerprint_type,
				 NEARCACHE_FP_ENDS);
		assert_memory_not_equal(super.best->origin_fingerprint, digest,
					sizeof(digest));
		super_free(&super);
	}
}

/* At any interruption the device holds the old cache or the new one. */
static void stopped_within(void **state)
{
	int broken, after, half;
	struct super super;

	(void)state;
	for (broken = -1; broken < 2; broken++)
		for (after = 0; after < 2; after++)
			for (half = 0; half < 2; half++) {
				make_cache(0, broken);
				writes_left = after;
				torn = half;
				assert_int_not_equal(replace("v2"), 0);
				assert_int_equal(!!strstr(fail_message(),
							  "is valid already"),
						 after);
				writes_left = -1;
				look(&super);
				assert_non_null(super.best);
				if (after)
					assert_new(super.best, 0);
				else
					assert_int_equal(super.best->sequence,
							 7);
				super_free(&super);
				/* The next attempt repairs both copies. */
				assert_int_equal(replace("v2"), 0);
			}
}

/* A path replaces the recorded witness, NULL keeps it, and "" removes it. */
static void witness(void **state)
{
	static const struct {
		const char *said;
		const char *recorded;
	} row[] = {
		{ "/dev/disk/by-id/a-long-name", "/dev/disk/by-id/a-long-name" },
		{ NULL, "/dev/disk/by-id/a-long-name" },
		{ "/dev/b", "/dev/b" },
		{ "", "" },
	};
	static const char zero[sizeof(((struct nearcache_super *)0)->witness)];
	struct super super;
	unsigned int i;

	(void)state;
	make_cache(NEARCACHE_STATE_WRITING, -1);
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_int_equal(record(&(struct dataset_change){
			.witness = row[i].said, .size = ORIGIN_BYTES / 2 }), 0);
		look(&super);
		assert_string_equal((char *)super.best->witness,
				    row[i].recorded);
		/* The old, longer path is erased completely. */
		assert_memory_equal(super.best->witness +
					    strlen(row[i].recorded), zero,
				    sizeof(zero) - strlen(row[i].recorded));
		assert_int_equal(super.best->state, NEARCACHE_STATE_WRITING);
		assert_int_equal(super.best->table_epoch, 3);
		super_free(&super);
	}
}

/* Fingerprints that the caller compared are recorded without a look at the origin. */
static void known(void **state)
{
	struct super before, after;

	(void)state;
	make_cache(NEARCACHE_STATE_CLEAN, -1);
	look(&before);
	content.type = NEARCACHE_FP_XFS;
	memset(content.digest, 7, sizeof(content.digest));
	assert_int_equal(record(&(struct dataset_change){
		.size = ORIGIN_BYTES / 2, .known = true }), 0);
	look(&after);
	assert_memory_equal(after.best->origin_fingerprint, before.best->origin_fingerprint,
			    FINGERPRINT_SIZE);
	assert_int_equal(after.best->file_system_type,
			 NEARCACHE_FP_XFS + NEARCACHE_FP_MORE);
	assert_memory_equal(after.best->file_system_fingerprint, content.digest, FSPRINT_SIZE);
	super_free(&before);
	super_free(&after);
}

/* dataset_record() sets the session number of a cache, here one that is emptied as an old copy. */
static void session(void **state)
{
	struct super super;

	(void)state;
	make_cache(NEARCACHE_STATE_CLEAN, -1);
	assert_int_equal(record(&(struct dataset_change){
		.session = 9, .size = ORIGIN_BYTES / 2, .drop = true }), 0);
	look(&super);
	assert_int_equal(super.best->session, 9);
	assert_int_equal(super.best->table_epoch, 4);
	super_free(&super);
	*left = '\0';
	assert_int_equal(record(&(struct dataset_change){
		.size = ORIGIN_BYTES / 2 }), 0);
	assert_string_equal(left, "");
	assert_int_equal(record(&(struct dataset_change){
		.witness = "/dev/w", .witness_now = 7, .size = ORIGIN_BYTES / 2 }), 0);
	assert_string_equal(left, "<>");
	assert_int_equal(left_for, 7);
	/* Session 12 is set although the cache keeps its data.  Session 3, being lower, is not. */
	assert_int_equal(record(&(struct dataset_change){
		.session = 12, .size = ORIGIN_BYTES / 2 }), 0);
	assert_int_equal(record(&(struct dataset_change){
		.session = 3, .size = ORIGIN_BYTES / 2, .drop = true }), 0);
	look(&super);
	assert_int_equal(super.best->session, 12);
	super_free(&super);
	/* In state WRITING session 12 is ignored, as the write intent has the old number (0). */
	make_cache(NEARCACHE_STATE_WRITING, -1);
	assert_int_equal(record(&(struct dataset_change){
		.session = 12, .size = ORIGIN_BYTES }), 0);
	look(&super);
	assert_int_equal(super.best->session, 0);
	super_free(&super);
}

static void versions(void **state)
{
	struct nearcache_super sb = { 0 };
	char longest[65];

	(void)state;
	memset(longest, 'v', sizeof(longest));
	longest[64] = '\0';
	fail_reset();
	assert_int_equal(dataset_check_version(NULL), 0);
	assert_int_equal(dataset_check_version("v1 \xc3\xbc"), 0);
	assert_int_equal(dataset_check_version(longest + 1), 0);
	assert_int_equal(dataset_check_version(longest), CODE_USAGE);
	fail_reset();
	assert_int_equal(dataset_check_version("a\nb"), CODE_USAGE);
	fail_reset();
	assert_int_equal(dataset_check_version(""), CODE_USAGE);
	assert_false(dataset_is_new(&sb, NULL));
	assert_true(dataset_is_new(&sb, "v1"));
	strcpy((char *)sb.dataset_version, "v1");
	assert_false(dataset_is_new(&sb, NULL));
	assert_false(dataset_is_new(&sb, "v1"));
	assert_true(dataset_is_new(&sb, "v12"));
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(cache_path, sizeof(cache_path), "%s/cache", dir);
	snprintf(origin_path, sizeof(origin_path), "%s/origin", dir);
	put(cache_path, "", 1, 0);
	put(origin_path, "origin", 6, 0);
	return truncate(origin_path, ORIGIN_BYTES);
}

static int teardown(void **state)
{
	(void)state;
	unlink(cache_path);
	unlink(origin_path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaced),
		cmocka_unit_test(trusted),
		cmocka_unit_test(stopped_within),
		cmocka_unit_test(witness),
		cmocka_unit_test(known),
		cmocka_unit_test(session),
		cmocka_unit_test(versions),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
