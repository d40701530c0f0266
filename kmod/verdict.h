/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of a piece of a read; values are part of the trace interface. */
#ifndef NEARCACHE_VERDICT_H
#define NEARCACHE_VERDICT_H

enum nc_verdict {
	NC_VERDICT_HIT			= 0,
	NC_VERDICT_MISS			= 1,
	NC_VERDICT_JOIN			= 2,
	NC_VERDICT_BYPASS_FULL		= 3,
	NC_VERDICT_BYPASS_MEMORY	= 4,
	NC_VERDICT_BYPASS_UNALIGNED	= 5,
	NC_VERDICT_BYPASS_STATE		= 6,
	NC_VERDICT_BYPASS_RETRY		= 7,
	NC_VERDICT_BYPASS_P2P		= 8,
};

#endif /* NEARCACHE_VERDICT_H */
