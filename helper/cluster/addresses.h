/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses of nodes: those of a host name, and whether one belongs to this machine. */
#ifndef HELPER_CLUSTER_ADDRESSES_H
#define HELPER_CLUSTER_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>

/* Size of a numeric IPv4 or IPv6 address with NUL: INET6_ADDRSTRLEN. */
#define ADDRESS_TEXT	46
/* Size of a host name with NUL. */
#define ADDRESS_HOST	256

size_t address_resolve(const char *host, char (*address)[ADDRESS_TEXT], size_t room,
		       const char **why);
bool address_is_local(const char *address);
bool address_is_loopback(const char *address);

#endif /* HELPER_CLUSTER_ADDRESSES_H */
