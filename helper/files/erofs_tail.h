/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Supplements FIEMAP for files on EROFS. On-disk format: fs/erofs/erofs_fs.h. erofs_check()
 * and erofs_tail() return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_EROFS_TAIL_H
#define HELPER_FILES_EROFS_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Magic number in the superblock and in statfs.f_type. */
#define EROFS_MAGIC		0xE0F5E1E2U
/* Offset of the superblock on the device, and the length that is read of it, bytes. */
#define EROFS_SUPER		1024U
#define EROFS_SUPER_BYTES	128U
/* Length that is read of an inode, bytes. */
#define EROFS_INODE_BYTES	64U

/**
 * struct erofs_super - decoded fields of the superblock
 * @block: block size, bytes
 * @meta: offset of inode 0, bytes
 * @incompat: features that a reader must know
 * @extra_devices: devices in addition to the mounted one
 */
struct erofs_super {
	uint64_t block;
	uint64_t meta;
	uint32_t incompat;
	unsigned int extra_devices;
};

bool erofs_super_parse(const unsigned char *bytes, struct erofs_super *super);
uint64_t erofs_inode_place(const struct erofs_super *super, uint64_t nid);
bool erofs_tail_parse(const unsigned char *inode, uint64_t place,
		      const struct erofs_super *super, uint64_t *start);

int erofs_check(dev_t device, const char *path);
int erofs_tail(dev_t device, int fd, const char *path, uint64_t *start);

#endif /* HELPER_FILES_EROFS_TAIL_H */
