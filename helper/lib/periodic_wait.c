// SPDX-License-Identifier: GPL-2.0-only
#include "lib/periodic_wait.h"

#include <errno.h>
#include <time.h>

#define SECOND	1000000000ULL

/* Returns the time of the monotonic clock in ns. */
uint64_t watch_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* The first watch_wait() ends one interval from now. @interval: ns, not 0. */
void watch_start(struct watch *watch, uint64_t interval)
{
	watch->interval = interval;
	watch->next = watch_now();
}

/*
 * Returns the first time after @now that is @last plus a multiple of @interval. So it skips the
 * multiples that have passed, for example in suspend.
 */
uint64_t watch_after(uint64_t last, uint64_t now, uint64_t interval)
{
	if (now < last)
		return last + interval;
	return last + ((now - last) / interval + 1) * interval;
}

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
