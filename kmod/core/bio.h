/* SPDX-License-Identifier: GPL-2.0-only */
/* Per-bio data of a bio in flight. */
#ifndef NEARCACHE_CORE_BIO_H
#define NEARCACHE_CORE_BIO_H

#include <linux/bio.h>
#include <linux/workqueue.h>

#include "core/write_range.h"
#include "nearcache_trace.h"

struct nc_target;

enum nc_io_kind {
	NC_IO_ORIGIN,	/* at the origin, or owned by a fill */
	NC_IO_PLAIN,	/* a fast-path hit, in a hit section; the completion only counts it */
	NC_IO_HIT,	/* any other hit, sent to the cache device, in a hit section */
	NC_IO_BYPASS,	/* a read sent to the origin, uncached */
	NC_IO_WRITE,	/* changes the origin; its sectors are in nc_cache.inflight */
	NC_IO_FLUSH,
};

/**
 * struct nc_io - per-bio data
 * @kind: enum nc_io_kind
 * @failed_hit: the cache device failed the read
 * @waits: the origin failed the read, and the read waits to be sent again
 * @observed: @begun, @seen and @timed are set
 * @partial: hit that may be verified: the sub-blocks of its block behind it are missing
 * @timed: emit the nearcache_latency event on completion
 * @told: the classifier was asked about the current piece
 * @refused: the classifier keeps the piece out of the cache
 * @target: table line, set when a read is submitted again
 * @counter: enum nearcache_counter of the reason, for NC_IO_BYPASS
 * @slot: slot of a hit
 * @hold: phase of a hit's section, from nc_holds_take()
 * @flags: bi_flags of the read at map
 * @label: label of a hit, from the slot's tag
 * @since: jiffies when it began to wait
 * @iter: bi_iter of the read at map, to ask the origin if the cache device fails
 * @work: verifies the data of a hit
 * @range: sectors of a NC_IO_WRITE
 * @begun: time of the first verdict, nanoseconds
 * @seen: issuer and last verdict, for the trace events
 */
struct nc_io {
	struct_group(state,	/* a read starts with one store to all of them */
		u8 kind;
		bool failed_hit;
		bool waits;
		bool observed;
		bool partial;
		bool timed;
		bool told;
		bool refused;
	);
	struct nc_target *target;
	u8 counter;
	int hold;
	u32 slot;
	unsigned short flags;
	u16 label;
	unsigned long since;
	union {
		struct {
			struct bvec_iter iter;
			struct work_struct work;
		};
		struct nc_range range;
	};
	u64 begun;
	struct nearcache_io seen;
};

#endif /* NEARCACHE_CORE_BIO_H */
