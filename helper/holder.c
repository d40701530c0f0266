// SPDX-License-Identifier: GPL-2.0-only
#include "holder.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "identity.h"

/* Where this process sees the device mounted. */
static bool mount_point(dev_t number, char *where, size_t size)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char line[4096], place[512];
	unsigned int major_number, minor_number;
	bool found = false;

	while (mounts && !found && fgets(line, sizeof(line), mounts)) {
		if (sscanf(line, "%*d %*d %u:%u %*s %511s", &major_number,
			   &minor_number, place) != 3 ||
		    makedev(major_number, minor_number) != number)
			continue;
		snprintf(where, size, "mounted on %.500s", place);
		found = true;
	}
	if (mounts)
		fclose(mounts);
	return found;
}

/* Whether a process has the device among its open files. */
static bool has_open(const char *pid, dev_t number)
{
	char path[64];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		struct stat st;

		found = !fstatat(dirfd(dir), entry->d_name, &st, 0) &&
			S_ISBLK(st.st_mode) && st.st_rdev == number;
	}
	if (dir)
		closedir(dir);
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
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (proc && !found && (entry = readdir(proc))) {
		char path[64], name[32] = "";
		FILE *comm;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !has_open(entry->d_name, number))
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
 * holder_describe() - say who keeps a device open, as far as is cheap to know
 * @number: the device
 * @what: filled in: "mounted on /data", "used by dm-3"
 * @size: bytes of @what
 *
 * Return: whether somebody was found; others may hold it too.
 */
bool holder_describe(dev_t number, char *what, size_t size)
{
	char name[256];

	if (mount_point(number, what, size))
		return true;
	if (identity_holder(number, NULL, name, sizeof(name))) {
		snprintf(what, size, "used by %s", name);
		return true;
	}
	return false;
}
