/* SPDX-License-Identifier: GPL-2.0-only */
/* The policy's clock: bytes read through the device, in ticks. */
#ifndef NEARCACHE_CORE_CLOCK_H
#define NEARCACHE_CORE_CLOCK_H

#include "cache.h"

void nc_clock_flush(struct nc_cache *c);

/* Count bytes that are read through the device.  Each CPU holds a portion back, so that few reads
 * write the shared counter.
 */
static __always_inline void nc_clock_add(struct nc_cache *c, u32 bytes)
{
	if (unlikely(this_cpu_add_return(c->hot.counters->clock_bytes, bytes) >
		     c->hot.clock_portion))
		nc_clock_flush(c);
}

#endif /* NEARCACHE_CORE_CLOCK_H */
