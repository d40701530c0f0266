/* SPDX-License-Identifier: GPL-2.0-only */
/* The dm target "nearcache-stage". */
#ifndef NEARCACHE_STAGE_TARGET_H
#define NEARCACHE_STAGE_TARGET_H

int nc_stage_register(void);
void nc_stage_unregister(void);

#endif /* NEARCACHE_STAGE_TARGET_H */
