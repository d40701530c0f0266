// SPDX-License-Identifier: GPL-2.0-only
#include "block/kernel_module.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Load a kernel module with modprobe. Nothing happens if the kernel has it already. Does not tell
 * whether it failed: the caller checks whether the kernel has what the module provides.
 */
void kernel_module_load(const char *name)
{
	pid_t child = fork();

	if (!child) {
		/* Drop modprobe's messages: the caller has its own. */
		if (freopen("/dev/null", "w", stderr))
			execlp("modprobe", "modprobe", "-q", name, NULL);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}
