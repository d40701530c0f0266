// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/listen_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parse "ADDRESS:PORT", with an IPv4 loopback address.  Returns NULL, or an error message. */
const char *address_parse(const char *text, struct sockaddr_in *address)
{
	const char *colon = strrchr(text, ':');
	char host[INET_ADDRSTRLEN];
	char *end;
	unsigned long port;

	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return "give ADDRESS:PORT, like 127.0.0.1:9435";
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	errno = 0;
	port = strtoul(colon + 1, &end, 10);
	if (inet_pton(AF_INET, host, &address->sin_addr) != 1 || *end || errno ||
	    !strchr("123456789", colon[1]) || !colon[1] || port > UINT16_MAX)
		return "give ADDRESS:PORT, like 127.0.0.1:9435";
	if (ntohl(address->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
		return "give a loopback address, like 127.0.0.1: use a proxy to give access to other machines";
	address->sin_port = htons((uint16_t)port);
	return NULL;
}
