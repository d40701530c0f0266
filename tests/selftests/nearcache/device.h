/* SPDX-License-Identifier: GPL-2.0-only */
/* Open, read, write a device, and allocate aligned buffers; any error ends the program. */
#ifndef NEARCACHE_TEST_DEVICE_H
#define NEARCACHE_TEST_DEVICE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline int device_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static inline void *aligned_room(size_t bytes)
{
	void *buffer;

	if (posix_memalign(&buffer, 4096, bytes))
		exit(1);
	return buffer;
}

static inline void read_exactly(int fd, void *buffer, size_t bytes, off_t at)
{
	if (pread(fd, buffer, bytes, at) != bytes) {
		perror("read");
		exit(1);
	}
}

static inline void write_exactly(int fd, const void *buffer, size_t bytes,
				 off_t at)
{
	if (pwrite(fd, buffer, bytes, at) != bytes) {
		perror("write");
		exit(1);
	}
}

#endif /* NEARCACHE_TEST_DEVICE_H */
