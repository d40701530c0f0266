/* SPDX-License-Identifier: GPL-2.0-only */
/* Registration of the dm target "nearcache-map". */
#ifndef NEARCACHE_CLUSTER_MAP_H
#define NEARCACHE_CLUSTER_MAP_H

int nc_map_register(void);
void nc_map_unregister(void);

#endif /* NEARCACHE_CLUSTER_MAP_H */
