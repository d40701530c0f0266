// SPDX-License-Identifier: GPL-2.0-only
#include "files/job_parts.h"

#include <string.h>

#include "files/job_wait.h"
#include "lib/error.h"

/*
 * struct parts - jobs that were submitted and not awaited yet
 * @id: their numbers, the oldest first. At most two: one runs, and the next waits in the kernel, so
 *	that the prefetch does not pause
 * @count: entries of @id
 * @wait: the caller waits for all jobs
 * @sum: outcome of the awaited jobs
 */
struct parts {
	const struct dm_device *dev;
	const struct nl_job *wishes;
	bool wait;
	bool quiet;
	uint32_t id[2];
	size_t count;
	struct nl_job *sum;
};

/* Add the outcome of a job to the sum of several. */
void job_add_outcome(struct nl_job *sum, const struct nl_job *job)
{
	sum->id = job->id;
	if (sum->state != NEARCACHE_JOB_CANCELLED && sum->state != JOB_FORGOTTEN &&
	    (sum->state != NEARCACHE_JOB_INCOMPLETE || job->state != NEARCACHE_JOB_DONE))
		sum->state = job->state;
	sum->bytes += job->bytes;
	sum->fetched += job->fetched;
	sum->present += job->present;
	sum->left += job->left;
	sum->flying += job->flying;
	sum->priority = job->priority;
	sum->deadline = job->deadline;
	sum->bandwidth = job->bandwidth;
}

/*
 * Wait for the oldest job, and add its outcome. Fail with CODE_BUSY if it waits for readers, unless
 * the caller waits for all jobs: without a reader the command would never end.
 */
static int wait_oldest(struct parts *p)
{
	struct nl_job job = { 0 };

	strcpy(job.label, p->wishes->label);
	if (p->wait ? job_wait(p->dev, p->id[0], p->quiet, &job) :
		      job_wait_or_stall(p->dev, p->id[0], p->quiet, &job))
		return fail_code();
	if (job.state == NEARCACHE_JOB_WAITING)
		return fail(CODE_BUSY,
			    "prefetch job %u of '%s' waits until data in the cache has been read: there is no room for more",
			    p->id[0], p->dev->name);
	job_add_outcome(p->sum, &job);
	p->id[0] = p->id[1];
	p->count--;
	return 0;
}

static bool is_cancelled(const struct parts *p)
{
	return p->sum->state == NEARCACHE_JOB_CANCELLED;
}

/* After ^C: cancel the jobs behind the one that job_wait() cancelled, and wait for their reads. */
static void cancel_rest(struct parts *p)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		nl_job_end(p->dev->number, p->id[i]);
	while (p->count && !fail_code() && !wait_oldest(p))
		;
}

/* Add to the error which jobs go on without this command, and how many ranges have no job. */
static int add_unsubmitted(const struct parts *p, size_t done, size_t count)
{
	const char *name = p->dev->name;

	if (p->count)
		fail_add("jobs %u to %u go on in the background ('nearcache jobs %s'); jobs for %zu of %zu ranges were not started: give the same command again later, or with --wait",
			 p->id[0], p->id[p->count - 1], name, count - done, count);
	return fail_code();
}

static int submit_parts(struct parts *p, const struct range *piece, size_t count, size_t part,
			size_t *parts)
{
	size_t at;

	for (at = 0; at < count; at += part) {
		size_t some = count - at < part ? count - at : part;

		if (p->count == 2 && wait_oldest(p))
			return add_unsubmitted(p, at, count);
		if (is_cancelled(p))
			return 0;
		if (nl_job_submit(p->dev->number, p->wishes, piece + at, some, &p->id[p->count]))
			return add_unsubmitted(p, at, count);
		p->sum->id = p->id[p->count++];
		(*parts)++;
	}
	return 0;
}

/*
 * Prefetch ranges in their order. If a job cannot have that many, submit several jobs of
 * PART_PIECES ranges, each when the last but one has ended.
 * @wait: wait for all jobs; otherwise return as soon as the last one is submitted, or fail with
 * CODE_BUSY once that would take without limit, because a job waits for readers.
 * @quiet: show no progress.
 * @sum: receives the number of the last job, and the outcome of all jobs; its @bytes are 0 if the
 * outcome is unknown because of @wait. @parts: receives the number of jobs.
 */
int job_parts_run(const struct dm_device *dev, const struct nl_job *wishes,
		  const struct range *piece, size_t count, bool wait, bool quiet,
		  struct nl_job *sum, size_t *parts)
{
	struct parts p = { .dev = dev, .wishes = wishes, .wait = wait, .quiet = quiet,
			   .sum = sum };

	*parts = 0;
	memset(sum, 0, sizeof(*sum));
	strcpy(sum->label, wishes->label);
	if (submit_parts(&p, piece, count, count > NL_JOB_PIECES_MAX ? PART_PIECES : count, parts))
		return fail_code();
	while (wait && p.count && !is_cancelled(&p))
		if (wait_oldest(&p))
			return fail_code();
	if (is_cancelled(&p))
		cancel_rest(&p);
	else if (!wait)
		sum->bytes = 0;
	return fail_code();
}
