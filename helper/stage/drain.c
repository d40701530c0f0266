// SPDX-License-Identifier: GPL-2.0-only
#include "stage/drain.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "block/stage_params.h"
#include "lib/error.h"
#include "lib/print.h"
#include "lib/progress.h"
#include "open/stage_device.h"
#include "stage/report.h"

/**
 * struct waiting - a wait for an epoch
 * @name: the stage
 * @epoch: the wait ends when this epoch is on the origin
 * @progress: shown while the wait lasts
 * @before: bytes that were written to the origin before the wait
 * @began: @progress and @before are set
 * @warned: the user knows that the origin fails
 */
struct waiting {
	const char *name;
	uint64_t epoch;
	struct progress progress;
	uint64_t before;
	bool began;
	bool warned;
};

static void ignore_tick(int number)
{
	(void)number;
}

/* Let a signal end dm_wait_event() each second, to show the progress.  @seconds 0: no more. */
static void tick_each(unsigned int seconds)
{
	struct sigaction tick = { .sa_handler = seconds ? ignore_tick : SIG_DFL };
	struct itimerval timer = {
		.it_interval.tv_sec = seconds,
		.it_value.tv_sec = seconds,
	};

	if (seconds)
		sigaction(SIGALRM, &tick, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	if (!seconds)
		sigaction(SIGALRM, &tick, NULL);
}

/* Close the open epoch and wait for its commit; @epoch receives its number. */
int stage_commit(const struct dm_device *dev, uint64_t *epoch)
{
	char answer[64], *end;

	if (dm_ask(dev, "commit", answer, sizeof(answer)))
		return fail_code();
	*epoch = strtoull(answer, &end, 10);
	return end != answer && !*end ? 0 :
	       fail(CODE_DEVICE, "device '%s' answers '%s' to 'commit', not a number", dev->name,
		    answer);
}

static void show_progress(struct waiting *waiting, const struct stage_status *status)
{
	if (!waiting->began) {
		progress_start(&waiting->progress, "drain", status->behind_bytes,
			       print_is_json());
		waiting->before = status->drained_bytes;
		waiting->began = true;
	}
	progress_update(&waiting->progress, status->drained_bytes - waiting->before);
	if (!status->failing_ns || waiting->warned)
		return;
	warn("the origin of '%s' fails (%s), and the drain tries again until it works; ^C ends this command and leaves the device in use",
	     waiting->name, status->origin_error ? stage_origin_error(status) : "no reason known");
	waiting->warned = true;
}

/* Set @done if the epoch is on the origin; otherwise wait for the next event of the device. */
static int wait_once(struct waiting *waiting, bool *done)
{
	struct stage_status status;
	struct dm_device dev;
	bool found;

	if (dm_find(waiting->name, &dev, &found))
		return fail_code();
	if (!found)
		return fail(CODE_DEVICE, "device '%s' was removed during the drain", waiting->name);
	/* The number of events was read before the status: no mark is missed. */
	if (!stage_need_status(&dev, &status)) {
		*done = status.drained_epoch >= waiting->epoch;
		if (!*done && status.state == NEARCACHE_STAGE_LOG_BAD)
			fail(CODE_DEVICE,
			     "the log of '%s' failed: the origin keeps an older state; see dmesg",
			     waiting->name);
		if (!*done && !fail_code()) {
			show_progress(waiting, &status);
			dm_wait_event(&dev);
		}
	}
	dm_device_free(&dev);
	return fail_code();
}

/* Wait until @epoch is on the origin and flushed there.  Each mark is an event of the device. */
int stage_wait_epoch(const char *name, uint64_t epoch)
{
	struct waiting waiting = { .name = name, .epoch = epoch };
	bool done = false;

	tick_each(1);
	while (!done && !wait_once(&waiting, &done))
		;
	tick_each(0);
	if (waiting.began)
		progress_end(&waiting.progress);
	return fail_code();
}

/* Write all to the origin that was written to the device before the call. */
int stage_drain(const struct dm_device *dev)
{
	uint64_t epoch;

	return stage_commit(dev, &epoch) || stage_wait_epoch(dev->name, epoch) ? fail_code() : 0;
}
