// SPDX-License-Identifier: GPL-2.0-only
/* How far ahead of its readers a plan's data is requested (kmod/prefetch/plan_pace.c). */
#include "helper/unit.h"
#include "prefetch/plan_pace.h"

#define MS	1000000ULL
#define START	(1000 * MS)

/* Readers make @rate visits per second from @from to @to, looked at every 4 ms.  Returns the last. */
static u32 advance(struct nc_plan_pace *pace, u64 from, u64 to, u64 rate, u32 front)
{
	u64 now;

	for (now = from; now <= to; now += 4 * MS)
		nc_plan_pace_see(pace, now, front + (now - from) * rate / (1000 * MS));
	return front + (to - from) * rate / (1000 * MS);
}

/* Visits that readers make at @rate in @ns. */
static u64 made(u64 rate, u64 ns)
{
	return rate * ns / (1000 * MS);
}

static void covers_the_latency(void **state)
{
	static const u64 latencies[] = { MS / 5, 5 * MS, 20 * MS, 500 * MS };
	static const u64 rates[] = { 100, 1000, 100000 };
	unsigned int i, j;
	u32 visits;

	(void)state;
	for (i = 0; i < 4; i++)
		for (j = 0; j < 3; j++) {
			struct nc_plan_pace pace = { };

			assert_int_equal(nc_plan_pace_ahead(&pace, latencies[i]), 0);
			advance(&pace, START, START + 1000 * MS, rates[j], 7);
			visits = nc_plan_pace_ahead(&pace, latencies[i]);
			assert_true(visits >= made(rates[j], latencies[i]));
			/* A little more than necessary. */
			assert_true(visits <= made(rates[j], 3 * latencies[i] / 2 + 60 * MS) + 1);
		}
}

/* Readers that wait for late data do not lower the pace for some seconds. */
static void remembers_the_best(void **state)
{
	struct nc_plan_pace pace = { };
	u32 front, before;

	(void)state;
	front = advance(&pace, START, START + 2000 * MS, 1000, 0);
	before = nc_plan_pace_ahead(&pace, 20 * MS);
	front = advance(&pace, START + 2000 * MS, START + 4500 * MS, 10, front);
	assert_int_equal(nc_plan_pace_ahead(&pace, 20 * MS), before);
	advance(&pace, START + 4500 * MS, START + 20000 * MS, 10, front);
	assert_true(nc_plan_pace_ahead(&pace, 20 * MS) < before / 10);
}

/* After a minute without a measurement, the pace is unknown. */
static void forgets(void **state)
{
	struct nc_plan_pace pace = { };
	u32 front = advance(&pace, START, START + 1000 * MS, 1000, 0);

	(void)state;
	nc_plan_pace_see(&pace, START + 60000 * MS, front);
	assert_int_equal(nc_plan_pace_ahead(&pace, 20 * MS), 0);
}

/* A jump backwards starts a new measurement. */
static void ignores_jumps(void **state)
{
	struct nc_plan_pace pace = { };
	u32 before;

	(void)state;
	advance(&pace, START, START + 1000 * MS, 1000, 50000);
	before = nc_plan_pace_ahead(&pace, 20 * MS);
	nc_plan_pace_see(&pace, START + 1400 * MS, 100);
	nc_plan_pace_see(&pace, START + 2100 * MS, 800);
	assert_int_equal(nc_plan_pace_ahead(&pace, 20 * MS), before);
}

/* Bursts of 400 visits every 300 ms: hardly more than the mean counts. */
static void smooths_bursts(void **state)
{
	struct nc_plan_pace pace = { };
	u32 i, ahead, mean = 400 * 1000 / 300;

	(void)state;
	for (i = 0; i < 3000; i++)
		nc_plan_pace_see(&pace, START + i * MS, (i + 298) / 300 * 400);
	ahead = nc_plan_pace_ahead(&pace, 200 * MS);
	assert_in_range(ahead, mean * 300 / 1000, mean * 300 / 1000 * 3 / 2);
}

static void is_bounded(void **state)
{
	struct nc_plan_pace pace = { };

	(void)state;
	nc_plan_pace_see(&pace, START, 0);
	nc_plan_pace_see(&pace, START + 600 * MS, 0xffffffff);
	assert_int_equal(nc_plan_pace_ahead(&pace, 1000000 * MS), 0xffffffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(covers_the_latency),
		cmocka_unit_test(remembers_the_best),
		cmocka_unit_test(forgets),
		cmocka_unit_test(ignores_jumps),
		cmocka_unit_test(smooths_bursts),
		cmocka_unit_test(is_bounded),
	};

	return RUN(tests);
}
