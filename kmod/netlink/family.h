/* SPDX-License-Identifier: GPL-2.0-only */
/* Registration and events of the generic netlink family, see uapi/nearcache.yaml. */
#ifndef NEARCACHE_NETLINK_FAMILY_H
#define NEARCACHE_NETLINK_FAMILY_H

#include "nearcache.h"

struct nc_stage;
struct nc_target;

int nc_netlink_register(void);
void nc_netlink_unregister(void);
void nc_netlink_event(struct nc_target *t, enum nearcache_event event);
void nc_netlink_stage_event(struct nc_stage *s, enum nearcache_event event);

#endif /* NEARCACHE_NETLINK_FAMILY_H */
