/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes: small reads that show whether the cache device answers. */
#ifndef NEARCACHE_CORE_PROBE_H
#define NEARCACHE_CORE_PROBE_H

#include <linux/types.h>

struct nc_cache;
struct nc_probe;

int nc_probes_alloc(struct nc_cache *c);
void nc_probes_free(struct nc_cache *c);
void nc_probes_look(struct nc_cache *c, bool wanted);
bool nc_probes_wait(const struct nc_cache *c, u32 looks);
void nc_probes_stop(struct nc_cache *c);

#endif /* NEARCACHE_CORE_PROBE_H */
