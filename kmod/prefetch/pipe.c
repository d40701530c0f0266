// SPDX-License-Identifier: GPL-2.0-only
/*
 * The window of bytes that jobs have in flight, while no other reader uses the origin.  It holds
 * the data that arrives within the origin's own latency, so that the pipe is full, and within
 * DELAY_MAX on top, for origins that pass their bandwidth in time slices.  A reader that arrives
 * waits once behind these bytes.
 *
 * Latency above the minimum is queueing, so the pipe is full when reads begin to queue.  At first
 * the window grows by what arrives, which doubles it in each round.  Once the pipe is full, the
 * window becomes what the rate and the latency say.  Later it changes by small steps.
 *
 * A full pipe hides the origin's own latency, which may change.  So once in LEAST_TIME the window
 * is less than the pipe for two rounds, unless a read has just shown the minimum.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "prefetch/pipe.h"

/* Most nanoseconds of queueing, on top of the origin's own latency. */
#define DELAY_MAX	(80 * (u64)NSEC_PER_MSEC)
/* The pipe is full when reads queue for so long, ns; it takes a round to see it. */
#define DELAY_FULL	(DELAY_MAX / 4)
/* Initial and smallest window, bytes. */
#define WINDOW_FIRST	(8U << 20)
#define WINDOW_MIN	(2U << 20)
/* Growth of the window per read, once the pipe is full, bytes. */
#define WINDOW_STEP	(64U << 10)
/* Weight of a read in nc_pipe.delay: 1/32, and 1/8 until the pipe is full. */
#define SMOOTH		5
#define SMOOTH_FIRST	3
/* Time after which the minimum is measured again, ns. */
#define LEAST_TIME	(10 * (u64)NSEC_PER_SEC)
/* Rounds of a drain: in the first one the queue gets empty. */
#define DRAIN_ROUNDS	2U

void nc_pipe_init(struct nc_pipe *p)
{
	*p = (struct nc_pipe){ .window = WINDOW_FIRST };
}

/* The bytes per second that have arrived in the present round. */
static u64 pipe_rate(const struct nc_pipe *p, u64 now)
{
	return mul_u64_u64_div_u64(p->arrived, NSEC_PER_SEC, max(now - p->round, 1ULL));
}

/* Account a read that was sent at @sent.  Return: does it end the present round?  It does if it was
 * sent in it.
 */
static bool count_arrival(struct nc_pipe *p, u64 now, u64 sent, u32 bytes)
{
	p->arrived += bytes;
	if (p->round && (s64)(sent - p->round) < 0)
		return false;
	if (p->round && !p->drain)
		p->rate = pipe_rate(p, now);
	p->round = now;
	p->arrived = 0;
	return true;
}

/* Note how long a read took.  Return: the minimum must be measured again. */
static bool note_least(struct nc_pipe *p, u64 now, u64 took, bool used)
{
	bool old = now - p->least_at > LEAST_TIME;

	/* While the window is not used, reads do not queue. */
	if (!p->least || took <= p->least || (old && !used)) {
		p->least = took;
		p->least_at = now;
		return false;
	}
	return old;
}

/* Set the window to three quarters of what the pipe holds. */
static void begin_drain(struct nc_pipe *p, u64 now)
{
	u64 holds = mul_u64_u64_div_u64(p->rate, p->least, NSEC_PER_SEC);

	p->drain = DRAIN_ROUNDS;
	p->fresh = 0;
	p->kept = p->window;
	p->window = min(holds - holds / 4, p->window);
	p->round = now;
	p->arrived = 0;
}

/* Fill the pipe again, and believe the latency that reads had meanwhile. */
static void end_drain(struct nc_pipe *p, u64 now)
{
	p->window = p->kept;
	p->least = p->fresh;
	p->least_at = now;
}

/* A read ended in a drained pipe. */
static void see_drained(struct nc_pipe *p, u64 now, u64 took, u32 bytes)
{
	bool over = count_arrival(p, now, now - took, bytes);

	if (over || p->fresh)
		p->fresh = p->fresh ? min(p->fresh, took) : took;
	if (over && !--p->drain)
		end_drain(p, now);
}

/* Reads queue: set the window to what arrives within the latency and half of DELAY_MAX. */
static void fit_window(struct nc_pipe *p, u64 now)
{
	u64 rate = max(p->rate, pipe_rate(p, now));
	u64 holds = mul_u64_u64_div_u64(rate, p->least + DELAY_MAX / 2, NSEC_PER_SEC);

	p->full = true;
	p->fitted = now;
	p->window = clamp(holds, (u64)WINDOW_MIN, p->window);
}

/* Change a window that fills the pipe.  @sent: time when the read was sent. */
static void keep_full(struct nc_pipe *p, u64 now, u64 sent, bool used, u64 most)
{
	/* Reads that were sent with an old window say nothing about the present one. */
	if (p->delay > DELAY_MAX && (s64)(sent - p->fitted) >= 0)
		fit_window(p, now);
	else if (p->delay <= DELAY_MAX && used)
		p->window = min(p->window + WINDOW_STEP, most);
}

/**
 * nc_pipe_see_read() - adjust the window after a job's read of the origin
 * @p: pipe
 * @now: time, ktime in ns
 * @took: latency of the read, ns
 * @bytes: length of the read
 * @flying: bytes in flight, with this read
 * @most: largest window that memory allows, bytes
 */
void nc_pipe_see_read(struct nc_pipe *p, u64 now, u64 took, u32 bytes, u64 flying, u64 most)
{
	/* A window that is not used says nothing about a larger one. */
	bool used = flying + p->window / 4 > p->window;

	if (p->drain) {
		see_drained(p, now, took, bytes);
		return;
	}
	if (note_least(p, now, took, used) && p->full) {
		begin_drain(p, now);
		return;
	}
	p->delay += (s64)(took - p->least - p->delay) >> (p->full ? SMOOTH : SMOOTH_FIRST);
	count_arrival(p, now, now - took, bytes);
	if (p->full)
		keep_full(p, now, now - took, used, most);
	else if (p->delay > DELAY_FULL)
		fit_window(p, now);
	else if (used)
		p->window = min(p->window + bytes, most);
}
