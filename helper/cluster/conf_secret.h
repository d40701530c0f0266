/* SPDX-License-Identifier: GPL-2.0-only */
/* The secret of a cluster, in the file that its configuration names. */
#ifndef HELPER_CLUSTER_CONF_SECRET_H
#define HELPER_CLUSTER_CONF_SECRET_H

#include "cluster/conf.h"

int cluster_conf_secret(struct cluster_conf *conf);

#endif /* HELPER_CLUSTER_CONF_SECRET_H */
