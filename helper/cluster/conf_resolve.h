/* SPDX-License-Identifier: GPL-2.0-only */
/* The addresses of the nodes of a configuration, and which of the nodes is the local one. */
#ifndef HELPER_CLUSTER_CONF_RESOLVE_H
#define HELPER_CLUSTER_CONF_RESOLVE_H

#include "cluster/conf.h"

int cluster_conf_resolve(struct cluster_conf *conf, const char *self,
			 const struct known_addresses *known);

#endif /* HELPER_CLUSTER_CONF_RESOLVE_H */
