// SPDX-License-Identifier: GPL-2.0-only
/* The lists of unfinished and finished prefetch jobs, and the choice of the next job to run. */
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

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
	if (job->peer)
		fput(job->peer);
	kvfree(job->piece);
	kfree(job);
}

/* Move all jobs to the list @to: reclaim may still look at the lists of @jobs. */
void nc_jobs_detach(struct nc_jobs *jobs, struct list_head *to)
{
	list_splice_init(&jobs->waiting, to);
	list_splice_init(&jobs->over, to);
}

/* Free the jobs in @list. */
void nc_jobs_free(struct list_head *list)
{
	struct nc_job *job, *next;

	list_for_each_entry_safe(job, next, list, list)
		nc_job_free(job);
}

/* Return the job with number @id, unfinished or finished, or NULL. */
struct nc_job *nc_jobs_find(struct nc_jobs *jobs, u32 id)
{
	struct nc_job *job;

	list_for_each_entry(job, &jobs->waiting, list)
		if (job->id == id && !job->stream)
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
	if (jobs->count >= NC_JOBS_MAX || job->pieces > NC_JOB_PIECES_MAX - jobs->pieces)
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

/* Jiffies until the job may run. */
static unsigned long job_delay(const struct nc_job *job, unsigned long now)
{
	unsigned long delay = 0;

	if (job->due && time_before(now, job->due))
		delay = job->due - now;
	if (job->pace && time_before(now, job->pace))
		delay = max(delay, job->pace - now);
	return delay;
}

/* May the job submit more, as far as the device that it reads allows? */
static bool device_takes_more(const struct nc_job *job, bool hold_origin, bool hold_peers)
{
	if (!job->peer_dev)
		return !hold_origin;
	return !hold_peers && job->flying <= NC_JOB_PEER_BYTES / 2;
}

/* Let all jobs that wait for a slot try again at once, or as soon as their bandwidth allows. */
void nc_jobs_retry(struct nc_jobs *jobs)
{
	struct nc_job *job;

	list_for_each_entry(job, &jobs->waiting, list)
		if (job->waits)
			job->due = 0;
}

/**
 * nc_jobs_pick() - pick the job that the worker handles next
 * @jobs: jobs of the cache
 * @now: jiffies
 * @hold_origin: jobs that read the origin must wait
 * @hold_peers: jobs that read at a peer must wait
 * @wait: lowered to the time in jiffies until the next delayed job is due
 *
 * Equal jobs take turns.  A job that was cancelled or has submitted all of its pieces is picked
 * after its last fill has ended, for settle_job().
 *
 * Return: job, or NULL if no job can go on.
 */
struct nc_job *nc_jobs_pick(struct nc_jobs *jobs, unsigned long now, bool hold_origin,
			    bool hold_peers, unsigned long *wait)
{
	struct nc_job *job, *best = NULL;

	list_for_each_entry(job, &jobs->waiting, list) {
		bool sent = nc_job_is_sent(job) || job->state != NEARCACHE_JOB_RUNNING;
		unsigned long delay;

		/* A stream is not over when it has sent its pieces: nc_stream_look() refills it. */
		if (sent && (job->flying || (job->stream && job->state == NEARCACHE_JOB_RUNNING)))
			continue;
		if (sent) {
			best = job;
			break;
		}
		if (!device_takes_more(job, hold_origin, hold_peers))
			continue;
		delay = job_delay(job, now);
		if (delay) {
			*wait = min(*wait, delay);
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
 * nc_job_keep() - keep data for the next pass
 * @job: unfinished job
 * @first: first sector
 * @end: sector after the last one
 * @bytes: length, added to nc_job.again
 *
 * The entries of nc_job.piece before nc_job.at are no longer needed, so they take what is kept.
 *
 * Return: false if there is no further pass or no free entry: the data is left out.
 */
bool nc_job_keep(struct nc_job *job, u64 first, u64 end, u64 bytes)
{
	struct nc_piece *last = job->kept ? &job->piece[job->kept - 1] : NULL;

	if (job->state != NEARCACHE_JOB_RUNNING || job->pass + 1 == NC_JOB_PASSES ||
	    nc_job_is_lost(job))
		return false;
	if (last && last->end == first) {
		last->end = end;
	} else {
		if (job->kept == job->at)
			return false;
		job->piece[job->kept++] = (struct nc_piece){ first, end };
	}
	job->again += bytes;
	return true;
}

/* Begin another pass, over the pieces that nc_job_keep() kept. */
void nc_job_again(struct nc_job *job)
{
	u32 at = NC_JOB_SPARE + job->pieces - job->kept;

	memmove(&job->piece[at], job->piece, job->kept * sizeof(*job->piece));
	job->pass++;
	job->again = 0;
	job->kept = 0;
	job->at = at;
	job->sector = job->piece[at].first;
}

/* Number of blocks of 2^@shift sectors that hold data of the job, from its position on.  A block
 * counts again for each later piece in it that does not follow a piece in the same block.
 */
u64 nc_job_blocks(const struct nc_job *job, u32 shift)
{
	u64 first = job->sector >> shift, last = ~0ULL, blocks = 0;
	u32 i;

	for (i = job->at; i < NC_JOB_SPARE + job->pieces; i++) {
		if (i > job->at)
			first = job->piece[i].first >> shift;
		blocks += first != last;
		last = (job->piece[i].end - 1) >> shift;
		blocks += last - first;
	}
	return blocks;
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
