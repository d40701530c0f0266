// SPDX-License-Identifier: GPL-2.0-only
/* daemon/loop_position.c: a complete pass of a looping reader, its order, the reader's position. */
#include <stdlib.h>

#include "daemon/loop_position.h"
#include "lib/error.h"
#include "unit.h"

#define UNIT		65536U
#define SECTORS		(UNIT / 512)
#define DEVICE		(1ULL << 33)
/* Units in a pass; unit_of() gives every third unit of the device, in a fixed shuffled order. */
#define PASS		1009U
/* Units of a file in repeated_order(). */
#define FILE_UNITS	10U

static struct loop loop;

static uint64_t unit_of(unsigned int i)
{
	return 3ULL * (i % PASS * 371 % PASS);
}

static void record_one(uint64_t unit)
{
	assert_int_equal(loop_record(&loop, unit * SECTORS, SECTORS), 0);
}

/* Record a pass and further reads until it is detected; return the number of further reads. */
static unsigned int record_pass(void)
{
	unsigned int i;

	assert_int_equal(loop_begin(&loop, UNIT, DEVICE), 0);
	for (i = 0; !loop_is_whole(&loop); i++) {
		assert_true(i < 2 * PASS);
		record_one(unit_of(i));
	}
	assert_int_equal(loop.trace.bytes, PASS * (uint64_t)UNIT);
	return i - PASS;
}

static void close_pass(void)
{
	record_pass();
	assert_int_equal(loop_close(&loop), 0);
}

static void whole(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(record_pass(), PASS / 8 + 1);
	assert_false(loop_is_too_long(&loop));
	loop_free(&loop);
	/* While half of the reads repeat and half are of new units, the pass is incomplete. */
	assert_int_equal(loop_begin(&loop, UNIT, DEVICE), 0);
	assert_false(loop_is_whole(&loop));
	/* Few repetitions at the beginning do not complete a pass. */
	for (i = 0; i < 32; i++)
		record_one(0);
	assert_false(loop_is_whole(&loop));
	for (i = 0; i < PASS; i++) {
		record_one(unit_of(i));
		record_one(unit_of(i / 2));
		assert_false(loop_is_whole(&loop));
	}
	/* Repeated reads complete the pass, although 1 in 16 reads is of a new unit. */
	for (i = 0; i < PASS; i++)
		record_one(i % 16 ? unit_of(i) : 3ULL * (PASS + i));
	assert_true(loop_is_whole(&loop));
	loop_free(&loop);
}

/* Record a pass in the order of the units, then an eighth and more of a second in @order. */
static bool repeats(unsigned int (*order)(unsigned int i))
{
	unsigned int i;
	bool so;

	assert_int_equal(loop_begin(&loop, UNIT, DEVICE), 0);
	for (i = 0; i < PASS; i++)
		record_one(unit_of(i));
	for (i = 0; !loop_is_whole(&loop); i++) {
		assert_true(i < PASS);
		record_one(unit_of(order(i)));
	}
	assert_int_equal(loop_close(&loop), 0);
	so = loop_repeats(&loop);
	loop_free(&loop);
	return so;
}

static unsigned int in_order(unsigned int i)
{
	return i;
}

/* Four readers read a file each, in turns. */
static unsigned int by_four(unsigned int i)
{
	unsigned int file = i / (4 * FILE_UNITS) * 4 + i % 4;

	return (file * FILE_UNITS + i / 4 % FILE_UNITS) % PASS;
}

/* The page cache answers every third read. */
static unsigned int two_of_three(unsigned int i)
{
	return i / 2 * 3 + i % 2;
}

/* The recording began in the midst of a pass: the second pass comes to its start later. */
static unsigned int from_elsewhere(unsigned int i)
{
	return 600 + i;
}

static unsigned int shuffled(unsigned int i)
{
	return i * 577 % PASS;
}

/* Files of FILE_UNITS units, one after another, in another order. */
static unsigned int shuffled_files(unsigned int i)
{
	return (i / FILE_UNITS * 37 % (PASS / FILE_UNITS)) * FILE_UNITS + i % FILE_UNITS;
}

static unsigned int backwards(unsigned int i)
{
	return PASS - 1 - i % PASS;
}

static void repeated_order(void **state)
{
	(void)state;
	assert_true(repeats(in_order));
	assert_true(repeats(by_four));
	assert_true(repeats(two_of_three));
	assert_true(repeats(from_elsewhere));
	assert_false(repeats(shuffled));
	assert_false(repeats(shuffled_files));
	assert_false(repeats(backwards));
}

/* Adjacent units, first in random order, then one after another: two extents that are adjacent are
 * one in the record.
 */
