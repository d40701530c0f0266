/* SPDX-License-Identifier: GPL-2.0-only */
/* Registration of the dm target "nearcache-peers". */
#ifndef NEARCACHE_CLUSTER_TARGET_H
#define NEARCACHE_CLUSTER_TARGET_H

int nc_cluster_register(void);
void nc_cluster_unregister(void);

#endif /* NEARCACHE_CLUSTER_TARGET_H */
