// SPDX-License-Identifier: GPL-2.0-only
/* daemon/judge.c: the read-ahead is set after equal samples, and set back if costs rise. */
#include <stdio.h>

#include "daemon/choose_readahead.h"
#include "unit.h"

#define MB	(1ULL << 20)

static struct conf conf;
static struct judge judge;
static struct advice advice;
static struct look look;

static void begin(void)
{
	memset(&judge, 0, sizeof(judge));
	memset(&look, 0, sizeof(look));
	conf = (struct conf){
		.read_ahead = true,
		.read_ahead_sequential = 4 * MB,
		.read_ahead_scattered = 16384,
		.settle = 3,
		.calm = 10,
		.trial = 5,
		.hold = 100,
	};
	look.time = 1000;
	look.read_ahead = 131072;
}

/*
 * Take a sample: 100 MiB were read in pattern @class, @origin bytes of them from the origin, and
 * @stall ns were lost.
 */
static enum judgement second(enum nearcache_class class, uint64_t origin, uint64_t stall)
{
	memset(look.bytes, 0, sizeof(look.bytes));
	look.bytes[class] = 100 * MB;
	look.measure = (struct measure){ 100 * MB, origin, stall };
	look.time++;
	judge_look(&judge, &conf, &look, &advice);
	if (advice.what == JUDGE_SET || advice.what == JUDGE_TAKE_BACK) {
		assert_int_equal(advice.from, look.read_ahead);
		look.read_ahead = advice.to;
	}
	if (advice.what != JUDGE_NOTHING)
		judge_done(&judge, &conf, &look, &advice);
	return advice.what;
}

/* Three equal samples in a row lead to a decision. */
static void set(enum nearcache_class class, uint64_t to)
{
	assert_int_equal(second(class, MB, MB), JUDGE_NOTHING);
	assert_int_equal(second(class, MB, MB), JUDGE_NOTHING);
	assert_int_equal(second(class, MB, MB), JUDGE_SET);
	assert_int_equal(advice.to, to);
	assert_true(strstr(advice.why, "100 % of 104857600 bytes"));
}

static void wishes(void **state)
{
	(void)state;
	begin();
	set(NEARCACHE_CLASS_SEQUENTIAL, 4 * MB);
	begin();
	set(NEARCACHE_CLASS_SHUFFLED, 16384);
	assert_true(strstr(advice.why, "mostly by shuffled streams"));
	begin();
	set(NEARCACHE_CLASS_STRIDED, 16384);
	/* One different sample restarts the count. */
	begin();
	second(NEARCACHE_CLASS_RANDOM, MB, MB);
	second(NEARCACHE_CLASS_SEQUENTIAL, MB, MB);
	set(NEARCACHE_CLASS_RANDOM, 16384);
}

/* No decision if the class is unclear, the setting is right already, or advice is disabled. */
static void nothing(void **state)
{
	unsigned int i;

	(void)state;
	begin();
	for (i = 0; i < 20; i++)
		assert_int_equal(second(NEARCACHE_CLASS_UNKNOWN, MB, MB), JUDGE_NOTHING);
	for (i = 0; i < 20; i++)
		assert_int_equal(second(NEARCACHE_CLASS_CHECKPOINT, MB, MB), JUDGE_NOTHING);
	/* Two classes have half of the bytes each, so no class has three quarters. */
	for (i = 0; i < 20; i++) {
		memset(look.bytes, 0, sizeof(look.bytes));
		look.bytes[NEARCACHE_CLASS_SEQUENTIAL] = 50 * MB;
		look.bytes[NEARCACHE_CLASS_RANDOM] = 50 * MB;
		look.time++;
		judge_look(&judge, &conf, &look, &advice);
		assert_int_equal(advice.what, JUDGE_NOTHING);
	}
	/* Samples of less than 1 MiB say nothing. */
	for (i = 0; i < 20; i++) {
		memset(look.bytes, 0, sizeof(look.bytes));
		look.bytes[NEARCACHE_CLASS_SEQUENTIAL] = MB - 1;
		look.time++;
		judge_look(&judge, &conf, &look, &advice);
		assert_int_equal(advice.what, JUDGE_NOTHING);
	}
	begin();
	look.read_ahead = 4 * MB;
	for (i = 0; i < 20; i++)
		assert_int_equal(second(NEARCACHE_CLASS_SEQUENTIAL, MB, MB), JUDGE_NOTHING);
	begin();
	conf.read_ahead = false;
	for (i = 0; i < 20; i++)
		assert_int_equal(second(NEARCACHE_CLASS_SEQUENTIAL, MB, MB), JUDGE_NOTHING);
}

/* Return the seconds until a decision. */
static unsigned int until(enum nearcache_class class, uint64_t origin, uint64_t stall)
{
	unsigned int i;

	for (i = 1; i < 300; i++)
		if (second(class, origin, stall) != JUDGE_NOTHING)
			return i;
	fail_msg("no decision");
	return 0;
}

