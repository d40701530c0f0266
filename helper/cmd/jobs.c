// SPDX-License-Identifier: GPL-2.0-only
/* nearcache jobs: list unfinished and finished prefetch jobs. */
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "block/dm.h"
#include "block/dm_unprivileged.h"
#include "lib/error.h"
#include "netlink/device_state.h"
#include "files/job_wait.h"
#include "lib/print.h"

struct shown {
	uint64_t running;
	bool labels_hidden;
};

static void show_job(const struct nl_job *job, void *arg)
{
	struct shown *shown = arg;

	shown->running += !nl_job_is_over(job);
	shown->labels_hidden |= job->label_hidden;
	print_record(NULL, NULL);
	job_print(job);
	print_end();
}

static int cmd_jobs(const struct arguments *args)
{
	struct dm_device dev;
	struct shown shown = { 0 };
	int error;

	dm_read_unprivileged(nl_device_state);
	if (homes_find_cache(args->operand[0], &dev))
		return fail_code();
	print_string("name", NULL, dev.name);
	print_main_table("jobs");
	error = nl_job_each(dev.number, show_job, &shown);
	print_end();
	print_number("running", NULL, shown.running);
	print_flag("complete", NULL, !shown.labels_hidden);
	if (shown.labels_hidden)
		print_string(NULL, "only for root", "labels");
	dm_device_free(&dev);
	return error;
}

static const struct verb_column columns[] = {
	{ .name = "job", .help = "number" },
	{ .name = "state", .help = "running, waiting, done, incomplete, cancelled" },
	{ .name = "done", .help = "part that was brought or was cached" },
	{ .name = "bytes", .help = "size of the data" },
	{ .name = "fetched", .help = "bytes that the job read" },
	{ .name = "present", .help = "bytes that were cached, or read by others" },
	{ .name = "left-out", .help = "bytes that the job did not bring" },
	{ .name = "priority", .help = "0 to 7 (first)" },
	{ .name = "bandwidth", .help = "highest rate, per second" },
	{ .name = "label", .help = "name for counting" },
	{ .name = "flying_bytes", .help = "bytes being read", .chosen = true },
	{ .name = "deadline_s", .help = "seconds until the data is needed", .chosen = true },
	{ 0 },
};

const struct verb jobs_verb = {
	.name = "jobs",
	.group = VERBS_DATA,
	.operands = "NAME",
	.operands_min = 1,
	.operands_max = 1,
	.optional = OPTIONS_TABLE,
	.summary = "list prefetch jobs and their progress",
	.details =
"The list has unfinished jobs and the last 1024 finished ones. A waiting job has no room\n"
"until readers use data in the cache. An incomplete job is over, and left out data: there\n"
"was no room before its deadline, the data was evicted before it was read, is bypassed,\n"
"was being written, or is not readable. DONE is the part that was brought or was cached.\n"
"\n"
"Any user may list jobs. The labels are shown to root only, as they name data of others.\n",
	.columns = columns,
	.run = cmd_jobs,
};
