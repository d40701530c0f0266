/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of a cache with several devices.  Member 0 has all metadata, and the rest of the
 * module treats it like the only cache device of other caches.  This file manages the other
 * members.
 */
#ifndef NEARCACHE_META_MEMBERS_H
#define NEARCACHE_META_MEMBERS_H

#include "core/members.h"
#include "meta/superblock.h"

int nc_members_new(struct nc_cache *c, const struct nc_target *t);
int nc_members_open(struct nc_cache *c, struct nc_target *t);
void nc_members_free(struct nc_cache *c);
bool nc_members_same(const struct nc_cache *c, const struct nc_target *t);
bool nc_members_gone(const struct nc_cache *c);
int nc_members_reread(struct nc_cache *c);
void nc_members_unread(struct nc_cache *c);
int nc_members_confirm(const struct nc_cache *c);
bool nc_members_emptied(const struct nc_cache *c);
bool nc_members_differ(struct nc_cache *c);
u64 nc_members_epoch(const struct nc_cache *c);
u64 nc_members_begun(const struct nc_cache *c);
int nc_members_go(struct nc_cache *c, bool active);
void nc_members_stop(struct nc_cache *c);
int nc_members_settle(struct nc_cache *c);
int nc_members_announce(struct nc_cache *c, bool over);
int nc_members_catch_up(struct nc_cache *c);
int nc_members_flush(struct nc_cache *c);

#endif /* NEARCACHE_META_MEMBERS_H */
