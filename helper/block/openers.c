// SPDX-License-Identifier: GPL-2.0-only
#include "block/openers.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "block/device_id.h"
#include "block/mounts.h"

/* Whether a process has opened a file for writing, by its fdinfo. */
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

/* Whether a process has the device among its open files. */
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

		/* Without asking a file system that may hang. */
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

/**
 * holder_process() - find a process that has a device open
 * @number: the device
 * @what: filled in: "process 123 (fio)"
 * @size: bytes of @what
 *
 * Return: whether one was found.
 */
bool holder_process(dev_t number, char *what, size_t size)
{
	return find_process(number, false, what, size);
}

/**
 * holder_describe() - say who keeps a device open, as far as is cheap to know
 * @number: the device
 * @what: filled in: "mounted on /data", "used by dm-3"
 * @size: bytes of @what
 *
 * Return: whether somebody was found; others may hold it too.
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

/**
 * holder_count() - how often a device is open by those who can be seen
 * @number: the device
 *
 * Processes count as one, and so do devices on top: files may be shared.
 *
 * Return: how often at least.
 */
int holder_count(dev_t number)
{
	char name[512];

	return mounts_find(number, false, name, sizeof(name)) +
	       mounts_swap(number) +
	       identity_holder(number, name, sizeof(name)) +
	       find_process(number, false, name, sizeof(name));
}

/**
 * holder_writer() - find somebody who can write to a device now
 * @number: the device
 * @what: filled in with who and what to do about it: "is mounted read-write on
 *	'/data': remount it read-only"
 * @size: bytes of @what
 *
 * Return: whether somebody was found; openers inside the kernel are not seen.
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
			 "is below the device '%s', which can be written: close that",
			 name);
	else if (find_process(number, true, name, sizeof(name)))
		snprintf(what, size, "is open for writing by %s: stop it",
			 name);
	else
		return false;
	return true;
}
