// SPDX-License-Identifier: GPL-2.0-only
/*
 * The window limits the bytes that jobs have in flight while no other reader uses the origin.  It
 * is the data that arrives within the origin's own latency, which fills the pipe, plus that of
 * DELAY_MAX, for origins that pass their bandwidth in time slices.  The first read of a new reader
 * waits behind these bytes.
 *
 * Latency above the minimum is queueing.  Without it the pipe is not full, and the window grows by
 * the bytes that arrive, so each round doubles it.  When reads queue, it is set to the rate times
 * (minimum + DELAY_MAX / 2).  Then it grows by WINDOW_STEP per read, and is set anew when reads
 * queue for DELAY_MAX.
 *
 * A full pipe hides a change of the minimum.  The pipe measures it again in two cases: no read has
 * reached the minimum for LEAST_TIME; or reads still queue for DELAY_MAX after the window was set,
 * at most once in LEAST_TIME.  Then the window is lowered for PROBE_ROUNDS rounds.  After the first
 * one, a read that takes less than the minimum + DELAY_FULL / 2 ends this early.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "prefetch/pipe.h"

/* Most nanoseconds of queueing, on top of the origin's own latency. */
#define DELAY_MAX	(80 * (u64)NSEC_PER_MSEC)
/* The pipe counts as full when reads queue for this time, ns, which is seen a round late; and no
 * longer when they queue for half of it.
 */
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
/* Rounds with a lowered window; the first one empties the queue. */
#define PROBE_ROUNDS	2U
/* If no job's read has ended for this time, jobs have paused; ns. */
#define PAUSE		((u64)NSEC_PER_SEC)

void nc_pipe_init(struct nc_pipe *p)
{
	*p = (struct nc_pipe){ .window = WINDOW_FIRST };
}

/* The bytes per second that have arrived in the present round. */
static u64 pipe_rate(const struct nc_pipe *p, u64 now)
{
	return mul_u64_u64_div_u64(p->arrived, NSEC_PER_SEC, max(now - p->round, 1ULL));
}

/* Account a read that was sent at @sent.  Return: true if it is the first one that was sent in the
 * present round, which it ends.
 */
static bool count_arrival(struct nc_pipe *p, u64 now, u64 sent, u32 bytes)
{
	p->arrived += bytes;
	if (p->round && (s64)(sent - p->round) < 0)
		return false;
	if (p->round && !p->probe)
		p->rate = pipe_rate(p, now);
	p->round = now;
	p->arrived = 0;
	return true;
}

/* Update the minimum.  Return: true if it is too old and must be measured again. */
static bool note_least(struct nc_pipe *p, u64 now, u64 took, bool used)
{
	bool old = now - p->least_at > LEAST_TIME;

	/* If the window is not used, reads do not queue: @took is the origin's own latency. */
	if (!p->least || took <= p->least || (old && !used)) {
		p->least = took;
		p->least_at = now;
		return false;
	}
	return old;
}

/* Lower the window to half of the rate times the minimum, so that the queue empties. */
static void begin_latency_probe(struct nc_pipe *p, u64 now)
{
	u64 holds = mul_u64_u64_div_u64(p->rate, p->least, NSEC_PER_SEC);

	p->probe = PROBE_ROUNDS;
	p->fresh = 0;
	p->kept = p->window;
	p->window = min(holds / 2, p->window);
	p->round = now;
	p->arrived = 0;
}

/* Restore the window, and take the shortest latency meanwhile as the minimum.  If it is much
 * longer than before, the window may be far too small: let it double.
 */
static void end_latency_probe(struct nc_pipe *p, u64 now)
{
	p->delay = p->fresh < p->least + DELAY_FULL ? DELAY_FULL : 0;
	p->window = p->kept;
	p->least = p->fresh;
	p->least_at = now;
	p->probed = now;
	p->fits = 0;
}

