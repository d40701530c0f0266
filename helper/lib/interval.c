// SPDX-License-Identifier: GPL-2.0-only
#include "lib/interval.h"

#include <errno.h>
#include <time.h>

#define SECOND	1000000000ULL

/* The monotonic clock, nanoseconds. */
uint64_t watch_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/**
 * watch_start() - the first interval begins now
 * @watch: the pace
 * @interval: nanoseconds, not 0
 */
void watch_start(struct watch *watch, uint64_t interval)
{
	watch->interval = interval;
	watch->next = watch_now();
}

/**
 * watch_after() - when the next time is
 * @last: when the last one should have been, nanoseconds
 * @now: what time it is
 * @interval: nanoseconds
 *
 * Times that were missed, as when the machine slept, are left out, not caught up.
 *
 * Return: the first time behind @now that is a number of intervals behind @last.
 */
uint64_t watch_after(uint64_t last, uint64_t now, uint64_t interval)
{
	if (now < last)
		return last + interval;
	return last + ((now - last) / interval + 1) * interval;
}

/**
 * watch_wait() - wait until the next time
 * @watch: the pace
 */
void watch_wait(struct watch *watch)
{
	struct timespec time;

	watch->next = watch_after(watch->next, watch_now(), watch->interval);
	time.tv_sec = (time_t)(watch->next / SECOND);
	time.tv_nsec = (long)(watch->next % SECOND);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) ==
	       EINTR)
		;
}
