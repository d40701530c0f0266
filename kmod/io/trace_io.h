/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events for each piece of a read or write: its verdict and its completion.  With no
 * event enabled this costs a few static branches.
 */
#ifndef NEARCACHE_IO_TRACE_IO_H
#define NEARCACHE_IO_TRACE_IO_H

#include <linux/bio.h>
#include <linux/tracepoint-defs.h>

#include "core/bio.h"
#include "nearcache_trace.h"

DECLARE_TRACEPOINT(nearcache_access);
DECLARE_TRACEPOINT(nearcache_done);
DECLARE_TRACEPOINT(nearcache_latency);

struct nc_cache;

u64 nc_observe_cgroup(struct bio *bio);
void nc_observe_see(struct nc_cache *c, struct bio *bio, struct nearcache_io *seen);
bool nc_observe_is_timed(struct nc_cache *c, enum nearcache_verdict verdict);
void nc_observe_verdict(struct nc_cache *c, struct bio *bio, enum nearcache_verdict verdict,
			bool timed);
void nc_observe_over(struct bio *bio, struct nc_io *io, blk_status_t error);

/**
 * nc_observe() - report the verdict of a piece
 * @c: live cache
 * @bio: dm's clone, cut to the piece, not yet remapped
 * @verdict: fate of the piece
 *
 * Call this before another party gets @bio, which may then complete at any moment.
 *
 * Context: any except interrupts.
 */
static inline void nc_observe(struct nc_cache *c, struct bio *bio,
			      enum nearcache_verdict verdict)
{
	bool timed = tracepoint_enabled(nearcache_latency) && nc_observe_is_timed(c, verdict);

	if (timed || tracepoint_enabled(nearcache_access) || tracepoint_enabled(nearcache_done))
		nc_observe_verdict(c, bio, verdict, timed);
}

/* Report the end of a piece.  Context: any, also interrupts. */
static inline void nc_observe_done(struct bio *bio, struct nc_io *io, blk_status_t error)
{
	if ((tracepoint_enabled(nearcache_done) || tracepoint_enabled(nearcache_latency)) &&
	    io->observed)
		nc_observe_over(bio, io, error);
}

#endif /* NEARCACHE_IO_TRACE_IO_H */