static void trials(void **state)
{
	static const struct {
		uint64_t origin, stall;
		enum judgement what;
	} row[] = {
		{ MB, MB, JUDGE_KEEP },
		{ MB / 2, MB / 2, JUDGE_KEEP },
		/* If one cost is higher and the other lower, the change is kept. */
		{ 2 * MB, MB / 2, JUDGE_KEEP },
		{ MB / 2, 2 * MB, JUDGE_KEEP },
		{ 2 * MB, MB, JUDGE_TAKE_BACK },
		{ MB, 2 * MB, JUDGE_TAKE_BACK },
		{ 2 * MB, 2 * MB, JUDGE_TAKE_BACK },
		/* Both costs are 4 % higher, within the noise: the change is kept. */
		{ MB + MB / 25, MB + MB / 25, JUDGE_KEEP },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		begin();
		set(NEARCACHE_CLASS_SEQUENTIAL, 4 * MB);
		assert_int_equal(until(NEARCACHE_CLASS_SEQUENTIAL, row[i].origin,
				       row[i].stall), conf.trial);
		assert_int_equal(advice.what, row[i].what);
		assert_true(strstr(advice.why, "for 1000 bytes read"));
		assert_int_equal(look.read_ahead,
				 row[i].what == JUDGE_KEEP ? 4 * MB : 131072);
		if (row[i].what == JUDGE_KEEP)
			continue;
		/* After a change was taken back, the next one waits for conf.hold seconds. */
		assert_int_equal(until(NEARCACHE_CLASS_SEQUENTIAL, MB, MB), conf.hold);
		assert_int_equal(advice.what, JUDGE_SET);
	}
}

/* If the class changes in a trial, costs are not compared.  The next trial waits conf.calm s. */
static void changes(void **state)
{
	(void)state;
	begin();
	set(NEARCACHE_CLASS_SEQUENTIAL, 4 * MB);
	assert_int_equal(until(NEARCACHE_CLASS_RANDOM, 9 * MB, 9 * MB), conf.calm);
	assert_int_equal(advice.what, JUDGE_SET);
	assert_int_equal(advice.to, 16384);
	/* Another process changed the setting: the trial ends, and conf.calm seconds begin. */
	look.read_ahead = 65536;
	assert_int_equal(until(NEARCACHE_CLASS_RANDOM, 9 * MB, 9 * MB), conf.calm);
	assert_int_equal(advice.what, JUDGE_SET);
	assert_int_equal(advice.from, 65536);
	judge_hold(&judge, look.time + 50);
	look.read_ahead = 65536;
	assert_int_equal(until(NEARCACHE_CLASS_RANDOM, MB, MB), 50);
}

/* Reads may loop unless more than a quarter is shuffled or random.  Checkpoints do not count. */
static void may_loop(void **state)
{
	bool so;

	(void)state;
	memset(&look, 0, sizeof(look));
	look.bytes[NEARCACHE_CLASS_LOOPING] = 25 * MB;
	look.bytes[NEARCACHE_CLASS_SEQUENTIAL] = 25 * MB;
	look.bytes[NEARCACHE_CLASS_UNKNOWN] = 25 * MB;
	look.bytes[NEARCACHE_CLASS_RANDOM] = 15 * MB;
	look.bytes[NEARCACHE_CLASS_SHUFFLED] = 10 * MB;
	look.bytes[NEARCACHE_CLASS_CHECKPOINT] = 900 * MB;
	assert_true(judge_may_loop(&look, &so) && so);
	look.bytes[NEARCACHE_CLASS_SHUFFLED] = 12 * MB;
	assert_true(judge_may_loop(&look, &so) && !so);
	memset(&look, 0, sizeof(look));
	look.bytes[NEARCACHE_CLASS_LOOPING] = MB - 1;
	assert_false(judge_may_loop(&look, &so));
}

static void weigh(void **state)
{
	const struct measure before = { 1000 * MB, 500 * MB, 1000000000 };
	struct measure after = { 2000 * MB, 1000 * MB, 2000000000 };
	struct balance b;

	(void)state;
	judge_weigh(&before, &after, &b);
	assert_false(b.origin_more || b.origin_less || b.stall_more || b.stall_less);
	after.origin = 1100 * MB;
	after.stall = 1800000000;
	judge_weigh(&before, &after, &b);
	assert_true(b.origin_more && !b.origin_less && !b.stall_more && b.stall_less);
	after.origin = 900 * MB;
	after.stall = 2200000000;
	judge_weigh(&before, &after, &b);
	assert_true(!b.origin_more && b.origin_less && b.stall_more && !b.stall_less);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wishes),
		cmocka_unit_test(nothing),
		cmocka_unit_test(trials),
		cmocka_unit_test(changes),
		cmocka_unit_test(may_loop),
		cmocka_unit_test(weigh),
	};

	return RUN(tests);
}
