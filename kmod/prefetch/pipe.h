/* SPDX-License-Identifier: GPL-2.0-only */
/* The pipe to the origin: how many bytes of jobs may be in flight. */
#ifndef NEARCACHE_PREFETCH_PIPE_H
#define NEARCACHE_PREFETCH_PIPE_H

#include <linux/types.h>

/**
 * struct nc_pipe - limit of the bytes in flight, and the measurements that set it
 * @window: limit of the bytes in flight
 * @least: minimum of the latency of reads, nanoseconds; 0: no read has ended
 * @least_at: time when @least was last reached or set, ktime in ns
 * @delay: smoothed latency in excess of @least, nanoseconds
 * @ended: time when a job's read of the origin last succeeded, ktime in ns
 * @round: time when the present round began, ktime in ns.  A round ends with the first read that
 *	was sent in it: so it takes as long as a read
 * @arrived: bytes that arrived in the present round
 * @peak: most bytes that jobs were reading at a time, in the present round
 * @rate: bytes per second that arrived in the round before
 * @full: reads queue: the window fills the pipe
 * @fitted: time when fit_window() last set @window, ktime in ns
 * @fits: number of such calls since reads last queued for less than 3/4 of DELAY_MAX
 * @probed: time when the window was last restored after it was lowered, ktime in ns; 0: never
 * @probe: rounds until @window is restored; 0: it is not lowered
 * @fresh: minimum latency of reads that were sent with the lowered window; 0: none has ended
 * @kept: value to restore
 *
 * The caller serialises all access.
 */
struct nc_pipe {
	u64 window;
	u64 least;
	u64 least_at;
	u64 delay;
	u64 ended;
	u64 round;
	u64 arrived;
	u64 peak;
	u64 rate;
	bool full;
	u64 fitted;
	u32 fits;
	u64 probed;
	u32 probe;
	u64 fresh;
	u64 kept;
};

void nc_pipe_init(struct nc_pipe *p);
void nc_pipe_begin(struct nc_pipe *p, u64 now);
void nc_pipe_sent(struct nc_pipe *p, u64 flying);
u64 nc_pipe_size(const struct nc_pipe *p);
void nc_pipe_see_read(struct nc_pipe *p, u64 now, u64 took, u32 bytes, u64 flying, u64 most);

#endif /* NEARCACHE_PREFETCH_PIPE_H */
