/* SPDX-License-Identifier: GPL-2.0-only */
/* What FIEMAP does not tell of files on EROFS.  Format: fs/erofs/erofs_fs.h. */
#ifndef HELPER_FILES_EROFS_MAP_H
#define HELPER_FILES_EROFS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of the superblock, and as statfs() tells it. */
#define EROFS_MAGIC		0xE0F5E1E2U
/* Where the superblock is, and how much of it is looked at, bytes. */
#define EROFS_SUPER		1024U
#define EROFS_SUPER_BYTES	128U
/* The same of an inode. */
#define EROFS_INODE_BYTES	64U

/**
 * struct erofs_super - what is used of a superblock
 * @block: bytes of a block
 * @meta: where inodes are counted from, bytes
 * @incompat: features that a reader must know
 * @extra_devices: devices beside the one that is mounted
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

#endif /* HELPER_FILES_EROFS_MAP_H */
