/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may use which cache device. */
#ifndef NEARCACHE_REGISTRY_H
#define NEARCACHE_REGISTRY_H

struct nc_cache;
struct nc_target;

struct nc_cache *nc_registry_get(struct nc_target *t);
void nc_registry_put(struct nc_cache *c, struct nc_target *t);
bool nc_registry_untold(const struct nc_cache *c);

#endif /* NEARCACHE_REGISTRY_H */
