/* SPDX-License-Identifier: GPL-2.0-only */
/* The pipe to the origin: how many bytes of jobs may be in flight. */
#ifndef NEARCACHE_PREFETCH_PIPE_H
#define NEARCACHE_PREFETCH_PIPE_H

#include <linux/types.h>

/**
 * struct nc_pipe - the amount in flight, and what it follows from
 * @window: limit of the bytes in flight
 * @least: minimum of the latency of reads, nanoseconds; 0: no read has ended
 * @least_at: time of the latest read that took no longer, ktime in ns
 * @delay: smoothed latency in excess of @least, nanoseconds
 * @round: time when the present round began, ktime in ns.  A round ends with the first read that
 *	was sent in it: so it takes as long as a read
 * @arrived: bytes that arrived in the present round
 * @rate: bytes per second that arrived in the round before
 * @full: a window was found that fills the pipe
 * @fitted: time when @window was last made smaller, ktime in ns
 * @drain: number of rounds until the drained pipe is filled again; 0: it is not drained
 * @fresh: minimum of the latency since the drain began; 0: no read that was sent since then has
 *	ended
 * @kept: @window before the drain
 *
 * Protected by the caller.
 */
struct nc_pipe {
	u64 window;
	u64 least;
	u64 least_at;
	u64 delay;
	u64 round;
	u64 arrived;
	u64 rate;
	bool full;
	u64 fitted;
	u32 drain;
	u64 fresh;
	u64 kept;
};

void nc_pipe_init(struct nc_pipe *p);
void nc_pipe_see_read(struct nc_pipe *p, u64 now, u64 took, u32 bytes, u64 flying, u64 most);

#endif /* NEARCACHE_PREFETCH_PIPE_H */
