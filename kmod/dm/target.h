/* SPDX-License-Identifier: GPL-2.0-only */
/* Registration of the dm target "nearcache". */
#ifndef NEARCACHE_DM_TARGET_H
#define NEARCACHE_DM_TARGET_H

int nc_target_register(void);
void nc_target_unregister(void);

#endif /* NEARCACHE_DM_TARGET_H */
