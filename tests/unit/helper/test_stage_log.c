// SPDX-License-Identifier: GPL-2.0-only
/* ondisk/stage_log.c: format of a log, damaged copies, the newer copy, the record of a close. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/error.h"
#include "ondisk/stage_log.h"
#include "unit.h"

#define LOG_BYTES	(64ULL << 20)

static char path[] = "/tmp/stage_log_unit.XXXXXX";
static const struct device origin = { .size = 1ULL << 30, .id = "wwid:eui.1" };
static struct device dev;

/* The device is a file, which a test can claim. */
static int file_begin(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0 || ftruncate(fd, LOG_BYTES) || close(fd) ||
	    device_open_any(&dev, path, "log device"))
		return -1;
	return device_share(&dev);
}

static int file_end(void **state)
{
	(void)state;
	device_close(&dev);
	return unlink(path);
}

static void format(struct nearcache_stage_super *sb)
{
	fail_reset();
	assert_int_equal(stage_log_format(&dev, &origin, "nc", NEARCACHE_STAGE_RESERVE, sb), 0);
}

static void damage(unsigned int copy)
{
	assert_int_equal(device_zero(&dev, stage_log_offset(copy), 4096), 0);
}

/* Whether the log is valid; @copy receives which copy counts. */
static bool is_valid(unsigned int *copy)
{
	struct stage_log log;
	bool valid;

	assert_int_equal(stage_log_read(&log, &dev), 0);
	valid = log.best;
	*copy = log.best == log.copy[1];
	stage_log_free(&log);
	return valid;
}

static void format_read(void **state)
{
	struct nearcache_stage_super *sb = device_buffer(sizeof(*sb));
	struct stage_log log;

	(void)state;
	format(sb);
	assert_int_equal(stage_log_read(&log, &dev), 0);
	assert_int_equal(stage_log_require(&log, &dev), 0);
	assert_ptr_equal(log.best, log.copy[1]);
	assert_memory_equal(log.best, sb, sizeof(*sb));
	assert_int_equal(le64_to_cpu(log.copy[0]->sequence), 1);
	assert_int_equal(le64_to_cpu(log.best->sequence), 2);
	assert_int_equal(le64_to_cpu(log.best->volume_sectors), origin.size / 512);
	assert_int_equal(le64_to_cpu(log.best->ring_blocks), (LOG_BYTES - (1 << 20)) / 4096);
	assert_int_equal(le64_to_cpu(log.best->tail_number), 1);
	assert_int_equal(le64_to_cpu(log.best->tail_epoch), 1);
	assert_string_equal((char *)log.best->origin_id, origin.id);
	assert_string_equal((char *)log.best->label, "nc");
	/* A new log lacks nothing on the origin. */
	assert_true(stage_log_drained(log.best));
	stage_log_free(&log);
	free(sb);
}

static void copies_damaged(void **state)
{
	struct nearcache_stage_super *sb = device_buffer(sizeof(*sb));
	struct stage_log log;
	unsigned int copy;

	(void)state;
	format(sb);
	damage(1);
	assert_true(is_valid(&copy));
	assert_int_equal(copy, 0);
	format(sb);
	damage(0);
	assert_true(is_valid(&copy));
	assert_int_equal(copy, 1);
	damage(1);
	assert_false(is_valid(&copy));
	/* A log of another uuid in copy 0. */
	format(sb);
	sb->uuid[0] ^= 1;
	stage_log_seal(sb);
	assert_int_equal(device_write(&dev, sb, sizeof(*sb), stage_log_offset(0)), 0);
	assert_int_equal(stage_log_read(&log, &dev), 0);
	assert_int_equal(stage_log_require(&log, &dev), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "uuid differs"));
	fail_reset();
	stage_log_free(&log);
	free(sb);
}

