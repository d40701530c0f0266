// SPDX-License-Identifier: GPL-2.0-only
/* nearcache jobs: list unfinished and finished prefetch jobs. */
#include "cluster/homes.h"
#include "cmd/commands.h"
#include "block/dm.h"
#include "block/dm_unprivileged.h"
#include "lib/error.h"
#include "netlink/device_state.h"
#include "files/job_wait.h"
#include "lib/name.h"
#include "lib/print.h"

static void show_job(const struct nl_job *job, void *arg)
{
	uint64_t *running = arg;

	*running += !nl_job_is_over(job);
	print_record(NULL, NULL);
	job_print(job);
	print_end();
}

static int cmd_jobs(const struct arguments *args)
{
	struct dm_device dev;
	uint64_t running = 0;
	int error;

	dm_read_unprivileged(nl_device_state);
	if (homes_find_cache(args->operand[0], &dev))
		return fail_code();
	print_string("name", NULL, dev.name);
	print_table("jobs");
	error = nl_job_each(dev.number, show_job, &running);
	print_end();
	print_number("running", NULL, running);
	dm_device_free(&dev);
	if (error == CODE_PERMISSION)
		fail_add("jobs show which data others read; 'nearcache status %s' is for any user",
			 name_of_operand(args->operand[0]));
	return error;
}

const struct verb jobs_verb = {
	.name = "jobs",
	.group = VERBS_DATA,
	.operands = "NAME",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "list prefetch jobs and their progress",
	.details =
"The list has unfinished jobs and the last 1024 finished ones. A waiting job has no room\n"
"until readers use data in the cache. An incomplete job is over, and left out data: there\n"
"was no room before its deadline, the data was evicted before it was read, is bypassed,\n"
"was being written, or is not readable. DONE is the part that was brought or was cached.\n",
	.run = cmd_jobs,
};
