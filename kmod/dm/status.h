/* SPDX-License-Identifier: GPL-2.0-only */
/* The status line of a table. */
#ifndef NEARCACHE_DM_STATUS_H
#define NEARCACHE_DM_STATUS_H

#include <linux/types.h>

#include "nearcache_counters.h"

struct nc_target;

u64 nc_status_field(struct nc_target *t, enum nearcache_status_field which);
size_t nc_status_print(struct nc_target *t, char *result, size_t room);

#endif /* NEARCACHE_DM_STATUS_H */
