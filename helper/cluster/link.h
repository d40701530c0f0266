/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The connection of this node to one peer of its cluster: an NVMe-oF controller of the kernel, made
 * with libnvme.
 * Functions return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CLUSTER_LINK_H
#define HELPER_CLUSTER_LINK_H

#include <stdbool.h>

#include "cluster/conf.h"

/**
 * struct link - parameters of a connection
 * @nqn: subsystem of the peer
 * @host_nqn: NQN of this node, which the peer allows
 * @host_id: UUID of this node, text form
 * @transport: transport
 * @address: numeric IPv4 or IPv6 address of the peer
 * @port: TCP or RDMA port
 * @keep_alive: seconds without an answer after which the connection has failed
 * @fast_io_fail: seconds after which reads fail while there is no connection
 * @data_digest: protect data by a checksum (TCP)
 * @tls: connect over TLS 1.3 (TCP)
 * @secret: key of DH-HMAC-CHAP. Both sides prove that they know it. NULL: none
 */
struct link {
	const char *nqn;
	const char *host_nqn;
	const char *host_id;
	enum cluster_transport transport;
	const char *address;
	unsigned int port;
	unsigned int keep_alive;
	unsigned int fast_io_fail;
	bool data_digest;
	bool tls;
	const char *secret;
};

/**
 * struct link_state - a connection as the kernel has it
 * @connected: there is a controller, which may be trying to connect again
 * @live: the controller works at the moment
 * @device: block device of the namespace, /dev/nvmeXnY; "" if there is none (yet). With native
 *	multipath it stays the same while the controller connects again
 * @uuid: UUID of the namespace, text form; "" without @device
 * @controller: name of the controller, like "nvme3"
 * @model: model number of the subsystem
 * @address: address and port of the peer, like "10.0.0.5:4420" or "[fd00::5]:4420"
 */
struct link_state {
	bool connected;
	bool live;
	char device[64];
	char uuid[37];
	char controller[16];
	char model[CLUSTER_MODEL];
	char address[64];
};

/*
 * Returns the keep-alive time for the kernel, in seconds, with which a silent connection is lost
 * after at most @keep_alive seconds (3 seconds if @keep_alive is less). The kernel sends a sign of
 * life each half of its keep-alive time, waits this time for the answer, and its timers are up to a
 * second late.
 */
unsigned int link_kernel_keep_alive(unsigned int keep_alive);

/* Print the wanted address as struct link_state has it to @text, of the size of its address. */
const char *link_address(const struct link *link, char *text);

/*
 * Look for the connection from @link->host_nqn (NULL: any host) to @link->nqn, at any address.
 * Sends nothing to the peer, so that it returns at once even if the peer hangs. No connection is
 * not an error.
 */
int link_find(const struct link *link, struct link_state *state);

/*
 * True if the kernel shows that the connection @state has other timers than @link wants. A timer
 * that the kernel does not show counts as equal.
 */
bool link_timers_differ(const struct link *link, const struct link_state *state);

/*
 * Connect to the peer, or use the connection that exists, and wait for the namespace. An existing
 * connection that is lost at the moment but has its device is a success (@state->live is false). A
 * connection to another address, or a lost one without a device, is ended before the new one is made.
 * @state is valid only after success. A new connection that shows no namespace in time is closed
 * again.
 *
 * The waits are bounded: 3 s for an address that does not answer (TCP), 10 s for the namespace, and
 * the timers of the kernel (10 s and 60 s) for a peer that accepts the TCP connection and then hangs.
 *
 * The kernel repairs a lost connection for ever (ctrl_loss_tmo -1), with one exception: a newer
 * kernel (6.12, not 6.1) removes the controller when the peer answers and refuses, because the
 * subsystem does not exist (yet), the host is not allowed, or its secret is wrong. So a caller that
 * wants a lasting connection calls link_find() from time to time, and link_connect() again.
 *
 * The caller compares @state->uuid with the UUID of its volume.
 */
int link_connect(const struct link *link, struct link_state *state);

/*
 * End all connections to the subsystem @nqn. Not an error if there is none. Reads in flight fail.
 */
int link_disconnect(const char *nqn);

#endif /* HELPER_CLUSTER_LINK_H */
