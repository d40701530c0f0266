// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/http_library.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "lib/error.h"

/* Of all its versions since 0.9.34 (2014). */
#define NAME	"libmicrohttpd.so.12"

static bool find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	/* POSIX has it that a function's pointer fits there. */
	*(void **)function = found;
	return found;
}

/**
 * http_library() - load it
 *
 * It stays until this process ends.  Context: one thread.
 *
 * Return: the library, or NULL after recording the error.
 */
const struct http_library *http_library(void)
{
	static struct http_library library;
	void *handle;

	if (library.start_daemon)
		return &library;
	handle = dlopen(NAME, RTLD_NOW);
	if (!handle) {
		fail(CODE_DEVICE, "metrics over HTTP need the library " NAME ": %s", dlerror());
		return NULL;
	}
	if (find(handle, "MHD_stop_daemon", &library.stop_daemon) &&
	    find(handle, "MHD_create_response_from_buffer",
		 &library.create_response_from_buffer) &&
	    find(handle, "MHD_add_response_header", &library.add_response_header) &&
	    find(handle, "MHD_destroy_response", &library.destroy_response) &&
	    find(handle, "MHD_lookup_connection_value", &library.lookup_connection_value) &&
	    find(handle, "MHD_queue_response", &library.queue_response) &&
	    find(handle, "MHD_start_daemon", &library.start_daemon))
		return &library;
	fail(CODE_DEVICE, "the library " NAME " lacks a function: %s", dlerror());
	dlclose(handle);
	return NULL;
}