static void random_then_sequential(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(loop_begin(&loop, UNIT, DEVICE), 0);
	for (i = 0; i < PASS; i++)
		record_one(i * 371 % PASS);
	for (i = 0; !loop_is_whole(&loop); i++)
		record_one(i);
	assert_int_equal(loop.second.count, 1);
	assert_int_equal(loop_close(&loop), 0);
	assert_false(loop_repeats(&loop));
	loop_free(&loop);
}

static void too_long(void **state)
{
	uint64_t unit;

	(void)state;
	assert_int_equal(loop_begin(&loop, UNIT, 1ULL << 50), 0);
	/* Each unit is in another page of the bitmap; more than 16384 pages are too many. */
	for (unit = 0; !loop_is_too_long(&loop); unit += 32768)
		record_one(unit);
	assert_int_equal(unit / 32768, 16385);
	loop_free(&loop);
	assert_int_equal(loop_begin(&loop, UNIT, 1ULL << 40), 0);
	for (unit = 0; !loop_is_too_long(&loop); unit += 2)
		record_one(unit);
	assert_int_equal(unit / 2, 1048577);
	loop_free(&loop);
}

static void read_one(unsigned int i)
{
	loop_follow(&loop, unit_of(i) * SECTORS, SECTORS);
}

static void reader(void **state)
{
	unsigned int i;

	(void)state;
	close_pass();
	/* Two reads in order show the position.  A read outside the loop does not count. */
	read_one(700);
	assert_false(loop.known);
	loop_follow(&loop, 1 * SECTORS, SECTORS);
	assert_false(loop.known);
	read_one(701);
	assert_true(loop.known);
	assert_int_equal(loop.reader, 701 * UNIT);
	/* Only read 702 moves the position: 699 comes late, 100 and 400 are from another reader. */
	read_one(100);
	read_one(702);
	read_one(699);
	read_one(400);
	assert_int_equal(loop.reader, 702 * UNIT);
	for (i = 703; i < PASS + 10; i++)
		read_one(i);
	assert_int_equal(loop.reader, (PASS + 9) * UNIT);
	/* Interleaved reads of another reader do not move the position. */
	for (i = 0; i < 100; i++) {
		read_one(500 + 2 * i);
		read_one(501 + 2 * i);
		read_one(PASS + 10 + i);
	}
	assert_int_equal(loop.reader, (PASS + 109) * UNIT);
	/* After 64 reads in a row at another place the reader has moved there. */
	for (i = 0; i < 63; i++)
		read_one(700 + i);
	assert_int_equal(loop.reader, (PASS + 109) * UNIT);
	read_one(763);
	assert_int_equal(loop.reader, (PASS + 763) * UNIT);
	/* A read inside a unit: the position is exact. */
	loop_follow(&loop, unit_of(764) * SECTORS + 2, 1);
	assert_int_equal(loop.reader, (PASS + 764) * UNIT + 1024);
	/* The reader has moved back to the start of the pass. */
	for (i = 0; i < 70; i++)
		read_one(i);
	assert_int_equal(loop.reader, (2 * PASS + 69) * UNIT);
	/* loop_follow() reports whether a read belongs to the loop. */
	assert_true(loop_follow(&loop, unit_of(5) * SECTORS, SECTORS));
	assert_false(loop_follow(&loop, 1 * SECTORS, SECTORS));
	loop_free(&loop);
}

static void unroll(void **state)
{
	struct range *range;
	size_t count, i;

	(void)state;
	close_pass();
	assert_int_equal(loop.trace.count, PASS);
	range = loop_unroll(&loop, (PASS + 1000) * UNIT + 512, 2 * PASS * UNIT, 10 * PASS, &count);
	assert_non_null(range);
	assert_int_equal(count, 2 * PASS + 1);
	assert_int_equal(range[0].start, unit_of(1000) * UNIT + 512);
	assert_int_equal(range[0].length, UNIT - 512);
	for (i = 1; i < count; i++) {
		assert_int_equal(range[i].start, unit_of(1000 + (unsigned int)i) * UNIT);
		assert_int_equal(range[i].length, UNIT);
	}
	free(range);
	range = loop_unroll(&loop, 5 * UNIT, 100 * UNIT, 7, &count);
	assert_int_equal(count, 7);
	assert_int_equal(range[6].start, unit_of(11) * UNIT);
	free(range);
	loop_free(&loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(repeated_order),
		cmocka_unit_test(random_then_sequential),
		cmocka_unit_test(too_long),
		cmocka_unit_test(reader),
		cmocka_unit_test(unroll),
	};

	return RUN(tests);
}
