/* SPDX-License-Identifier: GPL-2.0-only */
/* Prefetch jobs: which pieces of the origin, in which order, and how far each has come. */
#ifndef NEARCACHE_PREFETCH_JOB_H
#define NEARCACHE_PREFETCH_JOB_H

#include <linux/list.h>
#include <linux/types.h>

#include "nearcache.h"

/* Jobs that are not over. */
#define NC_JOBS_MAX		1024U
/* Pieces of all of them: 16 MiB of memory. */
#define NC_JOB_PIECES_MAX	1048576U
/* Of those that are over so many can be asked for still: 512 KiB, as each is a kmalloc-512. */
#define NC_JOBS_OVER_MAX	1024U
/* How often a job goes over its pieces for what was being written, or failed. */
#define NC_JOB_PASSES		3U

/* Sectors that follow each other. */
struct nc_piece {
	u64 first;
	u64 end;
};

/**
 * struct nc_job - a prefetch job
 * @list: in nc_jobs.waiting or .over
 * @id: number, from 1
 * @state: enum nearcache_job_state
 * @priority: jobs of higher priority come first
 * @deadline: in jiffies, 0: none; of jobs of one priority the earliest comes first
 * @bandwidth: bytes per second, at most; 0: as it goes
 * @due: jiffies: not before, for @bandwidth
 * @bytes: of all pieces
 * @fetched: bytes that it brought
 * @present: bytes that were there already, or that others bring
 * @left: bytes that it could not bring
 * @flying: bytes on their way
 * @known: bytes that passes before fetched, and this one has not come across yet
 * @again: some of @left may be brought in another pass
 * @shortages: how often it found no slot, since some job got one
 * @given: nc_transit.given, of then
 * @waits: it waits for a slot for what is not pinned
 * @pin_shortages: how often it found none for what is pinned, since it brought something
 * @pass: passes over the pieces that are over
 * @at: piece it has come to; @pieces: all were looked at
 * @sector: first sector of that which was not looked at
 * @pieces: how many
 * @label: whose, as of ranges; may be empty
 * @piece: in the order in which they are wanted; NULL once it is over
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
 * @waiting: not over
 * @over: over, the last one first
 * @count: of @waiting
 * @over_count: of @over
 * @pieces: of @waiting
 * @last: id of the last one
 * @first: of those that wait for a slot the one that comes before all others; the worker's
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
