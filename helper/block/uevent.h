/* SPDX-License-Identifier: GPL-2.0-only */
/* Uevents of block devices, from the kernel. */
#ifndef HELPER_BLOCK_UEVENT_H
#define HELPER_BLOCK_UEVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct uevent - what happened to a block device
 * @action: "add", "change" or "remove"
 * @number: device number
 */
struct uevent {
	char action[16];
	dev_t number;
};

int uevents_open(int *fd);
bool uevents_read(int fd, struct uevent *event, bool *lost);
bool uevent_parse(const char *message, size_t bytes, struct uevent *event);

#endif /* HELPER_BLOCK_UEVENT_H */
