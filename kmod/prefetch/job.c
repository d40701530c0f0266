// SPDX-License-Identifier: GPL-2.0-only
/* The lists of unfinished and finished prefetch jobs, and the choice of the next job to run. */
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

/* Return the job with number @id, unfinished or finished, or NULL. */
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

/* Return the job with the lowest number above @id, or NULL.  @id 0 gives the first job. */
struct nc_job *nc_jobs_next(struct nc_jobs *jobs, u32 id)
{
	struct nc_job *least = NULL;

	least_above(&jobs->waiting, id, &least);
	least_above(&jobs->over, id, &least);
	return least;
}

/* Number a job and queue it.  Returns false if there are too many jobs or pieces. */
bool nc_jobs_add(struct nc_jobs *jobs, struct nc_job *job)
{
	if (jobs->count == NC_JOBS_MAX || job->pieces > NC_JOB_PIECES_MAX - jobs->pieces)
		return false;
	/* Numbers wrap after 4 billion. */
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

/* Must @a run before @b?  Neither is first if both have the same priority and deadline. */
static bool is_before(const struct nc_job *a, const struct nc_job *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (!a->deadline || !b->deadline)
		return a->deadline && !b->deadline;
	return time_before(a->deadline, b->deadline);
}

/* Does @a get a slot before @b?  Of equal jobs the older one does, although they run in turns. */
static bool has_first_claim(const struct nc_job *a, const struct nc_job *b)
{
	if (is_before(a, b) || is_before(b, a))
		return is_before(a, b);
	return (s32)(a->id - b->id) < 0;
}

/**
 * nc_jobs_behind() - must a job leave free slots to a job that waits for slots?
 * @jobs: jobs of the cache
 * @job: one of @jobs
 *
 * If slots suffice for one job only, one job must complete rather than several in part.
 *
 * Context: the prefetch worker.
 */
bool nc_jobs_behind(const struct nc_jobs *jobs, const struct nc_job *job)
{
	return jobs->first && has_first_claim(jobs->first, job);
}

/**
 * nc_jobs_pick() - pick the job that the worker handles next
 * @jobs: jobs of the cache
 * @now: jiffies
 * @wait: lowered to the time in jiffies until the next delayed job is due
 *
 * Equal jobs take turns.  A job that was cancelled or has submitted all of its pieces is picked
 * after its last fill has ended, for settle_job().
 *
 * Return: job, or NULL if no job can go on.
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

/* Account bytes that are cached or that other fills bring, except what earlier passes fetched. */
void nc_job_see(struct nc_job *job, u64 bytes)
{
	u64 own = min(job->known, bytes);

	job->known -= own;
	job->present += bytes - own;
}

/* Begin another pass over all pieces, to bring data that the pass before could not bring. */
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
 * nc_jobs_end() - move a job to the list of finished jobs
 * @jobs: jobs of the cache
 * @job: on the waiting list, without fills in flight; its state is final
 *
 * A finished job can be queried until NC_JOBS_OVER_MAX later jobs have finished.
 *
 * Return: the job that falls off the list, for the caller to free, or NULL.
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
