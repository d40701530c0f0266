/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who listens is told of each piece of a read or write: what becomes of it, and when it is over.
 * When nobody does, this is a few instructions that are patched out.
 */
#ifndef NEARCACHE_IO_OBSERVE_H
#define NEARCACHE_IO_OBSERVE_H

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
 * nc_observe() - tell what becomes of a piece
 * @c: live cache
 * @bio: dm's clone, cut to the piece, as it came
 * @verdict: that
 *
 * Before @bio is handed on: then it may be over at any moment.
 *
 * Context: any, but for interrupts.
 */
static inline void nc_observe(struct nc_cache *c, struct bio *bio,
			      enum nearcache_verdict verdict)
{
	bool timed = tracepoint_enabled(nearcache_latency) && nc_observe_is_timed(c, verdict);

	if (timed || tracepoint_enabled(nearcache_access) || tracepoint_enabled(nearcache_done))
		nc_observe_verdict(c, bio, verdict, timed);
}

/**
 * nc_observe_done() - tell that a piece is over
 * @bio: dm's clone
 * @io: what is known about it
 * @error: its status
 *
 * Context: any, interrupts too.
 */
static inline void nc_observe_done(struct bio *bio, struct nc_io *io, blk_status_t error)
{
	if ((tracepoint_enabled(nearcache_done) || tracepoint_enabled(nearcache_latency)) &&
	    io->observed)
		nc_observe_over(bio, io, error);
}

#endif /* NEARCACHE_IO_OBSERVE_H */
