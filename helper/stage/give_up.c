// SPDX-License-Identifier: GPL-2.0-only
#include "stage/give_up.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "block/device.h"
#include "lib/error.h"
#include "lib/print.h"
#include "open/stage_device.h"
#include "stage/report.h"

/* Time between looks at the requests in flight. */
#define PAUSE_US	(200 * 1000)
/* After this number of looks, report to the user that the command waits. */
#define LOOKS_SILENT	5U

/* Fail all requests that need the log, and stop the drain. */
int stage_give_up(const struct dm_device *dev)
{
	if (!dev->live)
		return 0;
	/* The resume would start a table that a killed run has loaded, and that one reads the log. */
	if (dm_clear(dev->name) || dm_message(dev, "give_up"))
		return fail_code();
	/* Requests that wait for the end of a suspend must fail as well. */
	return dev->suspended ? dm_resume(dev->name, DM_READ_AHEAD_KERNEL, DM_SUSPEND_NOT) : 0;
}

static void warn_of_requests(const struct dm_device *dev, uint64_t requests)
{
	struct stage_params params;
	char path[PATH_MAX];

	if (!stage_params_parse(dev->table, &params))
		return;
	warn("waiting for %" PRIu64 " requests that the driver of the log device '%s' has not ended: remove the drive to end them sooner; ^C ends this command",
	     requests, device_path_of(params.log, path));
}

/* Wait until no request is in flight at the log: only the log's driver can end a request. */
int stage_wait_log(const struct dm_device *dev)
{
	struct stage_status status = { .in_flight = 1 };
	struct dm_device now;
	unsigned int looks;
	bool found = true;

	for (looks = 0; dev->live && found && status.in_flight; looks++) {
		if (looks)
			usleep(PAUSE_US);
		if (dm_find(dev->name, &now, &found))
			return fail_code();
		if (found && !stage_need_status(&now, &status) && looks == LOOKS_SILENT &&
		    status.in_flight)
			warn_of_requests(&now, status.in_flight);
		dm_device_free(&now);
		if (fail_code())
			return fail_code();
	}
	return 0;
}

/* Print which writes are lost, and which moment the origin shows.  @dev: before its removal. */
void stage_print_lost(const struct dm_device *dev, const char *cache)
{
	struct stage_status status;
	char text[STAGE_MOMENT], lost[256];

	if (stage_need_status(dev, &status)) {
		fail_reset();
		return;
	}
	print_flag("abandoned", NULL, true);
	print_string(NULL, "origin shows", stage_shows(&status, text));
	print_number("drained_epoch", NULL, status.drained_epoch);
	print_number("drained_time_ns", NULL, status.drained_time);
	if (!status.behind_bytes)
		return;
	snprintf(lost, sizeof(lost),
		 "all later writes, unless the log can be read again: try 'nearcache open %s'; with --abandon-stage it opens the cache without the log",
		 cache);
	print_string(NULL, "lost", lost);
}
