// SPDX-License-Identifier: GPL-2.0-only
/*
 * The HTTP server runs in its own thread and sends copies of the last texts, so that slow clients
 * do not delay the daemon.
 */
#include "daemon/metrics_endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

/* Seconds after which an idle connection is closed; maximum number of connections. */
#define PATIENCE	10U
#define CONNECTIONS	16U

enum format {
	PROMETHEUS,
	OPENMETRICS,
	FORMATS,
};

static const char *const types[FORMATS] = {
	[PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
	[OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/* @lock protects @text. */
struct endpoint {
	struct MHD_Daemon *server;
	pthread_mutex_t lock;
	struct endpoint_text text[FORMATS];
};

/* Returns the text in @format, or NULL if memory is short.  @status: 503 without a text yet. */
static struct MHD_Response *make_response(struct endpoint *endpoint, enum format format,
					  unsigned int *status)
{
	struct MHD_Response *response;
	const struct endpoint_text *text = &endpoint->text[format];

	pthread_mutex_lock(&endpoint->lock);
	*status = text->text ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
	response = MHD_create_response_from_buffer(text->bytes, text->text, MHD_RESPMEM_MUST_COPY);
	pthread_mutex_unlock(&endpoint->lock);
	if (response)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, types[format]);
	return response;
}

static enum MHD_Result serve_request(void *arg, struct MHD_Connection *connection,
				     const char *url, const char *method,
				     const char *version, const char *upload,
				     size_t *upload_bytes, void **context)
{
	static char no_such[] = "see /metrics\n";
	struct endpoint *endpoint = arg;
	unsigned int status;
	struct MHD_Response *response;
	enum MHD_Result result;
	const char *accept;

	(void)version;
	(void)upload;
	(void)upload_bytes;
	(void)context;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return MHD_NO;
	accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	if (!strcmp(url, "/metrics")) {
		response = make_response(endpoint, accept &&
					 strstr(accept, "application/openmetrics-text") ?
						    OPENMETRICS : PROMETHEUS, &status);
	} else {
		status = MHD_HTTP_NOT_FOUND;
		response = MHD_create_response_from_buffer(sizeof(no_such) - 1, no_such,
							   MHD_RESPMEM_PERSISTENT);
	}
	if (!response)
		return MHD_NO;
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static bool listen_on(struct endpoint *endpoint, const struct sockaddr_in *address)
{
	endpoint->server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL,
					    serve_request, endpoint,
					    MHD_OPTION_SOCK_ADDR, address,
					    MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE,
					    MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
					    MHD_OPTION_END);
	if (!endpoint->server)
		fail_errno(errno, "cannot listen on %s:%u", inet_ntoa(address->sin_addr),
			   ntohs(address->sin_port));
	return endpoint->server;
}

/* Returns a server that answers 503 until endpoint_show(), or NULL after recording an error. */
struct endpoint *endpoint_start(const struct sockaddr_in *address)
{
	struct endpoint *endpoint = calloc(1, sizeof(*endpoint));

	if (!endpoint) {
		fail_memory();
		return NULL;
	}
	pthread_mutex_init(&endpoint->lock, NULL);
	if (listen_on(endpoint, address))
		return endpoint;
	endpoint_stop(endpoint);
	return NULL;
}

/* Replace the texts that the server sends.  The server owns and frees both new texts. */
void endpoint_show(struct endpoint *endpoint, struct endpoint_text prometheus,
		   struct endpoint_text openmetrics)
{
	struct endpoint_text old[FORMATS];

	pthread_mutex_lock(&endpoint->lock);
	memcpy(old, endpoint->text, sizeof(old));
	endpoint->text[PROMETHEUS] = prometheus;
	endpoint->text[OPENMETRICS] = openmetrics;
	pthread_mutex_unlock(&endpoint->lock);
	free(old[PROMETHEUS].text);
	free(old[OPENMETRICS].text);
}

/* Stop the server and free it and its texts.  @endpoint may be NULL. */
void endpoint_stop(struct endpoint *endpoint)
{
	if (!endpoint)
		return;
	if (endpoint->server)
		MHD_stop_daemon(endpoint->server);
	free(endpoint->text[PROMETHEUS].text);
	free(endpoint->text[OPENMETRICS].text);
	pthread_mutex_destroy(&endpoint->lock);
	free(endpoint);
}
