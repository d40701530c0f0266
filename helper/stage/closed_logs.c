// SPDX-License-Identifier: GPL-2.0-only
#include "stage/closed_logs.h"

#include <string.h>
#include <time.h>
#include <uuid/uuid.h>

#include "block/device_sysfs.h"
#include "block/dm.h"
#include "lib/error.h"
#include "lib/print.h"
#include "open/stage_device.h"
#include "stage/report.h"

static bool is_running(const struct dm_device *stage, size_t count, const unsigned char *log)
{
	uuid_t uuid;
	size_t i;

	for (i = 0; i < count; i++)
		if (!uuid_parse(stage[i].uuid + strlen(DM_STAGE_PREFIX), uuid) &&
		    !uuid_compare(uuid, log))
			return true;
	return false;
}

/* Leave out the logs whose stage is open. */
int closed_logs_drop_running(struct logs *all)
{
	struct dm_device *stage;
	size_t i, count, kept = 0;

	if (dm_all_stages(&stage, &count))
		return fail_code();
	for (i = 0; i < all->count; i++)
		if (!is_running(stage, count, all->one[i].sb.uuid))
			all->one[kept++] = all->one[i];
	all->count = kept;
	dm_device_free_all(stage, count);
	return 0;
}

/* Find them.  logs_free() is needed even after a failure. */
int closed_logs_find(struct logs *all)
{
	size_t i, kept = 0;

	if (resolve_logs(all, NULL))
		return fail_code();
	for (i = 0; i < all->count; i++)
		if (!stage_log_drained(&all->one[i].sb))
			all->one[kept++] = all->one[i];
	all->count = kept;
	/* A log whose stage is opened meanwhile is left out. */
	return closed_logs_drop_running(all);
}

/* Age of the state that the origin shows; 0: unknown, nothing was drained yet. */
uint64_t closed_log_seconds(const struct log_carrier *log)
{
	uint64_t drained = le64_to_cpu(log->sb.drained_time) / 1000000000ULL;
	uint64_t now = (uint64_t)time(NULL);

	return drained && now > drained ? now - drained : 0;
}

static void print_closed_log(const struct log_carrier *log)
{
	const char *id = (const char *)log->sb.origin_id;
	struct stage_status status = {
		.behind_bytes = 1,
		.drained_time = le64_to_cpu(log->sb.drained_time),
	};
	char text[STAGE_MOMENT], path[PATH_MAX];
	dev_t number;

	print_record(NULL, NULL);
	print_string("name", "name", (const char *)log->sb.label);
	print_string("log", "log", log->path);
	print_string("origin", "origin",
		     *id && identity_find(id, log->number, &number) == 1 ?
		     device_path_of(number, path) : *id ? id : NULL);
	print_string(NULL, "origin shows", stage_shows(&status, text));
	print_number("drained_time_ns", NULL, status.drained_time);
	print_seconds("behind_seconds", NULL, closed_log_seconds(log));
	print_end();
}

/* Print a table of the closed logs. */
int closed_logs_print(void)
{
	struct logs all;
	size_t i;

	if (!closed_logs_find(&all)) {
		print_table("closed_logs");
		for (i = 0; i < all.count; i++)
			print_closed_log(&all.one[i]);
		print_end();
		print_string(NULL, all.count ? "next step" : NULL,
			     "'nearcache open NAME' opens a stage, which writes its log to the origin");
	}
	logs_free(&all);
	return fail_code();
}
