// SPDX-License-Identifier: GPL-2.0-only
/* Clock of the eviction policy: adds up the bytes that the CPUs have counted. */
#include "core/policy_clock.h"

/* Move the bytes that this CPU has counted into the policy's clock, and advance nc_hot.now. */
void nc_clock_flush(struct nc_cache *c)
{
	u64 held = this_cpu_xchg(c->hot.counters->clock_bytes, 0);
	u32 now = (u32)div64_u64(atomic64_add_return(held, &c->policy.clock), c->hot.tick_bytes);
	/* Never decrease the tick: another CPU may have stored a later one. */
	u32 old = READ_ONCE(c->hot.now);

	while ((s32)(now - old) > 0 && !try_cmpxchg(&c->hot.now, &old, now))
		;
}
