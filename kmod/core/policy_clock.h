/* SPDX-License-Identifier: GPL-2.0-only */
/* Clock of the eviction policy: bytes read through the dm device, in ticks (nc_hot.now). */
#ifndef NEARCACHE_CORE_POLICY_CLOCK_H
#define NEARCACHE_CORE_POLICY_CLOCK_H

#include "cache.h"

void nc_clock_flush(struct nc_cache *c);

/* Count bytes that are read through the device.  Each CPU holds up to nc_hot.clock_portion bytes
 * back, so that few reads write the shared counter.
 */
static __always_inline void nc_clock_add(struct nc_cache *c, u32 bytes)
{
	if (unlikely(this_cpu_add_return(c->hot.counters->clock_bytes, bytes) >
		     c->hot.clock_portion))
		nc_clock_flush(c);
}

#endif /* NEARCACHE_CORE_POLICY_CLOCK_H */
