// SPDX-License-Identifier: GPL-2.0-only
#include "job.h"

#include <stdio.h>

#include "fail.h"
#include "print.h"
#include "progress.h"
#include "signals.h"
#include "size.h"

/* From one look to the next. */
#define LOOK_MS	200U

/**
 * job_state_word() - the word for what becomes of a job
 * @state: NEARCACHE_JOB_*
 *
 * Return: the word.
 */
const char *job_state_word(uint32_t state)
{
	static const char *const words[] = {
		[NEARCACHE_JOB_RUNNING] = "running",
		[NEARCACHE_JOB_DONE] = "done",
		[NEARCACHE_JOB_CANCELLED] = "cancelled",
	};

	return state < sizeof(words) / sizeof(words[0]) ? words[state] :
							  "unknown";
}

static void cancel(const struct dm_device *dev, uint32_t id)
{
	uint64_t count;

	/* It may have come to its end just now. */
	if (nl_job_cancel(dev->number, id, &count))
		fail_reset();
}

/**
 * job_wait() - show how far a job is, until it is over
 * @dev: the device
 * @id: of the job
 * @quiet: show nothing
 * @job: what became of it
 *
 * A ^C cancels the job; what is on its way comes still.
 *
 * Return: 0 or the exit code; how the job ended is judged by job_judge().
 */
int job_wait(const struct dm_device *dev, uint32_t id, bool quiet,
	     struct nl_job *job)
{
	struct progress progress = { 0 };
	bool started = false;
	sigset_t before;

	signals_hold(&before);
	while (!nl_job_get(dev->number, id, job)) {
		if (!started)
			progress_start(&progress, "prefetch", job->bytes, quiet);
		started = true;
		progress_update(&progress,
				job->fetched + job->present + job->left);
		if (job->state != NEARCACHE_JOB_RUNNING && !job->flying)
			break;
		if (signals_wait(LOOK_MS))
			cancel(dev, id);
	}
	progress_end(&progress);
	signals_release(&before);
	return fail_code();
}

/**
 * job_judge() - whether a job that is over brought all of it
 * @dev: its device
 * @job: as job_wait() had it
 *
 * Return: 0 or the exit code.
 */
int job_judge(const struct dm_device *dev, const struct nl_job *job)
{
	char came[SIZE_TEXT], all[SIZE_TEXT];

	size_print(job->bytes, all);
	if (job->state == NEARCACHE_JOB_CANCELLED)
		return fail(CODE_DEVICE,
			    "prefetch job %u of '%s' was cancelled: %s of %s are there",
			    job->id, dev->name,
			    size_print(job->fetched + job->present, came), all);
	if (job->left)
		return fail(CODE_DEVICE,
			    "prefetch job %u of '%s' left out %s of %s: there is no room, or it is bypassed, written just now, or cannot be read; 'nearcache stats %s' tells which",
			    job->id, dev->name, size_print(job->left, came), all,
			    dev->name);
	return 0;
}

/**
 * job_print() - show the numbers of a job
 * @job: the job
 *
 * Within a record, or a row of a table.
 */
void job_print(const struct nl_job *job)
{
	char rate[SIZE_TEXT + 2] = "-", text[SIZE_TEXT];

	print_number("job", "job", job->id);
	print_string("state", "state", job_state_word(job->state));
	print_ratio("done", "done", job->fetched + job->present + job->left,
		    job->bytes);
	print_bytes("bytes", "bytes", job->bytes);
	print_bytes("fetched_bytes", "fetched", job->fetched);
	print_bytes("present_bytes", "present", job->present);
	print_bytes("left_bytes", "left out", job->left);
	print_bytes("flying_bytes", NULL, job->flying);
	print_number("priority", "priority", job->priority);
	print_seconds("deadline_s", NULL, job->deadline);
	if (job->bandwidth)
		snprintf(rate, sizeof(rate), "%s/s",
			 size_print(job->bandwidth, text));
	print_bytes("bandwidth", NULL, job->bandwidth);
	print_string(NULL, "bandwidth", rate);
	print_string("label", "label", job->label);
}
