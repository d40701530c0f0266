// SPDX-License-Identifier: GPL-2.0-only
/* lib/periodic_wait.c: a watch wakes up once per interval, without drift, and skips missed ones. */
#include <errno.h>
#include <time.h>

#include "unit.h"
#include "lib/periodic_wait.h"

static uint64_t now;
/* End of the last sleep in ns, and number of sleeps that a signal will interrupt. */
static uint64_t until;
static int interrupts;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	time->tv_sec = (time_t)(now / 1000000000);
	time->tv_nsec = (long)(now % 1000000000);
	return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *left)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	assert_int_equal(flags, TIMER_ABSTIME);
	assert_null(left);
	if (interrupts) {
		interrupts--;
		return EINTR;
	}
	until = (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
	now = until + 7;
	return 0;
}

static void pace(void **state)
{
	struct watch watch;

	(void)state;
	now = 5000;
	watch_start(&watch, 1000);
	watch_wait(&watch);
	assert_int_equal(until, 6000);
	/* An interrupted sleep is repeated until the same time. */
	interrupts = 2;
	watch_wait(&watch);
	assert_int_equal(until, 7000);
	assert_int_equal(interrupts, 0);
	/* Missed intervals are skipped; the ends stay multiples of the interval. */
	now = 10500;
	watch_wait(&watch);
	assert_int_equal(until, 11000);
	watch_wait(&watch);
	assert_int_equal(until, 12000);
}

static void after(void **state)
{
	(void)state;
	assert_int_equal(watch_after(100, 100, 10), 110);
	assert_int_equal(watch_after(100, 109, 10), 110);
	assert_int_equal(watch_after(100, 110, 10), 120);
	assert_int_equal(watch_after(100, 90, 10), 110);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pace),
		cmocka_unit_test(after),
	};

	return RUN(tests);
}
