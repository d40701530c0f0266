/* SPDX-License-Identifier: GPL-2.0-only */
/* Prefetch jobs: lists of pieces of the origin to cache, with their progress. */
#ifndef NEARCACHE_PREFETCH_JOB_H
#define NEARCACHE_PREFETCH_JOB_H

#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/types.h>

#include "nearcache.h"

struct file;

/* Most unfinished jobs. */
#define NC_JOBS_MAX		1024U
/* Most pieces of all unfinished jobs together: 16 MiB of memory. */
#define NC_JOB_PIECES_MAX	1048576U
/* Most finished jobs that can be queried: 512 KiB of memory, each job a kmalloc-512. */
#define NC_JOBS_OVER_MAX	1024U
/* Most passes of a job over its pieces; later ones retry failed reads and data in write ranges. */
#define NC_JOB_PASSES		3U
/* Most bytes in flight of a job that reads at a peer. */
#define NC_JOB_PEER_BYTES	(4U << 20)
/* A job ends after this many failed reads in a row at its peer. */
#define NC_JOB_FAILURES_MAX	16U
/* Entries of nc_job.piece before the first piece, so that data to retry fits beside the pieces. */
#define NC_JOB_SPARE		64U

/* Sectors from @first to before @end. */
struct nc_piece {
	u64 first;
	u64 end;
};

/**
 * struct nc_job - a prefetch job
 * @list: entry in nc_jobs.waiting or .over
 * @id: number, from 1; 0: a stream
 * @state: enum nearcache_job_state
 * @priority: jobs of higher priority run first
 * @peer: open block device that the job reads instead of the origin, and to which it holds a
 *	reference; NULL: the job reads the origin
 * @peer_dev: device number of @peer, kept after the job has finished
 * @failures: reads at @peer that failed since the last successful one; at least NC_JOB_FAILURES_MAX
 *	if the device was removed
 * @deadline: jiffies; 0: none; among jobs of one priority the earliest deadline runs first; later
 *	the job no longer waits for slots
 * @bandwidth: limit in bytes per second; 0: none
 * @due: jiffies before which the job must not run, as it waits for a slot or its next pass; 0: none
 * @pace: jiffies before which the job must not run, because of @bandwidth; 0: none
 * @bytes: total length of the pieces
 * @fetched: bytes that the job's fills made valid
 * @present: bytes that were cached already, or that other fills bring, or that readers read at the
 *	origin meanwhile: see has_passed()
 * @left: bytes that the job could not bring, or that were evicted before a reader used them
 * @flying: bytes of the job's fills in flight
 * @again: bytes that the next pass will try to bring
 * @kept: number of pieces for the next pass, at the start of @piece
 * @larger: the job has more blocks than the cache
 * @since: has_passed() ignores reads before this time, nc_demand_stamp(); see job_note_time()
 * @since_next: next value of @since
 * @noted: @blocks when @since_next was set, or when the present pass over the pieces began
 * @number: see nc_reserve_join(); 0: the job has not run yet, or is a stream
 * @stream: the job is the stream of a plan, see plan_stream.c: @id is 0, and the worker refills
 *	@piece
 * @waits: the job waits for a slot
 * @waited: jiffies when @waits became true
 * @pass: number of completed passes
 * @at: index of the next piece; see nc_job_is_sent()
 * @sector: next sector of the piece @at
 * @pieces: number of pieces
 * @blocks: see nc_job_blocks(); for the worker only
 * @label: name of the job, with the syntax of a range's label; may be empty
 * @piece: NC_JOB_SPARE entries, then the pieces in the order to bring them; NULL after the job has
 *	finished
 */
struct nc_job {
	struct list_head list;
	u32 id;
	enum nearcache_job_state state;
	u8 priority;
	struct file *peer;
	dev_t peer_dev;
	u32 failures;
	unsigned long deadline;
	u64 bandwidth;
	unsigned long due;
	unsigned long pace;
	u64 bytes;
	u64 fetched;
	u64 present;
	u64 left;
	u64 flying;
	u64 again;
	u32 kept;
	bool larger;
	u32 since;
	u32 since_next;
	u64 noted;
	u32 number;
	bool stream;
	bool waits;
	unsigned long waited;
	u32 pass;
	u32 at;
	u64 sector;
	u32 pieces;
	u64 blocks;
	char label[NEARCACHE_LABEL_MAX + 1];
	struct nc_piece *piece;
};

/**
 * struct nc_jobs - the jobs of a cache
 * @waiting: unfinished jobs
 * @over: finished jobs, the latest first
 * @count: length of @waiting
 * @over_count: length of @over
 * @pieces: number of pieces of all jobs in @waiting
 * @last: id of the job that was queued last
 *
 * Protected by nc_prefetch.lock.
 */
struct nc_jobs {
	struct list_head waiting;
	struct list_head over;
	u32 count;
	u32 over_count;
	u32 pieces;
	u32 last;
};

/* Did the peer fail so often that the job must end?  Once true, this stays true. */
static inline bool nc_job_is_lost(const struct nc_job *job)
{
	return READ_ONCE(job->failures) >= NC_JOB_FAILURES_MAX;
}

/* Is nothing left to submit in this pass? */
static inline bool nc_job_is_sent(const struct nc_job *job)
{
	return job->at == NC_JOB_SPARE + job->pieces || nc_job_is_lost(job);
}

/* The state for user space: a running job that waits for a slot is waiting. */
static inline enum nearcache_job_state nc_job_state(const struct nc_job *job)
{
	return job->state == NEARCACHE_JOB_RUNNING && job->waits ? NEARCACHE_JOB_WAITING :
								   job->state;
}

void nc_jobs_init(struct nc_jobs *jobs);
void nc_jobs_detach(struct nc_jobs *jobs, struct list_head *to);
void nc_jobs_free(struct list_head *list);
bool nc_jobs_add(struct nc_jobs *jobs, struct nc_job *job);
struct nc_job *nc_jobs_find(struct nc_jobs *jobs, u32 id);
struct nc_job *nc_jobs_next(struct nc_jobs *jobs, u32 id);
struct nc_job *nc_jobs_pick(struct nc_jobs *jobs, unsigned long now, bool hold_origin,
			    bool hold_peers, unsigned long *wait);
void nc_jobs_retry(struct nc_jobs *jobs);
struct nc_job *nc_jobs_end(struct nc_jobs *jobs, struct nc_job *job);
bool nc_job_keep(struct nc_job *job, u64 first, u64 end, u64 bytes);
void nc_job_again(struct nc_job *job);
u64 nc_job_blocks(const struct nc_job *job, u32 shift);
void nc_job_free(struct nc_job *job);

#endif /* NEARCACHE_PREFETCH_JOB_H */