static void fields_refused(void **state)
{
	struct nearcache_stage_super *good = device_buffer(sizeof(*good)), sb;
	char why[NC_WHY_SIZE];

	(void)state;
	format(good);
#define REFUSED(field, value, word) do {					\
		sb = *good;							\
		sb.field = (value);						\
		stage_log_seal(&sb);						\
		assert_false(stage_log_check(&sb, LOG_BYTES, why));		\
		assert_non_null(strstr(why, word));				\
	} while (0)
	assert_true(stage_log_check(good, LOG_BYTES, why));
	assert_false(stage_log_check(good, LOG_BYTES - 4096, why));
	REFUSED(version, cpu_to_le32(2), "version 2");
	REFUSED(ring_blocks, cpu_to_le64(4095), "ring of 4095");
	REFUSED(volume_sectors, 0, "volume of 0");
	REFUSED(tail, cpu_to_le64(1ULL << 63), "out of range");
	sb = *good;
	sb.tail = cpu_to_le64(1);
	assert_false(stage_log_check(&sb, LOG_BYTES, why));
	assert_non_null(strstr(why, "checksum"));
	free(good);
}

/* A start of the kernel raises the generation, and the record is out of date. */
static void close_recorded(void **state)
{
	struct nearcache_stage_super *sb = device_buffer(sizeof(*sb));
	struct stage_closing closing = { .reservation = 5 };
	struct stage_log log;

	(void)state;
	format(sb);
	sb->generation = cpu_to_le64(1);
	sb->sequence = cpu_to_le64(7);
	stage_log_seal(sb);
	assert_int_equal(device_write(&dev, sb, sizeof(*sb), stage_log_offset(0)), 0);
	assert_int_equal(stage_log_read(&log, &dev), 0);
	assert_false(stage_log_drained(log.best));
	stage_log_free(&log);
	assert_int_equal(stage_log_record_closed(&dev, sb->uuid, &closing), 0);
	assert_int_equal(stage_log_read(&log, &dev), 0);
	assert_false(stage_log_drained(log.best));
	assert_int_equal(le64_to_cpu(log.copy[1]->sequence), 8);
	assert_int_equal(le64_to_cpu(log.copy[0]->sequence), 9);
	stage_log_free(&log);
	closing.drained = true;
	assert_int_equal(stage_log_record_closed(&dev, sb->uuid, &closing), 0);
	assert_int_equal(stage_log_read(&log, &dev), 0);
	assert_true(stage_log_drained(log.best));
	assert_int_equal(le32_to_cpu(log.best->flags), NEARCACHE_STAGE_RESERVE);
	assert_int_equal(le64_to_cpu(log.best->closed_generation), 1);
	assert_int_equal(le32_to_cpu(log.best->closed_reservation), 5);
	stage_log_free(&log);
	sb->uuid[0] ^= 1;
	assert_int_equal(stage_log_record_closed(&dev, sb->uuid, &closing), CODE_BUSY);
	fail_reset();
	free(sb);
}

static void assert_passing(void)
{
	struct stage_log log;
	unsigned int i;

	assert_int_equal(stage_log_read(&log, &dev), 0);
	for (i = 0; i < STAGE_LOG_COPIES; i++)
		assert_true(le32_to_cpu(log.copy[i]->flags) & NEARCACHE_STAGE_PASSING);
	stage_log_free(&log);
}

/* A return that failed has cleared the flag in the newest copy only; a damaged copy may have it. */
static void passing_kept(void **state)
{
	struct nearcache_stage_super *sb = device_buffer(sizeof(*sb));
	struct stage_closing closing = { 0 };
	struct stage_log log;

	(void)state;
	format(sb);
	sb->flags |= cpu_to_le32(NEARCACHE_STAGE_PASSING);
	sb->sequence = cpu_to_le64(1);
	stage_log_seal(sb);
	assert_int_equal(device_write(&dev, sb, sizeof(*sb), stage_log_offset(0)), 0);
	assert_int_equal(stage_log_read(&log, &dev), 0);
	assert_ptr_equal(log.best, log.copy[1]);
	assert_false(le32_to_cpu(log.best->flags) & NEARCACHE_STAGE_PASSING);
	stage_log_free(&log);
	assert_int_equal(stage_log_record_closed(&dev, sb->uuid, &closing), 0);
	assert_passing();
	format(sb);
	damage(0);
	assert_int_equal(stage_log_record_closed(&dev, sb->uuid, &closing), 0);
	assert_passing();
	free(sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(format_read),
		cmocka_unit_test(copies_damaged),
		cmocka_unit_test(fields_refused),
		cmocka_unit_test(close_recorded),
		cmocka_unit_test(passing_kept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, file_begin, file_end);
}
