// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the frequency of this machine's time stamp counter in kHz, or nothing if two measurements
 * differ or the frequency is not plausible.
 *
 * The emulator passes the counter on to the guest, whose kernel measures its frequency at boot. On a
 * busy machine that goes wrong: the guest's clock then ran five times too fast.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct instant {
	uint64_t ticks, ns, width;
};

/* Read both clocks at nearly the same time: keep the try that took the fewest ticks. */
static struct instant clocks_now(void)
{
	struct instant best = { .width = UINT64_MAX };
	int i;

	for (i = 0; i < 20; i++) {
		struct timespec now;
		uint64_t before = __rdtsc(), after;

		clock_gettime(CLOCK_MONOTONIC, &now);
		after = __rdtsc();
		if (after - before < best.width) {
			best.width = after - before;
			best.ticks = before + best.width / 2;
			best.ns = now.tv_sec * 1000000000ull + now.tv_nsec;
		}
	}
	return best;
}

static double measured_khz(void)
{
	struct timespec pause = { .tv_nsec = 20000000 };
	struct instant begin = clocks_now(), end;

	nanosleep(&pause, NULL);
	end = clocks_now();
	return (end.ticks - begin.ticks) * 1000000.0 / (end.ns - begin.ns);
}

int main(void)
{
	double first = measured_khz(), khz = measured_khz();
	double difference = first > khz ? first - khz : khz - first;

	/* A task that was stopped between the two clocks measures something else each time. */
	if (difference <= khz / 1000 && khz > 1e5 && khz < 1e7)
		printf("%.0f\n", khz);
	return 0;
}
