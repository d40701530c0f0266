/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Export a device to the other nodes of a cluster with nvmet, the NVMe-oF target of the kernel,
 * which is configured in configfs.
 * Functions return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_EXPORT_H
#define HELPER_CLUSTER_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "cluster/conf.h"

/**
 * struct export - an exported device: an nvmet subsystem with a namespace (id 1), and a port
 * @nqn: name of the subsystem. The caller derives it from the cluster and the node, so that a
 *	subsystem with this name is always the caller's
 * @model: model number, which the hosts see. nvmet refuses to change it after one has connected
 * @device: path of a block device, like /dev/mapper/NAME-home. A read-only device must be one of
 *	the target nearcache
 * @uuid: UUID of the namespace, text form
 * @map: path of the map of @device, which is exported as the namespace with id 2; NULL: that namespace
 *	is left alone
 * @map_uuid: UUID of that namespace, text form
 * @transport: transport of the port
 * @address: numeric IPv4 or IPv6 address of this node
 * @port: TCP or RDMA port. An nvmet port that exists with this address is shared
 * @tls: accept connections only over TLS 1.3 (TCP)
 * @secret: key of DH-HMAC-CHAP ("DHHC-1:..."). Both sides prove that they know it. NULL: none
 * @hosts: NQNs of the hosts that may connect; no other host may
 * @hosts_count: number of @hosts
 */
struct export {
	const char *nqn;
	const char *model;
	const char *device;
	const char *uuid;
	const char *map;
	const char *map_uuid;
	enum cluster_transport transport;
	const char *address;
	unsigned int port;
	bool tls;
	const char *secret;
	const char *const *hosts;
	size_t hosts_count;
};

/*
 * Create an export, or change an existing one to what @export says. Loads the kernel modules and
 * mounts configfs if necessary. Completes an export that a killed run left half done.
 *
 * If the map cannot be exported, this only warns, and exports the cache without it.
 *
 * At no moment can a host connect that @export does not allow: a new subsystem gets its hosts and
 * their keys before it becomes reachable. After an error everything is as before. Needs no change:
 * nothing happens, and no connection is disturbed.
 *
 * Which connections a change disturbs:
 * - a host is added: none.
 * - another secret: none. A host proves the new secret when it connects the next time.
 * - a host is removed, or a secret is required from now on, or no longer: nvmet keeps the controllers
 *   of a host that is no longer allowed, and only refuses new ones; it has no interface to end those
 *   of one host (6.1 and 6.12: drop_link() of allowed_hosts only edits the list). So the subsystem
 *   leaves its port, which ends the connections of all its hosts, before the list changes, and comes
 *   back: a run that is killed leaves no host connected that is not allowed. The kernels of the
 *   other hosts connect again after their reconnect_delay (one second), and their cluster devices
 *   read at the next homes until then.
 * - another UUID, address, port or TLS setting: all connections end.
 *
 * Fails with CODE_BUSY, and changes nothing, if the subsystem exports another device.
 */
int export_apply(const struct export *export);

/*
 * Remove an export: first the namespace, so that no read of a host has to wait for its timers, half a
 * second later the subsystem, which ends the connections of its hosts, its port if no other subsystem
 * uses it, and the hosts that no other subsystem allows. Not an error if there is none, or only a part.
 */
int export_remove(const char *nqn);

#endif /* HELPER_CLUSTER_EXPORT_H */
