/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Export of the map of a cache: the second namespace of the subsystem. An export without it works.
 * Functions return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_EXPORT_MAP_H
#define HELPER_CLUSTER_EXPORT_MAP_H

#include "cluster/configfs.h"
#include "cluster/export.h"

int export_map_apply(const struct export *export, struct configfs_edit **edits);
int export_map_disable(const char *subsystem, struct configfs_edit **edits);
int export_map_remove(const char *subsystem, struct configfs_edit **edits);

#endif /* HELPER_CLUSTER_EXPORT_MAP_H */
