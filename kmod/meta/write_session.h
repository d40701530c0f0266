/* SPDX-License-Identifier: GPL-2.0-only */
/* Write sessions: numbered, so that a load after a crash knows which data to trust. */
#ifndef NEARCACHE_META_WRITE_SESSION_H
#define NEARCACHE_META_WRITE_SESSION_H

#include <linux/types.h>

struct nc_cache;

const char *nc_session_load(struct nc_cache *c);
u64 nc_session_written(const struct nc_cache *c, u64 block);
int nc_session_is_older(struct nc_cache *c);
bool nc_session_moved(struct nc_cache *c);
void nc_session_catch_up(struct nc_cache *c);
int nc_session_begin(struct nc_cache *c);
int nc_session_begun(struct nc_cache *c);
bool nc_session_number(struct nc_cache *c);
void nc_session_tell(struct nc_cache *c, u32 state);

#endif /* NEARCACHE_META_WRITE_SESSION_H */