/* Account a read that ends while the window is lowered. */
static void see_probe(struct nc_pipe *p, u64 now, u64 took, u32 bytes)
{
	bool over = count_arrival(p, now, now - took, bytes);

	if (over || p->fresh)
		p->fresh = p->fresh ? min(p->fresh, took) : took;
	if (over)
		p->probe--;
	/* The queue is empty, and the minimum has hardly changed: end the probe early. */
	if (p->fresh && p->fresh < p->least + DELAY_FULL / 2)
		p->probe = 0;
	if (!p->probe)
		end_latency_probe(p, now);
}

/* Lower the window to the bytes that arrive within the minimum plus half of DELAY_MAX; at most by
 * half, as the origin may just have stalled.
 */
static void fit_window(struct nc_pipe *p, u64 now)
{
	u64 rate = max(p->rate, pipe_rate(p, now));
	u64 holds = mul_u64_u64_div_u64(rate, p->least + DELAY_MAX / 2, NSEC_PER_SEC);

	p->full = true;
	p->fitted = now;
	p->fits++;
	p->window = min(max3(holds, p->window / 2, (u64)WINDOW_MIN), p->window);
}

/* Change a window that fills the pipe.  @sent: time when the read was sent. */
static void keep_full(struct nc_pipe *p, u64 now, u64 sent, bool used, u64 most)
{
	if (p->delay <= DELAY_MAX) {
		if (used)
			p->window = min(p->window + WINDOW_STEP, most);
		if (p->delay <= DELAY_MAX / 4 * 3)
			p->fits = 0;
		p->full = p->delay > DELAY_FULL / 2;
		return;
	}
	/* If the window is not used, reads queue behind those of others.  Reads that were sent with
	 * an old window say nothing about the present one.
	 */
	if (!used || (s64)(sent - p->fitted) < 0)
		return;
	if (p->fits > 1 && (!p->probed || now - p->probed > LEAST_TIME))
		begin_latency_probe(p, now);
	else
		fit_window(p, now);
}

/* Return the limit of the bytes in flight; while the window is lowered, the one to restore. */
u64 nc_pipe_size(const struct nc_pipe *p)
{
	return p->probe ? p->kept : p->window;
}

/* Call this when jobs send a read while none of theirs is in flight.  @now: ktime in ns.
 *
 * Forget a minimum that is older than LEAST_TIME.  If no read has succeeded for PAUSE, end a
 * latency probe, and assume that nothing queues; the window and the rate keep their values.
 */
void nc_pipe_begin(struct nc_pipe *p, u64 now)
{
	if (now - p->least_at > LEAST_TIME)
		p->least = 0;
	if (now - p->ended <= PAUSE)
		return;
	p->window = nc_pipe_size(p);
	p->probe = 0;
	p->round = 0;
	p->arrived = 0;
	p->peak = 0;
	p->full = false;
	p->delay = 0;
	p->fits = 0;
}

/* Jobs have sent a read; now they are reading @flying bytes. */
void nc_pipe_sent(struct nc_pipe *p, u64 flying)
{
	p->peak = max(p->peak, flying);
}

/**
 * nc_pipe_see_read() - adjust the window after a job's read of the origin succeeded
 * @p: pipe
 * @now: time, ktime in ns
 * @took: latency of the read, ns
 * @bytes: length of the read
 * @flying: bytes that jobs are reading, including this read
 * @most: largest window that memory allows, bytes
 */
void nc_pipe_see_read(struct nc_pipe *p, u64 now, u64 took, u32 bytes, u64 flying, u64 most)
{
	/* Only a used window may grow.  Many reads may end before the next ones are sent. */
	bool used = p->peak + p->window / 4 > p->window;

	p->ended = now;
	if (p->probe) {
		see_probe(p, now, took, bytes);
		return;
	}
	if (note_least(p, now, took, used) && p->full) {
		begin_latency_probe(p, now);
		return;
	}
	p->delay += (s64)(took - p->least - p->delay) >> (p->full ? SMOOTH : SMOOTH_FIRST);
	if (count_arrival(p, now, now - took, bytes))
		p->peak = flying;
	if (p->full)
		keep_full(p, now, now - took, used, most);
	/* While the window doubles, reads come in bursts, which queue. */
	else if (p->delay > DELAY_FULL + p->least / 4)
		fit_window(p, now);
	else if (used)
		p->window = min(p->window + bytes, most);
}
