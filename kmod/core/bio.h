/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known about a bio while it is under way. */
#ifndef NEARCACHE_CORE_BIO_H
#define NEARCACHE_CORE_BIO_H

#include <linux/bio.h>
#include <linux/workqueue.h>

#include "core/write_range.h"
#include "nearcache_trace.h"

struct nc_target;

enum nc_io_kind {
	NC_IO_ORIGIN,	/* goes to the origin, or is in a fill's hands */
	NC_IO_PLAIN,	/* a hit, holds nc_cache.holds, of which nothing is left but to count it */
	NC_IO_HIT,	/* another one, on its way to the cache device, holds it, too */
	NC_IO_BYPASS,	/* read that goes to the origin, uncached */
	NC_IO_WRITE,	/* changes the origin, is in nc_cache.inflight */
	NC_IO_FLUSH,
};

/**
 * struct nc_io - per-bio data
 * @kind: enum nc_io_kind
 * @failed_hit: the cache device failed the read
 * @waits: the origin failed the read, and it waits for another answer
 * @observed: @begun, @seen and @timed are set
 * @partial: of a hit that may be checked: its block lacks what comes behind it
 * @timed: nearcache_latency is to tell of it
 * @told: a classifier was asked about the piece at hand
 * @refused: and keeps it out of the cache
 * @target: table line, once a read is resubmitted
 * @counter: enum nearcache_counter of the reason, for NC_IO_BYPASS
 * @slot: of a hit
 * @hold: of nc_cache.holds, of a hit
 * @flags: bio flags as a read came
 * @label: of a hit: of the slot's tag
 * @since: jiffies when it began to wait
 * @iter: a read as it came, to ask the origin when the cache device fails
 * @work: checks what a hit brought
 * @range: for NC_IO_WRITE: its sectors
 * @begun: nanoseconds when it had its first verdict
 * @seen: of whom, and its last verdict
 */
struct nc_io {
	struct_group(state,	/* a read begins with one store to all of them */
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
