/* SPDX-License-Identifier: GPL-2.0-only */
/* End the connections to nodes of a cluster, all at the same time. */
#ifndef HELPER_CLUSTER_DISCONNECT_H
#define HELPER_CLUSTER_DISCONNECT_H

#include <stddef.h>

/*
 * End the connections to @count nodes of @cluster. Not an error if there are none. Takes at most
 * 15 seconds: a connection whose peer does not answer may need longer, which the kernel completes
 * alone. Returns 0, or an exit code after recording an error with fail(), which names the node.
 */
int cluster_disconnect(const char *cluster, const char *const *node, size_t count);

#endif /* HELPER_CLUSTER_DISCONNECT_H */
