// SPDX-License-Identifier: GPL-2.0-only
#include "lib/cgroup_path.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Type of a handle with the number of a file, FILEID_KERNFS of the kernel's linux/exportfs.h. */
#define HANDLE_KERNFS	0xfe

/* The handle of a control group is its id, the number that bpf_get_current_cgroup_id() returns. */
static int open_group(const char *root, uint64_t id)
{
	union {
		struct file_handle head;
		unsigned char room[sizeof(struct file_handle) + sizeof(id)];
	} handle = { .head = { .handle_bytes = sizeof(id), .handle_type = HANDLE_KERNFS } };
	int mount = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (mount < 0)
		return -1;
	memcpy(handle.head.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount, &handle.head, O_PATH | O_CLOEXEC);
	close(mount);
	return fd;
}

/*
 * Finds the path of the control group @id below the folder where version 2 is mounted: "/user.slice".
 * Returns @path with the path, or with the number if the group is gone or may not be looked up.
 */
const char *cgroup_path(uint64_t id, char path[PATH_MAX])
{
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		int fd = open_group(roots[i], id);
		size_t skip = strlen(roots[i]);
		char link[40];
		ssize_t n;

		if (fd < 0)
			continue;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, PATH_MAX - 1);
		close(fd);
		path[n > 0 ? n : 0] = '\0';
		if (n < (ssize_t)skip || strncmp(path, roots[i], skip))
			continue;
		memmove(path, path + skip, strlen(path + skip) + 1);
		if (!*path)
			strcpy(path, "/");
		return path;
	}
	snprintf(path, PATH_MAX, "%llu", (unsigned long long)id);
	return path;
}
