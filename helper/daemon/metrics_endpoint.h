/* SPDX-License-Identifier: GPL-2.0-only */
/* Serve metrics over HTTP on a loopback address, at "/metrics". */
#ifndef HELPER_DAEMON_METRICS_ENDPOINT_H
#define HELPER_DAEMON_METRICS_ENDPOINT_H

#include <netinet/in.h>
#include <stddef.h>

/* Metrics in one format.  @text is allocated with malloc(), @bytes long. */
struct endpoint_text {
	char *text;
	size_t bytes;
};

struct endpoint;

struct endpoint *endpoint_start(const struct sockaddr_in *address);
void endpoint_show(struct endpoint *endpoint, struct endpoint_text prometheus,
		   struct endpoint_text openmetrics);
void endpoint_stop(struct endpoint *endpoint);

#endif /* HELPER_DAEMON_METRICS_ENDPOINT_H */
