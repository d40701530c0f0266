// SPDX-License-Identifier: GPL-2.0-only
/* Waits for prefetch jobs, judges and prints them. */
#include "files/job_wait.h"

#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/print.h"
#include "lib/progress.h"
#include "block/signals.h"
#include "lib/size.h"

/* Interval between queries of a job's progress, milliseconds. */
#define LOOK_MS	200U

/* @state: NEARCACHE_JOB_* or JOB_FORGOTTEN */
const char *job_state_word(uint32_t state)
{
	static const char *const words[] = {
		[NEARCACHE_JOB_RUNNING] = "running",
		[NEARCACHE_JOB_DONE] = "done",
		[NEARCACHE_JOB_CANCELLED] = "cancelled",
		[NEARCACHE_JOB_WAITING] = "waiting",
		[NEARCACHE_JOB_INCOMPLETE] = "incomplete",
	};

	if (state == JOB_FORGOTTEN)
		return "forgotten";
	return state < sizeof(words) / sizeof(words[0]) ? words[state] :
							  "unknown";
}

static bool cancel_job(const struct dm_device *dev, uint32_t id)
{
	uint64_t count;

	/* Ignore an error: the job may have ended just now. */
	if (nl_job_cancel(dev->number, id, &count))
		fail_reset();
	return count;
}

/* True if @now and @known differ: after a reopening, another job may have the same number. */
static bool is_other(const struct nl_job *known, const struct nl_job *now)
{
	return (*known->label && strcmp(known->label, now->label)) ||
	       (known->bytes && known->bytes != now->bytes);
}

/* Sets the state of a job that the kernel has dropped. Warns unless this process @cancelled it. */
static void forget_job(const struct dm_device *dev, bool cancelled,
		       struct nl_job *job)
{
	job->flying = 0;
	job->state = cancelled ? NEARCACHE_JOB_CANCELLED : JOB_FORGOTTEN;
	if (!cancelled)
		warn("prefetch job %u of '%s' has ended and the kernel has dropped its result: 'nearcache residency %s TARGET' shows which data is cached",
		     job->id, dev->name, dev->name);
}

/* Says once, unless @quiet, that the job waits for readers. */
static void tell_wait(const struct dm_device *dev, const struct nl_job *job, bool quiet, bool *told)
{
	if (quiet || *told || job->state != NEARCACHE_JOB_WAITING)
		return;
	*told = true;
	fprintf(stderr,
		"prefetch job %u of '%s' waits until data in the cache has been read: there is no room for more; ^C cancels the job\n",
		job->id, dev->name);
}

/* Waits as job_wait(), or if @stalls also returns once the job waits for readers. */
static int wait_for_job(const struct dm_device *dev, uint32_t id, bool quiet, bool stalls,
			struct nl_job *job)
{
	struct progress progress = { 0 };
	bool found, started = false, cancelled = false, told = false;
	struct nl_job now;
	sigset_t before;

	job->id = id;
	signals_hold(&before);
	while (!nl_job_get(dev->number, id, &now, &found)) {
		if (!found || is_other(job, &now)) {
			forget_job(dev, cancelled, job);
			break;
		}
		*job = now;
		if (!started)
			progress_start(&progress, "prefetch", job->bytes, quiet);
		started = true;
		progress_update(&progress, job->fetched + job->present);
		if (stalls && job->state == NEARCACHE_JOB_WAITING)
			break;
		tell_wait(dev, job, quiet, &told);
		if (nl_job_is_over(job) && !job->flying)
			break;
		if (!signals_wait(LOOK_MS))
			continue;
		if (nl_job_is_over(job))
			break;
		cancelled |= cancel_job(dev, id);
	}
	progress_end(&progress);
	signals_release(&before);
	return fail_code();
}

/*
 * Waits until a job ends, and meanwhile shows its progress unless @quiet. @job receives the job's
 * last state. On entry @job->label and @job->bytes identify the job; "" and 0 if unknown.
 *
 * The first ^C cancels the job; the function then still waits for the job's reads in flight. The
 * second ^C ends this wait. Also succeeds if the job failed or was cancelled, see job_judge().
 */
int job_wait(const struct dm_device *dev, uint32_t id, bool quiet,
	     struct nl_job *job)
{
	return wait_for_job(dev, id, quiet, false, job);
}

/*
 * Like job_wait(), but also returns, with state NEARCACHE_JOB_WAITING, once the job waits for
 * readers, which may take without limit.
 */
int job_wait_or_stall(const struct dm_device *dev, uint32_t id, bool quiet, struct nl_job *job)
{
	return wait_for_job(dev, id, quiet, true, job);
}

/*
 * Fails if @job, as job_wait() set it, was cancelled or has bytes in @job->left. Succeeds if the
 * outcome of the job is unknown (JOB_FORGOTTEN).
 */
int job_judge(const struct dm_device *dev, const struct nl_job *job)
{
	char came[SIZE_TEXT], all[SIZE_TEXT], flying[SIZE_TEXT];

	size_print(job->bytes, all);
	size_print(job->flying, flying);
	if (job->state == JOB_FORGOTTEN)
		return 0;
	if (job->state == NEARCACHE_JOB_CANCELLED)
		return fail(CODE_DEVICE,
			    "prefetch job %u of '%s' was cancelled: %s of %s are cached%s%s",
			    job->id, dev->name,
			    size_print(job->fetched + job->present, came), all,
			    job->flying ? ", still in flight: " : "",
			    job->flying ? flying : "");
	if (job->left)
		return fail(CODE_DEVICE,
			    "prefetch job %u of '%s' left out %s of %s: no room before the deadline, evicted before it was read, bypassed, being written, or not readable; 'nearcache stats %s' shows the reason",
			    job->id, dev->name, size_print(job->left, came), all,
			    dev->name);
	return 0;
}

/* Prints the fields of a job. The caller has called print_record(). */
void job_print(const struct nl_job *job)
{
	char rate[SIZE_TEXT + 2] = "-", text[SIZE_TEXT];

	print_number("job", "job", job->id);
	print_string("state", "state", job_state_word(job->state));
	print_ratio("done", "done", job->fetched + job->present, job->bytes);
	print_bytes("bytes", "bytes", job->bytes);
	print_bytes("fetched_bytes", "fetched", job->fetched);
	print_bytes("present_bytes", "present", job->present);
	print_bytes("left_bytes", "left-out", job->left);
	print_bytes("flying_bytes", NULL, job->flying);
	print_number("priority", "priority", job->priority);
	print_seconds("deadline_s", NULL, job->deadline);
	if (job->bandwidth)
		snprintf(rate, sizeof(rate), "%s/s",
			 size_print(job->bandwidth, text));
	print_bytes("bandwidth", NULL, job->bandwidth);
	print_string(NULL, "bandwidth", rate);
	print_string("label", "label", job->label_hidden ? NULL : job->label);
}
