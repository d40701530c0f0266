/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may use which cache device. */
#ifndef NEARCACHE_REGISTRY_H
#define NEARCACHE_REGISTRY_H

#include <linux/types.h>

struct nc_cache;
struct nc_target;

/**
 * struct nc_known - numbers that a medium was seen to have
 * @super: sequence of its superblock
 * @commit: sequence of its last commit record
 * @flush_owed: see struct nc_cache; of the caches before
 *
 * One that has less is a copy, or lost what it acknowledged.
 */
struct nc_known {
	u64 super;
	u64 commit;
	bool flush_owed;
};

struct nc_cache *nc_registry_get(struct nc_target *t);
void nc_registry_put(struct nc_cache *c, struct nc_target *t);
bool nc_registry_known(const struct nc_cache *c, struct nc_known *known);

#endif /* NEARCACHE_REGISTRY_H */
