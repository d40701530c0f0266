/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that every node computes by itself, from the configuration and from its own cache: NQNs,
 * host ids, and the UUIDs by which nodes recognise the volume. All UUIDs are of version 5.
 */
#ifndef HELPER_CLUSTER_NODE_NAMES_H
#define HELPER_CLUSTER_NODE_NAMES_H

#include "nearcache_format.h"

#define CLUSTER_NQN_SIZE	96
/* Size of a UUID as text, with NUL. */
#define CLUSTER_UUID_TEXT	37

void cluster_subsystem_nqn(const char *cluster, const char *node, char *nqn);
void cluster_host_names(const char *cluster, const char *node, const char *volume, char *nqn,
			char *id);
void cluster_volume_uuid(const struct nearcache_super *sb, char *uuid);
void cluster_namespace_uuid(const char *volume, const char *node, char *uuid);
void cluster_map_uuid(const char *namespace, char *uuid);

#endif /* HELPER_CLUSTER_NODE_NAMES_H */
