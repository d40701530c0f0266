/* SPDX-License-Identifier: GPL-2.0-only */
/* Registry: ownership of cache devices. */
#ifndef NEARCACHE_DM_REGISTRY_H
#define NEARCACHE_DM_REGISTRY_H

#include <linux/types.h>

struct nc_cache;
struct nc_target;

/**
 * struct nc_known - lowest acceptable state of a medium
 * @super: sequence of its superblock
 * @commit: sequence of its last commit record
 * @flush_owed: inherited from earlier caches, see struct nc_cache
 *
 * A medium with lower sequences is a copy, or has lost acknowledged writes.
 */
struct nc_known {
	u64 super;
	u64 commit;
	bool flush_owed;
};

typedef int nc_registry_visit(struct nc_cache *c, struct nc_target *t, void *arg);

struct nc_cache *nc_registry_get(struct nc_target *t);
void nc_registry_put(struct nc_cache *c, struct nc_target *t);
struct nc_cache *nc_registry_before(const struct nc_cache *c);
bool nc_registry_known(const struct nc_cache *c, struct nc_known *known);
int nc_registry_each(nc_registry_visit *visit, void *arg);
void nc_registry_changed(void);
unsigned int nc_registry_changes(void);
void nc_registry_hold(struct nc_cache *c);
void nc_registry_release(struct nc_cache *c);

#endif /* NEARCACHE_DM_REGISTRY_H */
