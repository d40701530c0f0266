/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics over HTTP, on this machine alone: "/metrics". */
#ifndef HELPER_DAEMON_ENDPOINT_H
#define HELPER_DAEMON_ENDPOINT_H

#include <netinet/in.h>
#include <stddef.h>

/**
 * struct endpoint_text - metrics in one format
 * @text: of malloc()
 * @bytes: its length
 */
struct endpoint_text {
	char *text;
	size_t bytes;
};

struct endpoint;

struct endpoint *endpoint_start(const struct sockaddr_in *address);
void endpoint_show(struct endpoint *endpoint, struct endpoint_text prometheus,
		   struct endpoint_text openmetrics);
void endpoint_stop(struct endpoint *endpoint);

#endif /* HELPER_DAEMON_ENDPOINT_H */
