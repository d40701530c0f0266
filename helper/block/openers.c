// SPDX-License-Identifier: GPL-2.0-only
/* Find the users that keep a block device open: mounts, swap, stacked devices and processes. */
#include "block/openers.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "block/device_sysfs.h"
#include "block/mounts.h"

/* True if descriptor @fd of process @pid is open for writing, according to its fdinfo. */
static bool opened_for_writing(const char *pid, const char *fd)
{
	char path[96], line[64];
	bool writing = false;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/%.20s/fdinfo/%.20s", pid, fd);
	info = fopen(path, "re");
	while (info && fgets(line, sizeof(line), info))
		if (!strncmp(line, "flags:", 6))
			writing = (strtoul(line + 6, NULL, 8) & O_ACCMODE) !=
				  O_RDONLY;
	if (info)
		fclose(info);
	return writing;
}

static bool has_open(const char *pid, dev_t number, bool writing)
{
	char path[64];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		struct statx st;

		/* AT_STATX_DONT_SYNC: do not ask a file system that may hang. */
		found = !statx(dirfd(dir), entry->d_name, AT_STATX_DONT_SYNC,
			       STATX_TYPE, &st) &&
			S_ISBLK(st.stx_mode) &&
			makedev(st.stx_rdev_major, st.stx_rdev_minor) ==
				number &&
			(!writing || opened_for_writing(pid, entry->d_name));
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool find_process(dev_t number, bool writing, char *what, size_t size)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (proc && !found && (entry = readdir(proc))) {
		char path[64], name[32] = "";
		FILE *comm;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !has_open(entry->d_name, number, writing))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
		comm = fopen(path, "re");
		if (comm && fgets(name, sizeof(name), comm))
			name[strcspn(name, "\n")] = '\0';
		if (comm)
			fclose(comm);
		snprintf(what, size, "process %.20s (%s)", entry->d_name, name);
		found = true;
	}
	if (proc)
		closedir(proc);
	return found;
}

/* Find a process that has a device open: "process 123 (fio)". Returns false if none is seen. */
bool holder_process(dev_t number, char *what, size_t size)
{
	return find_process(number, false, what, size);
}

/* As holder_process(), for a process that has it open for writing. */
bool holder_writing_process(dev_t number, char *what, size_t size)
{
	return find_process(number, true, what, size);
}

/*
 * Find a user of a device without a search of all open files. @what: "mounted on /data", "in use as
 * swap", "used by dm-3". If it returns false, a process may still have the device open.
 */
bool holder_describe(dev_t number, char *what, size_t size)
{
	char name[512];

	if (mounts_find(number, false, name, sizeof(name))) {
		snprintf(what, size, "mounted on %s", name);
		return true;
	}
	if (mounts_swap(number)) {
		snprintf(what, size, "in use as swap");
		return true;
	}
	if (identity_holder(number, name, sizeof(name))) {
		snprintf(what, size, "used by %s", name);
		return true;
	}
	return false;
}

/*
 * Return a lower bound of the open count: 1 each for mounts, swap, devices on top and processes.
 * Several processes count as one because they may share an open file.
 */
int holder_count(dev_t number)
{
	char name[512];

	return mounts_find(number, false, name, sizeof(name)) +
	       mounts_swap(number) +
	       identity_holder(number, name, sizeof(name)) +
	       find_process(number, false, name, sizeof(name));
}

/*
 * Find a user that can write to a device. @what: the user and advice, like "is mounted read-write
 * on '/data': remount it read-only". Returns false if it finds no such user. It does not find users
 * inside the kernel.
 */
bool holder_writer(dev_t number, char *what, size_t size)
{
	char name[512];

	if (mounts_find(number, true, name, sizeof(name)))
		snprintf(what, size,
			 "is mounted read-write on '%s': remount it read-only or unmount it",
			 name);
	else if (mounts_swap(number))
		snprintf(what, size, "is in use as swap: swapoff it");
	else if (identity_writable_holder(number, name, sizeof(name)))
		snprintf(what, size,
			 "is below the device '%s', which accepts writes: close that",
			 name);
	else if (find_process(number, true, name, sizeof(name)))
		snprintf(what, size, "is open for writing by %s: stop it",
			 name);
	else
		return false;
	return true;
}
