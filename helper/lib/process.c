// SPDX-License-Identifier: GPL-2.0-only
#include "lib/process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
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

/* Returns the parent of a process; 0 if it has ended, or if this cannot be found out. */
uint32_t process_parent(uint32_t pid)
{
	char path[32], line[512];
	const char *end = NULL;
	unsigned int parent;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = pids_are_initial() ? fopen(path, "re") : NULL;
	if (!file)
		return 0;
	/* PID (COMMAND) STATE PARENT ..., where the command may have any character. */
	if (fgets(line, sizeof(line), file))
		end = strrchr(line, ')');
	fclose(file);
	return end && sscanf(end + 1, " %*c %u", &parent) == 1 ? parent : 0;
}

/* Writes the name of the program that a process runs to @text; returns NULL if it has ended. */
const char *process_command(uint32_t pid, char *text, size_t size)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	file = pids_are_initial() ? fopen(path, "re") : NULL;
	if (!file)
		return NULL;
	if (!fgets(text, (int)size, file))
		*text = '\0';
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return *text ? text : NULL;
}
