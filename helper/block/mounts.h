/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a block device is mounted or used as swap. The only user of libmount. */
#ifndef HELPER_BLOCK_MOUNTS_H
#define HELPER_BLOCK_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

bool mounts_find(dev_t number, bool writable, char *where, size_t size);
void mounts_each(void (*visit)(dev_t device, const char *where, const char *root, void *arg),
		 void *arg);
bool mounts_swap(dev_t number);

#endif /* HELPER_BLOCK_MOUNTS_H */
