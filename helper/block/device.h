/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open, claim, read and write a block device. All I/O is direct (O_DIRECT): the kernel module
 * writes below the page cache, whose pages may therefore be older than the device.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_DEVICE_H
#define HELPER_BLOCK_DEVICE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Size of a device id with NUL; origin_id in the superblock has the same size. */
#define DEVICE_ID	128
/* Alignment in memory of buffers for device_read() and device_write(), bytes. */
#define DEVICE_ALIGN	4096

/**
 * struct device - an open block device (or file)
 * @path: canonical path
 * @role: name in messages: "origin", "cache device"
 * @number: device number, 0 for a file
 * @fd: open file, -1 when closed
 * @size: bytes
 * @lbs: logical block size, bytes
 * @read_only: the device refuses writes
 * @is_file: a regular file
 * @id: device id, see device_sysfs.h; "" if it has none
 */
struct device {
	char path[PATH_MAX];
	const char *role;
	dev_t number;
	int fd;
	uint64_t size;
	uint32_t lbs;
	bool read_only;
	bool is_file;
	char id[DEVICE_ID];
};

#define DEVICE_CLOSED	{ .fd = -1 }

int device_open(struct device *dev, const char *path, const char *role);
int device_open_number(struct device *dev, dev_t number, const char *role);
int device_open_any(struct device *dev, const char *path, const char *role);
int device_need_running(dev_t number, const char *what);
int device_check_zoned(const struct device *dev);
int device_claim(struct device *dev);
int device_share(struct device *dev);
int device_reread_partitions(const struct device *dev);
int device_test_claim(const struct device *dev, bool *busy);
void device_close(struct device *dev);

void *device_buffer(size_t bytes);
int device_read(const struct device *dev, void *buffer, size_t bytes,
		uint64_t offset);
int device_write(const struct device *dev, const void *buffer, size_t bytes,
		 uint64_t offset);
int device_zero(const struct device *dev, uint64_t offset, uint64_t bytes);
int device_sync(const struct device *dev);

const char *device_dm_name(dev_t number, char *name);
const char *device_path_of(dev_t number, char *path);

#endif /* HELPER_BLOCK_DEVICE_H */
