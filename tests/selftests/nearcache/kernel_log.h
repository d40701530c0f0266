/* SPDX-License-Identifier: GPL-2.0-only */
/* Collect the kernel messages of nearcache during a tested operation. */
#ifndef NEARCACHE_TEST_KERNEL_LOG_H
#define NEARCACHE_TEST_KERNEL_LOG_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "device.h"

static int kernel_log_fd = -1;

/* Forget all messages up to now. */
static inline void kernel_log_begin(void)
{
	if (kernel_log_fd < 0)
		kernel_log_fd = device_open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	lseek(kernel_log_fd, 0, SEEK_END);
}

/* Copy nearcache's messages since kernel_log_begin() to @said, one per line, as far as they fit. */
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
