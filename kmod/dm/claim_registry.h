/* SPDX-License-Identifier: GPL-2.0-only */
/* The registry: the list of all caches, and which dm device owns which cache device. */
#ifndef NEARCACHE_DM_CLAIM_REGISTRY_H
#define NEARCACHE_DM_CLAIM_REGISTRY_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>

struct nc_cache;
struct nc_target;

/**
 * struct nc_registration - the registry's part of a cache
 * @list: entry in the registry
 * @targets: dm tables that use the cache
 * @refs: number of tables in @targets
 * @writers: number of tables in @targets with a writing mode
 * @users: number of holders without a table, see nc_registry_hold()
 * @asleep: entry in a list of system_sleep.c, which holds the cache; no lock: one list at a time
 * @ready: the superblock was found valid; before that, the entry only reserves the cache device
 *
 * The registry's mutex protects all members except @users.  Visits read @list, @targets and @ready
 * without the mutex, under SRCU.
 */
struct nc_registration {
	struct list_head list;
	struct list_head targets;
	unsigned int refs;
	unsigned int writers;
	atomic_t users;
	struct list_head asleep;
	bool ready;
};

typedef int nc_registry_visit(struct nc_cache *c, struct nc_target *t, void *arg);

struct nc_cache *nc_registry_get(struct nc_target *t);
void nc_registry_put(struct nc_cache *c, struct nc_target *t);
int nc_registry_activate(struct nc_target *t);
int nc_registry_each(dev_t after, nc_registry_visit *visit, void *arg);
void nc_registry_changed(void);
unsigned int nc_registry_changes(void);
void nc_registry_hold(struct nc_cache *c);
void nc_registry_release(struct nc_cache *c);

#endif /* NEARCACHE_DM_CLAIM_REGISTRY_H */
