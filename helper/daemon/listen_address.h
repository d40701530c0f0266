/* SPDX-License-Identifier: GPL-2.0-only */
/* Parse the address on which the daemon serves metrics. */
#ifndef HELPER_DAEMON_LISTEN_ADDRESS_H
#define HELPER_DAEMON_LISTEN_ADDRESS_H

#include <netinet/in.h>

const char *address_parse(const char *text, struct sockaddr_in *address);

#endif /* HELPER_DAEMON_LISTEN_ADDRESS_H */
