/* SPDX-License-Identifier: GPL-2.0-only */
/* Collect the kernel log of a tested operation. */
#ifndef NEARCACHE_TEST_KERNEL_LOG_H
#define NEARCACHE_TEST_KERNEL_LOG_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "device.h"

static int kernel_log_fd = -1;

/* Start collecting here. */
static inline void kernel_log_begin(void)
{
	if (kernel_log_fd < 0)
		kernel_log_fd = device_open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	lseek(kernel_log_fd, 0, SEEK_END);
}

/* The target's records since kernel_log_begin(), one per line; text beyond @room is dropped. */
static inline void kernel_log_end(char *said, size_t room)
{
	char record[8192], *text;
	size_t used = 0;
	ssize_t n;

	for (said[0] = 0;;) {
		n = read(kernel_log_fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return;
		record[n] = 0;
		text = strchr(record, ';');
		if (text && strstr(text, "nearcache: ") && used + strlen(text) < room)
			used += snprintf(said + used, room - used, "%s", text + 1);
	}
}

#endif /* NEARCACHE_TEST_KERNEL_LOG_H */
