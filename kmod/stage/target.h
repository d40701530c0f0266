/* SPDX-License-Identifier: GPL-2.0-only */
/* The dm target "nearcache-stage", and the listener of its events (status.c). */
#ifndef NEARCACHE_STAGE_TARGET_H
#define NEARCACHE_STAGE_TARGET_H

#include "nearcache.h"

struct nc_stage;

/* Called for each netlink event; @s is not freed meanwhile.  May sleep, must not do I/O or wait for
 * memory.
 */
typedef void nc_stage_listener(struct nc_stage *s, enum nearcache_event event);

int nc_stage_register(void);
void nc_stage_unregister(void);
void nc_stage_listen(nc_stage_listener *listener);

#endif /* NEARCACHE_STAGE_TARGET_H */
