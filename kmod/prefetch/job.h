/* SPDX-License-Identifier: GPL-2.0-only */
/* Prefetch jobs: lists of pieces of the origin to cache, with their progress. */
#ifndef NEARCACHE_PREFETCH_JOB_H
#define NEARCACHE_PREFETCH_JOB_H

#include <linux/list.h>
#include <linux/types.h>

#include "nearcache.h"

/* Most unfinished jobs. */
#define NC_JOBS_MAX		1024U
/* Most pieces of all unfinished jobs together: 16 MiB of memory. */
#define NC_JOB_PIECES_MAX	1048576U
/* Most finished jobs that can be queried: 512 KiB of memory, each job a kmalloc-512. */
#define NC_JOBS_OVER_MAX	1024U
/* Most passes of a job over its pieces; later ones retry failed reads and data in write ranges. */
#define NC_JOB_PASSES		3U

/* Sectors from @first to before @end. */
struct nc_piece {
	u64 first;
	u64 end;
};

/**
 * struct nc_job - a prefetch job
 * @list: entry in nc_jobs.waiting or .over
 * @id: number, from 1
 * @state: enum nearcache_job_state
 * @priority: jobs of higher priority run first
 * @deadline: jiffies; 0: none; among jobs of one priority the earliest deadline runs first
 * @bandwidth: limit in bytes per second; 0: none
 * @due: jiffies before which the job must not run; 0: none
 * @bytes: total length of the pieces
 * @fetched: bytes that the job's fills made valid
 * @present: bytes that were cached already, or that other fills bring
 * @left: bytes that the job could not bring in this pass
 * @flying: bytes of the job's fills in flight
 * @known: bytes that earlier passes fetched and this pass has not met yet
 * @again: another pass may bring some of @left
 * @shortages: attempts in a row without a slot since any job last got one
 * @given: nc_prefetch_reserve.given when @shortages was last reset
 * @waits: the job waits for a slot for a block that is not pinned
 * @pin_shortages: attempts without a slot for a pinned block, since the job started a fill
 * @pass: number of completed passes
 * @at: index of the next piece, or @pieces if all pieces were submitted
 * @sector: next sector of the piece @at
 * @pieces: number of pieces
 * @label: name of the job, with the syntax of a range's label; may be empty
 * @piece: pieces in the order to bring them; NULL after the job has finished
 */
struct nc_job {
	struct list_head list;
	u32 id;
	enum nearcache_job_state state;
	u8 priority;
	unsigned long deadline;
	u64 bandwidth;
	unsigned long due;
	u64 bytes;
	u64 fetched;
	u64 present;
	u64 left;
	u64 flying;
	u64 known;
	bool again;
	u32 shortages;
	u32 given;
	bool waits;
	u32 pin_shortages;
	u32 pass;
	u32 at;
	u64 sector;
	u32 pieces;
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
 * @first: of the jobs that wait for a slot, the one that gets the next slot; for the worker only
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
	struct nc_job *first;
};

void nc_jobs_init(struct nc_jobs *jobs);
void nc_jobs_destroy(struct nc_jobs *jobs);
bool nc_jobs_add(struct nc_jobs *jobs, struct nc_job *job);
struct nc_job *nc_jobs_find(struct nc_jobs *jobs, u32 id);
struct nc_job *nc_jobs_next(struct nc_jobs *jobs, u32 id);
struct nc_job *nc_jobs_pick(struct nc_jobs *jobs, unsigned long now, unsigned long *wait);
bool nc_jobs_behind(const struct nc_jobs *jobs, const struct nc_job *job);
struct nc_job *nc_jobs_end(struct nc_jobs *jobs, struct nc_job *job);
void nc_job_see(struct nc_job *job, u64 bytes);
void nc_job_again(struct nc_job *job);
void nc_job_free(struct nc_job *job);

#endif /* NEARCACHE_PREFETCH_JOB_H */
