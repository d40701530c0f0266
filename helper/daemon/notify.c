// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/notify.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

/* Of all its versions since systemd 209 (2014). */
#define NAME	"libsystemd.so.0"

/**
 * notify() - tell the service manager, if it started us and wants to know
 * @state: as of sd_notify(3)
 *
 * systemd is where the library is: who cannot load it was started by something else.
 * Context: one thread.
 */
void notify(const char *state)
{
	static __typeof__(&sd_notify) tell;
	void *library;

	if (!getenv("NOTIFY_SOCKET"))
		return;
	if (!tell) {
		library = dlopen(NAME, RTLD_NOW);
		/* POSIX has it that a function's pointer fits there. */
		*(void **)&tell = library ? dlsym(library, "sd_notify") : NULL;
	}
	if (tell)
		tell(0, state);
}
