/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Join a cluster: export the cache of the local node, connect the peers, and create the cluster
 * device, or apply changes of the configuration to it.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_JOIN_H
#define HELPER_CLUSTER_JOIN_H

#include <stdbool.h>

/*
 * Variable of the environment with which the daemon sets @again of struct join_request. Its value is
 * "1", then a blank and a name for each node that refused this one a moment ago.
 */
#define CLUSTER_AGAIN	"NEARCACHE_CLUSTER_AGAIN"

/**
 * enum join_warm - whether join begins to warm the cache of this node from its peers
 * @JOIN_WARM_HELD: only if join creates the device; bring data that peers have by their maps
 * @JOIN_WARM_ALL: yes; also bring data that peers may lack, for which they ask the origin
 * @JOIN_WARM_NOT: no
 */
enum join_warm {
	JOIN_WARM_HELD,
	JOIN_WARM_ALL,
	JOIN_WARM_NOT,
};

/**
 * struct join_request - what 'cluster join' is asked for
 * @name: the cluster device
 * @config: path of the configuration; NULL: that of an earlier join, otherwise the default
 * @self: name of the local node; NULL: that of an earlier join, otherwise find it
 * @again: value of CLUSTER_AGAIN: do nothing if the device has left, or is gone, and do not connect
 *	the nodes that the value names; NULL: a person joins
 * @warm: whether to bring the part of this node from its peers, in the background
 * @dry_run: print the actions, change nothing
 */
struct join_request {
	const char *name;
	const char *config;
	const char *self;
	const char *again;
	enum join_warm warm;
	bool dry_run;
};

int cluster_join(const struct join_request *request);

#endif /* HELPER_CLUSTER_JOIN_H */
