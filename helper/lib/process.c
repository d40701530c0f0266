// SPDX-License-Identifier: GPL-2.0-only
#include "lib/process.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The initial pid namespace: PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h. */
#define INITIAL_NAMESPACE	0xeffffffcU

/* BPF programs know pids of the initial namespace, which mean nothing in another one. */
static bool pids_are_initial(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == INITIAL_NAMESPACE;
}

/* Whether no process has a pid that a BPF program recorded; false if this cannot be found out. */
bool process_ended(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return pids_are_initial() && access(path, F_OK) && errno == ENOENT;
}
