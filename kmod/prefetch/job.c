// SPDX-License-Identifier: GPL-2.0-only
/* Which job is next, and which are kept to be asked for. */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "prefetch/job.h"

void nc_jobs_init(struct nc_jobs *jobs)
{
	INIT_LIST_HEAD(&jobs->waiting);
	INIT_LIST_HEAD(&jobs->over);
}

void nc_job_free(struct nc_job *job)
{
	if (!job)
		return;
	kvfree(job->piece);
	kfree(job);
}

static void free_list(struct list_head *list)
{
	struct nc_job *job, *next;

	list_for_each_entry_safe(job, next, list, list)
		nc_job_free(job);
}

void nc_jobs_destroy(struct nc_jobs *jobs)
{
	free_list(&jobs->waiting);
	free_list(&jobs->over);
}

/**
 * nc_jobs_find() - a job by its number
 * @jobs: jobs
 * @id: number
 *
 * Return: job, over or not, or NULL.
 */
struct nc_job *nc_jobs_find(struct nc_jobs *jobs, u32 id)
{
	struct nc_job *job;

	list_for_each_entry(job, &jobs->waiting, list)
		if (job->id == id)
			return job;
	list_for_each_entry(job, &jobs->over, list)
		if (job->id == id)
			return job;
	return NULL;
}

static void least_above(struct list_head *list, u32 id, struct nc_job **least)
{
	struct nc_job *job;

	list_for_each_entry(job, list, list)
		if (job->id > id && (!*least || job->id < (*least)->id))
			*least = job;
}

/**
 * nc_jobs_next() - the job with the next higher number
 * @jobs: jobs
 * @id: number; 0: the first one
 *
 * Return: job or NULL.
 */
struct nc_job *nc_jobs_next(struct nc_jobs *jobs, u32 id)
{
	struct nc_job *least = NULL;

	least_above(&jobs->waiting, id, &least);
	least_above(&jobs->over, id, &least);
	return least;
}

/**
 * nc_jobs_add() - a job waits from now on
 * @jobs: jobs
 * @job: job; gets its number
 *
 * Return: false if there are too many.
 */
bool nc_jobs_add(struct nc_jobs *jobs, struct nc_job *job)
{
	if (jobs->count == NC_JOBS_MAX || job->pieces > NC_JOB_PIECES_MAX - jobs->pieces)
		return false;
	/* Numbers come again after 4 billions. */
	do {
		jobs->last++;
	} while (!jobs->last || nc_jobs_find(jobs, jobs->last));
	job->id = jobs->last;
	job->state = NEARCACHE_JOB_RUNNING;
	list_add_tail(&job->list, &jobs->waiting);
	jobs->count++;
	jobs->pieces += job->pieces;
	return true;
}

/* Is @a to come before @b? */
static bool is_before(const struct nc_job *a, const struct nc_job *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (!a->deadline || !b->deadline)
		return a->deadline && !b->deadline;
	return time_before(a->deadline, b->deadline);
}

/* The same of jobs that want the same slots: those that are alike do not take turns. */
static bool has_first_claim(const struct nc_job *a, const struct nc_job *b)
{
	if (is_before(a, b) || is_before(b, a))
		return is_before(a, b);
	return (s32)(a->id - b->id) < 0;
}

/**
 * nc_jobs_behind() - is another job to get a slot before this one?
 * @jobs: jobs
 * @job: one of them
 *
 * Or each would bring the first few blocks of what only one of them has the room for.
 *
 * Context: the prefetch worker.
 */
bool nc_jobs_behind(const struct nc_jobs *jobs, const struct nc_job *job)
{
	return jobs->first && has_first_claim(jobs->first, job);
}

/**
 * nc_jobs_pick() - the job that is next
 * @jobs: jobs
 * @now: jiffies
 * @wait: lowered to how long the next one that has to wait still has to, in jiffies
 *
 * Those that are alike take turns.  Of one whose pieces were all looked at, the last
 * has to have come before it is picked, to be settled.
 *
 * Return: job or NULL.
 */
struct nc_job *nc_jobs_pick(struct nc_jobs *jobs, unsigned long now, unsigned long *wait)
{
	struct nc_job *job, *best = NULL;

	jobs->first = NULL;
	list_for_each_entry(job, &jobs->waiting, list)
		if (job->waits && (!jobs->first || has_first_claim(job, jobs->first)))
			jobs->first = job;
	list_for_each_entry(job, &jobs->waiting, list) {
		bool sent = job->at == job->pieces || job->state != NEARCACHE_JOB_RUNNING;

		if (sent && job->flying)
			continue;
		if (sent) {
			best = job;
			break;
		}
		if (job->due && time_before(now, job->due)) {
			*wait = min(*wait, job->due - now);
			continue;
		}
		if (!best || is_before(job, best))
			best = job;
	}
	if (best)
		list_move_tail(&best->list, &jobs->waiting);
	return best;
}

/**
 * nc_job_see() - bytes that are there, or that others bring
 * @job: job
 * @bytes: how many
 */
void nc_job_see(struct nc_job *job, u64 bytes)
{
	u64 own = min(job->known, bytes);

	job->known -= own;
	job->present += bytes - own;
}

/**
 * nc_job_again() - go over the pieces once more, for what could not be brought
 * @job: all of whose pieces were looked at
 */
void nc_job_again(struct nc_job *job)
{
	job->pass++;
	job->again = false;
	job->left = 0;
	job->present = 0;
	job->known = job->fetched;
	job->at = 0;
	job->sector = job->piece[0].first;
}

/**
 * nc_jobs_end() - a job is over
 * @jobs: jobs
 * @job: waiting, nothing of it flies; its state says how it ended
 *
 * It can be asked for until enough others are over.
 *
 * Return: job that nobody can ask for any more, to be freed, or NULL.
 */
struct nc_job *nc_jobs_end(struct nc_jobs *jobs, struct nc_job *job)
{
	struct nc_job *oldest;

	job->waits = false;
	if (jobs->first == job)
		jobs->first = NULL;
	list_move(&job->list, &jobs->over);
	jobs->count--;
	jobs->pieces -= job->pieces;
	if (++jobs->over_count <= NC_JOBS_OVER_MAX)
		return NULL;
	oldest = list_last_entry(&jobs->over, struct nc_job, list);
	list_del(&oldest->list);
	jobs->over_count--;
	return oldest;
}
