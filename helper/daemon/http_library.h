/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libmicrohttpd, when it is asked for: it brings a library for TLS and nine others, whose
 * initialisation took longer than most commands.
 */
#ifndef HELPER_DAEMON_HTTP_LIBRARY_H
#define HELPER_DAEMON_HTTP_LIBRARY_H

#include <microhttpd.h>

/**
 * struct http_library - what is used of it; names are those of its functions, without MHD_
 */
struct http_library {
	__typeof__(&MHD_start_daemon) start_daemon;
	__typeof__(&MHD_stop_daemon) stop_daemon;
	__typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
	__typeof__(&MHD_add_response_header) add_response_header;
	__typeof__(&MHD_destroy_response) destroy_response;
	__typeof__(&MHD_lookup_connection_value) lookup_connection_value;
	__typeof__(&MHD_queue_response) queue_response;
};

const struct http_library *http_library(void);

#endif /* HELPER_DAEMON_HTTP_LIBRARY_H */
