/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel log said meanwhile. */
#ifndef HELPER_BLOCK_KMSG_H
#define HELPER_BLOCK_KMSG_H

#include <sys/types.h>

/**
 * struct kmsg - a place in the kernel log
 * @fd: /dev/kmsg, -1 when it cannot be read
 * @device: ": 253:0: ", as the kernel starts what it says of a device
 */
struct kmsg {
	int fd;
	char device[32];
};

struct kmsg kmsg_mark(dev_t number);
void kmsg_explain(struct kmsg *log, const char *word);
void kmsg_close(struct kmsg *log);

#endif /* HELPER_BLOCK_KMSG_H */
